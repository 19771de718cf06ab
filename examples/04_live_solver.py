"""A figure that follows moving targets, frame by frame: `Solver.step` starts each frame from the last pose.

This is the loop of a game, a robot or an animator's handle: targets come in, joint rotations go out, in microseconds.
"""

import os
import time

import numpy as np

import mimik
from mimik.rig.limits_human import human_limits

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"
FPS = 60.0


def main() -> None:
    """Draw a circle with the left hand, jump away once, and go out of reach at the end."""
    rig = mimik.load_rig("humanoid")
    rig = rig.with_limits(human_limits(rig))
    rest = rig.tpose().to_world().positions
    goals = [
        mimik.Position("left_hand", (0.4, 1.2, 0.3)),
        *(mimik.Position(name, rest[rig.roles[name]], weight=4.0) for name in ("left_ankle", "right_ankle", "pelvis")),
    ]
    solver = mimik.Solver(rig, goals)
    solver.step()  # the first call compiles once after an install; later starts load from the cache

    frames = 120 if SHORT else 600
    spent, errors, words = [], [], []
    for frame in range(frames):
        angle = 2 * np.pi * frame / FPS / 2.0
        target = np.array([0.40 + 0.15 * np.cos(angle), 1.20 + 0.15 * np.sin(angle), 0.30])
        if frame > frames * 0.5:
            target[0] -= 0.5  # a jump to the other side
        if frame > frames * 0.8:
            target[2] += 1.5  # nobody's arm is that long
        began = time.perf_counter()
        solution = solver.step({"left_hand": target})
        spent.append(time.perf_counter() - began)
        errors.append(float(np.linalg.norm(solution.positions()[..., rig.roles["left_wrist"], :] - target)))
        words.append(solution.status[0])

    for name, part in (
        ("on the circle", slice(5, frames // 2)),
        ("after the jump", slice(frames // 2 + 5, int(frames * 0.8))),
        ("out of reach", slice(int(frames * 0.8) + 5, frames)),
    ):
        print(f"{name:<15} {words[part][-1]:<12} off by {1e3 * np.median(errors[part]):7.3f} mm")
    print(
        f"a frame takes {1e6 * np.median(spent):.0f} us in the middle, {1e6 * np.quantile(spent, 0.99):.0f} us at p99"
    )


if __name__ == "__main__":
    main()
