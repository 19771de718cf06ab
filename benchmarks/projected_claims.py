"""What the projected solver claims beside speed and accuracy: cores, start-up, optimality against random starts.

python benchmarks/projected_claims.py            # all; --only cores, start, optimum for one
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchmarks.projected import data as experiment
from benchmarks.projected.methods import Ours, Stand

from mimik.rig.pose import LocalPose

START = """
import time
began = time.perf_counter()
import numpy as np, mimik
rig = mimik.load_rig("humanoid")
ready = time.perf_counter()
mimik.pose(rig, [mimik.Position("left_hand", (0.4, 1.2, 0.3)), mimik.LookAt("head", (0, 1.5, 2))])
print(f"{ready - began:.3f} {time.perf_counter() - ready:.3f}")
"""


def figure_and_targets(folder: Path, clip: str, step: int) -> tuple:
    """The experiment's figure, our method on it, targets (T, 6, 3) and stands of a clip."""
    motion = experiment.load_motion(experiment.CLIPS[clip], folder)
    motions = [experiment.load_motion(c, folder) for c in experiment.CLIPS.values()]
    figure = experiment.make_figure(folder, motions)
    method = Ours(motion.rig, figure)
    frames = np.arange(0, len(motion.root), step)
    positions = LocalPose(motion.rig.skeleton, motion.rotations[frames], motion.root[frames]).positions()
    hinges = motion.angles(figure.orders)[frames].reshape(len(frames), -1)
    stands = [Stand(motion.root[f], motion.rotations[f, 0], h) for f, h in zip(frames, hinges, strict=True)]
    return method, positions[:, method.joints], stands


def cores(folder: Path, count: int) -> None:
    """Independent problems in one call on one core and on two."""
    method, targets, _ = figure_and_targets(folder, "acrobatics", 1)
    rng = np.random.default_rng(0)
    picked = targets[rng.integers(0, len(targets), count)]
    picked = picked + rng.normal(size=(count, 1, 3)) * [1.0, 0.0, 1.0]
    method.solver.solve_many(picked[:8])
    seconds = {}
    for threads in (1, 2):
        solution = method.solver.solve_many(picked, threads=threads)
        seconds[threads] = solution.seconds
        worst = solution.residuals.max(axis=1)
        print(
            f"{count} problems, {threads} thread(s): {solution.seconds:.2f} s, "
            f"{solution.seconds / count * 1e6:.0f} us each, {100 * (worst > 0.01).mean():.2f} % off by more than 1 cm"
        )
    print(
        f"two cores over one: {seconds[1] / seconds[2]:.2f}x (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )


def start_up() -> None:
    """First call of a fresh process, kernels in the disk cache."""
    for name in ("warming the cache", "from the cache", "from the cache"):
        told = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
        print(f"{name}: import and rig {told.stdout.split()[0]} s, first pose {told.stdout.split()[1]} s")


def optimum(folder: Path, starts: int, frames: int, outward: float) -> None:
    """Warm-started answers against the best of many random starts, goals within and out of reach."""
    for reach in (0.0, outward):
        method, targets, stands = figure_and_targets(folder, "acrobatics", 60)
        targets = (targets + reach * (targets - targets[:, 4:5]))[:frames]
        method.reset(stands[0])
        rng, same, slopes, ratios, m = np.random.default_rng(1), [], [], [], method.solver.model.arrays
        for target in targets:
            method.solve(target)
            ours = method.solver.outcome[2]
            slopes.append(method.solver.outcome[3])
            values = np.clip(
                method.solver.values + rng.normal(size=(starts, len(m.lower))) * 0.5 * (m.slides == 0), m.lower, m.upper
            )
            values[0] = method.solver.values
            base = np.repeat(method.solver.state.base[None], starts, axis=0)
            start = method.solver.model.values_to_pose(values, base)
            rivals = method.solver.solve_many(np.repeat(target[None], starts, axis=0), start=start)
            best = 0.5 * (rivals.residuals**2).sum(axis=1).min()
            same.append(ours <= 1.01 * best + 1e-9)
            ratios.append((ours + 1e-9) / (best + 1e-9))
        print(
            f"goals {'within reach' if reach == 0 else f'pushed {reach:.0%} outward'}, {len(targets)} frames: as "
            f"good as or better than {starts} random starts in {100 * np.mean(same):.1f} %; "
            f"projected gradient below 1e-4 in {100 * (np.array(slopes) < 1e-4).mean():.1f} %, "
            f"largest {max(slopes):.1e}; "
            f"objective over best: median {np.median(ratios):.4f}, worst {max(ratios):.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=experiment.data_folder())
    parser.add_argument("--only", choices=["cores", "start", "optimum"])
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--frames", type=int, default=25)
    options = parser.parse_args()
    began = time.perf_counter()
    if options.only in (None, "start"):
        start_up()
    if options.only in (None, "optimum"):
        optimum(options.data, options.starts, options.frames, 0.1)
    if options.only in (None, "cores"):
        cores(options.data, options.problems)
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
