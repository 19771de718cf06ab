"""Pose a figure by what you wish of it: hands here, eyes there, inside the joint limits.

Goals of several kinds may pull against each other: each has a weight, and a pinned one is met before all others. What
no goal decides is taken from the poses people take.
"""

import os
from pathlib import Path

import numpy as np

import mimik
from mimik.motion.clip import Clip
from mimik.rig.limits_human import human_limits
from mimik.studio.render import render

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"
OUT = Path(os.environ.get("MIMIK_EXAMPLE_OUT", "out"))


def main() -> None:
    """Reach for a shelf with one hand while the feet stay and the head looks at it."""
    OUT.mkdir(parents=True, exist_ok=True)
    rig = mimik.load_rig("humanoid")
    rig = rig.with_limits(human_limits(rig))
    standing = rig.tpose().to_world().positions
    shelf = np.array([0.35, 1.65, 0.45])

    goals = [
        mimik.Position("left_hand", shelf, pinned=True),
        mimik.Position("left_ankle", standing[rig.roles["left_ankle"]], weight=4.0),
        mimik.Position("right_ankle", standing[rig.roles["right_ankle"]], weight=4.0),
        mimik.Position("right_hand", (-0.25, 0.95, 0.15)),
        mimik.LookAt("head", shelf + np.array([0.0, 0.2, 0.0])),
        mimik.Pole("left_elbow", (0.8, 1.0, 0.0), weight=0.3),
    ]
    solution = mimik.pose(rig, goals)

    print(f"{solution.status[0]} after {solution.iterations[0]} steps, {1e3 * solution.seconds:.2f} ms")
    for name, left in zip(solution.goal_names, solution.residuals[0], strict=True):
        print(f"  {name:<28} off by {left:.5f}")
    at_limit = [name for name, touched in zip(rig.names, solution.limits_touched[0], strict=True) if touched]
    print("  joints on a limit:", ", ".join(at_limit) or "none")

    still = Clip(rig, solution.rotations.reshape(1, -1, 4), solution.root.reshape(1, 3), fps=30.0)
    size = (240, 180) if SHORT else (640, 480)
    print("drew", render(still, OUT / "shelf.png", width=size[0], height=size[1], frames=1))


if __name__ == "__main__":
    main()
