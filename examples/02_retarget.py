"""One motion on every rig: rotations carried by role, the path scaled by leg length, standing feet held.

The rigs differ in joint names, hierarchy, bind pose, bone axes and proportions. Nothing of that has to be told: roles
are found from names, shape or the file's own table, and motion is carried relative to a common T-pose.
"""

import os
from pathlib import Path

import numpy as np

import mimik
from mimik.motion.retarget import retarget
from mimik.motion.sample import medley

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"
OUT = Path(os.environ.get("MIMIK_EXAMPLE_OUT", "out"))


def bend(clip: mimik.Clip, role: str) -> np.ndarray:
    """Return how far a joint stands from straight in each frame, in degrees: the same on every rig."""
    above, here, below = {"left_knee": ("left_hip", "left_knee", "left_ankle")}[role]
    points = clip.positions()
    a, b, c = (points[:, clip.rig.roles[name]] for name in (above, here, below))
    u, v = b - a, c - b
    cosine = np.sum(u * v, axis=1) / (np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1))
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def main() -> None:
    """Carry a squat and a walk to five rigs, one of them a child."""
    OUT.mkdir(parents=True, exist_ok=True)
    source = medley(mimik.load_rig("mixamo"), ("squat", "walk"), seconds=2.0 if SHORT else 8.0, fps=30.0)
    print(f"{'rig':<12}{'joints':>7}{'scale':>8}{'feet slide':>13}{'deepest knee':>15}")
    for name, height in (("humanoid", 1.75), ("smpl", 1.65), ("ue5", 1.80), ("vrm", 1.50), ("cmu", 1.15)):
        rig = mimik.load_rig(name, height=height)
        clip, report = retarget(source, rig)
        slide = f"{report.slide_cm_s[2]:.1f} cm/s"
        knee = f"{bend(clip, 'left_knee').max():.0f} deg"
        print(f"{name:<12}{rig.joint_count:>7}{report.scale:>8.2f}{slide:>13}{knee:>15}")
        clip.save(OUT / f"squat_{name}.bvh")

    print("\nwhat went where on the last rig:")
    for row in report.rows[:6]:
        print(f"  {row.role:<12} {row.source:<24} {row.target:<14} {row.how}")


if __name__ == "__main__":
    main()
