"""Solving a pose from positions: geometry where positions determine it, a network for the rest."""
