"""Make the pictures of the README and the docs: `python docs/make_pictures.py [name ...]`."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mimik.api import load_rig, solve
from mimik.goals.keypoints import Keypoints
from mimik.motion.clip import Clip
from mimik.motion.retarget import retarget
from mimik.motion.sample import medley, sample_clip
from mimik.rotation import quat_mul, rotvec_to_quat
from mimik.studio.render import render

IMAGES = Path(__file__).parent / "images"


def hero() -> Path:
    """Noisy points on the left, the body found from them on the right."""
    rig = load_rig("humanoid")
    truth = medley(rig, ("wave", "squat", "cartwheel"), seconds=7.0, fps=30.0, seed=4)
    noise = np.random.default_rng(1).normal(scale=0.012, size=(truth.frame_count, rig.joint_count, 3))
    take = Keypoints(rig.names, truth.positions() + noise, truth.fps)
    found = solve(take, rig)
    return render([take, found], IMAGES / "hero.gif", view="hero", width=640, height=340, fps=15, follow=False,
                  labels=["noisy 3D points", "rotations on your rig"])  # fmt: skip


def rigs() -> Path:
    """One motion on five rigs."""
    clip = sample_clip(load_rig("humanoid"), "cartwheel", fps=30.0)
    names = ("humanoid", "mixamo", "ue5", "vrm", "cmu")
    clips = [retarget(clip, load_rig(name))[0][40:41] for name in names]
    return render(clips, IMAGES / "rigs.png", view="front", width=1200, height=330, frames=1, labels=names)


def mannequin() -> Path:
    """The mannequin in one walk, on the dark stage."""
    clip = sample_clip(load_rig("ue5"), "walk", seconds=2.0, fps=30.0)
    return render(clip, IMAGES / "walk.png", view="side", width=220, height=330, frames=6, theme="dark", follow=True)


def twist() -> Path:
    """A wrist turned by 150 degrees: the forearm shares the turn."""
    rig = load_rig("humanoid")
    pose = rig.tpose()
    turned = np.array(pose.rotations)
    wrist = rig.roles["left_wrist"]
    turned[wrist] = quat_mul(rotvec_to_quat([np.radians(150.0), 0.0, 0.0]), turned[wrist])
    still = Clip(rig, np.stack([pose.rotations, turned]), np.stack([pose.root, pose.root]), 30.0)
    return render(still, IMAGES / "twist.png", view="hero", focus="left_wrist", width=360, height=260, frames=2)


PICTURES: dict[str, Callable[[], Path]] = {p.__name__: p for p in (hero, rigs, mannequin, twist)}


def main(names: list[str]) -> None:
    """Make the named pictures, or all."""
    IMAGES.mkdir(exist_ok=True)
    for name in names or PICTURES:
        path = PICTURES[name]()
        print(f"drew {path} ({path.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main(sys.argv[1:])
