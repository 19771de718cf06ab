"""What every method of the experiment looks like: reset to a pose, follow targets, say where it stands."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.projected.data import EFFECTORS, Figure, effector_joints

from mimik._types import Array
from mimik.goals.targets import Position
from mimik.rig.limits import JointRange, Limits
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rotation import euler_to_quat
from mimik.solve.projected.solver import Options, Solver


@dataclass
class Stand:
    """Where a figure stands: root place (3,), root rotation x y z w (4,), hinge angles (66,)."""

    root: Array
    turn: Array
    hinges: Array

    def pose(self, rig: Rig, figure: Figure) -> LocalPose:
        """Local rotations of the rig."""
        angles = self.hinges.reshape(-1, 3)
        rest = [euler_to_quat(angles[j], order) for j, order in enumerate(figure.orders)]
        return LocalPose(rig.skeleton, np.stack([self.turn, *rest]), self.root)


class Method:
    """One way to solve; `solve` is what is timed."""

    name = ""
    clock = staticmethod(time.thread_time_ns)

    def __init__(self, rig: Rig, figure: Figure) -> None:
        self.rig, self.figure = rig, figure
        self.joints = effector_joints(rig)

    def reset(self, stand: Stand) -> None:
        """Put the figure into a pose."""
        raise NotImplementedError

    def solve(self, targets: Array) -> None:
        """Follow targets (6, 3), warm from the last pose."""
        raise NotImplementedError

    def stand(self) -> Stand:
        """Say where the figure stands."""
        raise NotImplementedError


class Ours(Method):
    """mimik through its public class."""

    def __init__(self, rig: Rig, figure: Figure, name: str = "mimik", **options: object) -> None:
        super().__init__(rig, figure)
        self.name = name
        ranges = {
            n: JointRange.euler(figure.orders[j], figure.low[j], figure.high[j]) for j, n in enumerate(rig.names[1:])
        }
        at = rig.tpose().positions()
        goals = [Position(n, at[j]) for n, j in zip(EFFECTORS, self.joints, strict=True)]
        self.solver = Solver(rig, goals, limits=Limits(ranges), **options)  # type: ignore[arg-type]

    def reset(self, stand: Stand) -> None:
        self.solver.reset(stand.pose(self.rig, self.figure))
        self.solver.state.values[3 + 3 :] = np.clip(stand.hinges, self.figure.low.ravel(), self.figure.high.ravel())

    def solve(self, targets: Array) -> None:
        self.solver.advance(targets)

    def stand(self) -> Stand:
        state = self.solver.state
        return Stand(state.values[:3].copy(), state.base[0].copy(), state.values[6:].copy())


def ours() -> dict[str, Callable[[Rig, Figure], Method]]:
    """Our variants by name."""
    return {
        "mimik": lambda r, f: Ours(r, f, "mimik"),
        "mimik, no natural pose": lambda r, f: Ours(r, f, "mimik, no natural pose", options=Options(pull=0.0)),
        "mimik, published": lambda r, f: Ours(
            r, f, "mimik, published", method="published", options=Options(iterations=100)
        ),
    }
