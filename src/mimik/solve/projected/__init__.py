"""Goals and joint limits: the projected solvers."""
