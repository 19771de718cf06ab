"""Frames a second of the dense solvers beside a plain PyTorch IK-GAT network, in one run; memory of a solving process.

    python benchmarks/dense_speed.py [--threads 1 2] [--batches 1 4 16 64]

The reference is the network alone, run eagerly by PyTorch. The solvers are timed end to end: joint positions in, local
rotations of the rig out. Contenders take turns within each round, so that whatever else the machine does hits all of
them; the median round counts. Their errors on the same poses stand beside the speed.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from mimik._types import Array
from mimik.goals.keypoints import Keypoints
from mimik.io import save_keypoints
from mimik.learn.ikgat import IkGat
from mimik.motion.clip import Clip
from mimik.motion.sample import medley, sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic
from mimik.solve.dense.ikgat import ikgat_pose
from mimik.solve.dense.solver import DenseSolver

ROUNDS, SECONDS = 9, 0.12
MEMORY = """
import sys, mimik
take = mimik.load_keypoints(sys.argv[1])
mimik.solve(take, "humanoid")
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this program alone
print(take.frame_count, int(held.split()[1]) / 1024)
"""
Solver = Callable[[Array], Array]


def main() -> None:
    """Print a table of errors and one of speed per thread count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16, 64])
    given = parser.parse_args()
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "medley", fps=10.0)
    points = clip.positions()[:, [rig.roles[role] for role in BODY_ROLES]]
    print(hardware())
    for name, solve in solvers(rig, 1).items():
        print(
            f"{name:>14}: {error_deg(solve(points), clip):.2f} degrees MPJAE on {len(points)} frames of sample motion"
        )
    print(memory())
    print(long_take())
    for threads in given.threads:
        torch.set_num_threads(threads)
        contenders = {"plain PyTorch": plain_network(), **solvers(rig, threads)}
        print(f"\n{threads} thread{'s' if threads > 1 else ''}: frames a second (ratio to plain PyTorch)")
        print(f"{'batch':>6}" + "".join(f"{name:>20}" for name in contenders))
        for batch in given.batches:
            rates = measure(contenders, points[:batch])
            cells = (f"{rate:12,.0f} ({rate / rates['plain PyTorch']:4.1f}x)" for rate in rates.values())
            print(f"{batch:6d}" + "".join(cells), flush=True)


def plain_network() -> Solver:
    """Return the reference: IK-GAT as it is trained, in eager PyTorch, positions to 6D rotations."""
    network = IkGat().eval()

    @torch.inference_mode()
    def run(points: Array) -> Array:
        return network(torch.as_tensor(points - points[:, :1], dtype=torch.float32)).numpy()

    return run


def solvers(rig: Rig, threads: int) -> dict[str, Solver]:
    """Return the solvers end to end: positions (T, 22, 3) to local rotations (T, J, 4)."""
    default = DenseSolver(rig, threads=threads)
    return {
        "default": lambda points: default.pose(points).rotations,
        "ikgat": lambda points: ikgat_pose(points, rig, threads=threads).rotations,
    }


def memory() -> str:
    """Return one line on how much memory a fresh process takes to solve a take from a file."""
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "medley", fps=60.0)
    with tempfile.TemporaryDirectory() as folder:
        take = Path(folder) / "take.npz"
        save_keypoints(Keypoints(rig.names, clip.positions(), clip.fps), take)
        command = [sys.executable, "-c", MEMORY, str(take)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return f"a process that solves a take of {told[0]} frames holds at most {float(told[1]):.0f} MB"


def long_take(minutes: float = 10.0) -> str:
    """Return one line on how long `mimik solve` takes for a noisy take with gaps, file to file, process and all."""
    rig, rng = builtin_rig("humanoid"), np.random.default_rng(0)
    clip = medley(rig, ("wave", "walk", "squat", "cartwheel"), seconds=60.0 * minutes, fps=60.0, seed=1)
    points = clip.positions() + rng.normal(0.0, 0.005, (clip.frame_count, rig.joint_count, 3))
    points[rng.random(points.shape[:2]) < 0.02] = np.nan
    with tempfile.TemporaryDirectory() as folder:
        take = Path(folder) / "take.trc"
        save_keypoints(Keypoints(rig.names, points, clip.fps), take)
        began = time.perf_counter()
        command = [sys.executable, "-m", "mimik", "solve", str(take), "-o", str(take.with_suffix(".bvh"))]
        subprocess.run(command, capture_output=True, check=True)
        seconds = time.perf_counter() - began
        size = take.stat().st_size / 1e6
    return (
        f"a take of {minutes:g} minutes, {clip.frame_count:,} frames, {size:.0f} MB of TRC, is a BVH in {seconds:.1f} s"
    )


def measure(contenders: dict[str, Solver], points: Array) -> dict[str, float]:
    """Return frames a second of each, the median of rounds in which all take their turn."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    calls = {name: calls_for(solve, points) for name, solve in contenders.items()}
    for _ in range(ROUNDS):
        for name, solve in contenders.items():
            began = time.perf_counter()
            for _ in range(calls[name]):
                solve(points)
            seconds[name].append((time.perf_counter() - began) / calls[name])
    return {name: len(points) / statistics.median(times) for name, times in seconds.items()}


def calls_for(solve: Solver, points: Array) -> int:
    """Return how many calls fill a round, after warming up."""
    for _ in range(3):
        began = time.perf_counter()
        solve(points)
    return max(1, int(SECONDS / (time.perf_counter() - began)))


def error_deg(rotations: Array, clip: Clip) -> float:
    """Return the mean angle between local rotations, degrees."""
    return float(np.rad2deg(geodesic(rotations, clip.rotations)).mean())


def hardware() -> str:
    """Return one line on what this runs on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            model = next(line.split(":")[1].strip() for line in stream if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    versions = f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, numpy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


if __name__ == "__main__":
    main()
