"""Keypoints in, animation out: the main job, in five lines.

A take is an array of points (T, K, 3) in metres with a name for each. Here it is made by us: the joints of a walking
figure as a markerless system might see them, with 5 mm of noise. Yours comes from `mimik.load_keypoints("take.trc")`.
"""

import os
from pathlib import Path

import numpy as np

import mimik
from mimik.motion.sample import sample_clip

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"
OUT = Path(os.environ.get("MIMIK_EXAMPLE_OUT", "out"))


def observed_walk(seconds: float) -> mimik.Keypoints:
    """Return what a camera system sees of a walk, and forget the rotations."""
    walk = sample_clip(mimik.load_rig("humanoid"), "walk", seconds=seconds, fps=60.0)
    positions = walk.positions() + np.random.default_rng(0).normal(scale=0.005, size=(walk.frame_count, 22, 3))
    return mimik.Keypoints(names=walk.rig.names, positions=positions, fps=60.0)


def main() -> None:
    """Solve the take on two rigs and write three formats."""
    OUT.mkdir(parents=True, exist_ok=True)
    take = observed_walk(seconds=1.0 if SHORT else 6.0)

    clip = mimik.solve(take, "humanoid")  # a built-in rig by name takes the person's bone lengths
    clip.save(OUT / "walk.bvh")
    clip.save(OUT / "walk.npz")

    game = mimik.solve(take, mimik.load_rig("ue5"))  # a rig of your own keeps its proportions; feet stay on the ground
    game.save(OUT / "walk.glb")

    print("rotations", clip.rotations.shape, "local, x y z w;  root", clip.root.shape, "metres")
    print("first joints:", ", ".join(clip.rig.names[:5]))
    for path in sorted(OUT.glob("walk.*")):
        print("wrote", path)


if __name__ == "__main__":
    main()
