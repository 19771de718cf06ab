"""A picture and a film of a motion, with no display and no GPU.

The mannequin is fitted to the rig's own bones; a character with a skin of its own is drawn in it. The suffix says what
is written: .png, .gif or .mp4.
"""

import os
from pathlib import Path

import mimik
from mimik.motion.sample import sample_clip
from mimik.studio.render import render

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"
OUT = Path(os.environ.get("MIMIK_EXAMPLE_OUT", "out"))
SCALE = 0.3 if SHORT else 1.0


def size(width: int, height: int) -> dict[str, int]:
    """Return a picture's size, smaller in the short run."""
    return {"width": round(width * SCALE), "height": round(height * SCALE)}


def main() -> None:
    """Draw a strip of moments, two rigs side by side, a close look at a hand, keypoints over ghosts, a film."""
    OUT.mkdir(parents=True, exist_ok=True)
    wave = sample_clip(mimik.load_rig("humanoid"), "wave", seconds=3.0, fps=30.0)
    same = sample_clip(mimik.load_rig("vrm"), "wave", seconds=3.0, fps=30.0)

    print("drew", render(wave, OUT / "strip.png", frames=6, **size(200, 300)))
    print("drew", render([wave, same], OUT / "pair.png", frames=1, labels=["humanoid", "vrm"], **size(640, 480)))
    print("drew", render(wave, OUT / "hand.png", focus="left_wrist", frames=1, theme="dark", **size(400, 300)))

    seen = mimik.Keypoints(wave.rig.names, wave.positions(), wave.fps)
    print("drew", render(wave, OUT / "dots.png", keypoints=seen, ghosts=3, frames=1, title="a wave", **size(480, 360)))

    part = wave[:15] if SHORT else wave
    print("drew", render(part, OUT / "wave.gif", view="front", fps=10.0, **size(360, 360)))


if __name__ == "__main__":
    main()
