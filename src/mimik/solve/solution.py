"""What every solver answers with."""

from dataclasses import dataclass, field

import numpy as np

from mimik._types import Array, BoolArray, IntArray
from mimik.rig.pose import LocalPose


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Poses and how they were found. T frames, J joints, G goals.

    poses           LocalPose with rotations (T, J, 4) and root (T, 3)
    goal_names      (G,) what each column of `residuals` belongs to
    residuals       (T, G) what is left of each goal, metres or radians; NaN where the goal was not set in a frame
    iterations      (T,) steps the solver took; zero for methods that do not iterate
    limits_touched  (T, J) joints that stand on a limit
    seconds         time spent solving
    status          (T,) "reached", "limited", "unreachable", "stalled" or "predicted"
    details         figures of a particular method, by name
    """

    poses: LocalPose
    goal_names: tuple[str, ...] = ()
    residuals: Array = field(default_factory=lambda: np.zeros((0, 0)))
    iterations: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    limits_touched: BoolArray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    seconds: float = 0.0
    status: tuple[str, ...] = ()
    details: dict[str, float] = field(default_factory=dict)

    @property
    def rotations(self) -> Array:
        """Local rotations (T, J, 4)."""
        return self.poses.rotations

    @property
    def root(self) -> Array:
        """Root positions (T, 3), metres."""
        return self.poses.root

    def positions(self) -> Array:
        """World joint positions (T, J, 3), metres."""
        return self.poses.positions()
