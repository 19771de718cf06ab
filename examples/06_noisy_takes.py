"""Real takes are noisy, full of gaps, and sometimes have left and right exchanged. What comes out of them?

A motion whose truth is known is spoiled more and more; the default solver's rotations are compared with the truth. What
was repaired is said in the clip's notes and in the report of `mimik solve`.
"""

import os

import numpy as np

import mimik
from mimik.motion.measures import mpjae_deg, mpjpe
from mimik.motion.sample import sample_clip
from mimik.takes import TakeOptions, solve_take

SHORT = os.environ.get("MIMIK_EXAMPLE_SHORT") == "1"


def spoiled(truth: mimik.Clip, noise: float, gaps: float, rng: np.random.Generator) -> mimik.Keypoints:
    """Return the joints with `noise` metres of jitter; a share `gaps` of points is lost for a quarter of a second."""
    points = truth.positions() + rng.normal(scale=noise, size=(truth.frame_count, truth.rig.joint_count, 3))
    length = round(truth.fps / 4)
    for joint in range(truth.rig.joint_count):
        for start in range(0, truth.frame_count, length):
            if rng.random() < gaps:
                points[start : start + length, joint] = np.nan
    return mimik.Keypoints(truth.rig.names, points, truth.fps)


def main() -> None:
    """Print a line for each degree of spoiling."""
    rig = mimik.load_rig("humanoid")
    truth = sample_clip(rig, "squat", seconds=2.0 if SHORT else 6.0, fps=60.0)
    print(f"{'noise':>8}{'lost':>7}{'found':>10}{'filled':>9}{'smoothed':>11}{'angles':>10}{'positions':>12}")
    for noise, gaps in ((0.0, 0.0), (0.005, 0.0), (0.01, 0.05), (0.02, 0.10), (0.04, 0.10)):
        take = spoiled(truth, noise, gaps, np.random.default_rng(1))
        clip, report = solve_take(take, rig, TakeOptions(proportions="person"))
        angles = mpjae_deg(clip.rotations, truth.rotations)
        place = mpjpe(clip.positions(), truth.positions())
        smoothed = f"{report.smoothed_hz:g} Hz" if report.smoothed_hz else "no"
        print(
            f"{1e3 * noise:>5.0f} mm{gaps:>7.0%}{report.noise_mm:>7.1f} mm{report.points_filled:>9}{smoothed:>11}"
            f"{angles:>6.1f} deg{1e3 * place:>9.1f} mm"
        )


if __name__ == "__main__":
    main()
