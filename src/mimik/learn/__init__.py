"""Training: data, networks, losses, loops, export. The only folder that imports PyTorch."""
