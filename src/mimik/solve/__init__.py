"""Goals and a rig in, poses out. One folder a method; all answer with the same Solution."""

from mimik.solve.solution import Solution

__all__ = ["Solution"]
