"""Forward kinematics of many poses of 22 joints: mimik against upc-pymotion, one thread; print the table.

    python benchmarks/fk_speed.py --python /path/to/python-with-peers

upc-pymotion (pip install upc-pymotion) may live in another environment, whose Python `--python` (or MIMIK_PEERS_PYTHON)
names. Each tool runs alone in a fresh process, the best of `--repeat` runs counts. The gate: positions agree to a
micrometre. The command fails when they do not, or when mimik is not five times faster.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

JOINTS = 22
WANTED_FACTOR = 5.0
GATE_M = 1e-6


def main() -> int:
    """Measure both on the same poses and print the table; return 1 when mimik is off or too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=os.environ.get("MIMIK_PEERS_PYTHON", sys.executable))
    parser.add_argument("--poses", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--inside", choices=("mimik", "upc-pymotion"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(options.inside, options.folder, options.repeat)))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_poses(folder, options.poses)
        ours = run_tool("mimik", sys.executable, folder, options.repeat)
        peer = run_tool("upc-pymotion", options.python, folder, options.repeat)
        return report(ours, peer, folder, options.poses)


def write_poses(folder: Path, count: int) -> None:
    """Write random poses of the built-in humanoid for both tools."""
    from mimik.rig.builtin import builtin_rig
    from mimik.rotation import quat_normalize

    rng = np.random.default_rng(0)
    rig = builtin_rig("humanoid")
    rotations = quat_normalize(rng.normal(size=(count, JOINTS, 4)))
    np.savez(
        folder / "poses.npz",
        rotations=rotations,
        root=rng.normal(size=(count, 3)),
        offsets=rig.offsets,
        parents=rig.parents,
    )


def run_tool(tool: str, python: str, folder: Path, repeat: int) -> dict[str, Any]:
    """Measure one tool in its own process with one thread; on failure the result holds `error`."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [
        python,
        str(Path(__file__).resolve()),
        "--inside",
        tool,
        "--folder",
        str(folder),
        "--repeat",
        str(repeat),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **threads})
    if done.returncode != 0:
        return {"tool": tool, "error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(tool: str, folder: Path, repeat: int) -> dict[str, Any]:
    """Time forward kinematics of all poses, after one run that loads or compiles."""
    with np.load(folder / "poses.npz") as arrays:
        poses = {key: arrays[key] for key in arrays.files}
    if tool == "mimik":
        import mimik
        from mimik.rig.kinematics import forward_kinematics

        version = mimik.__version__

        def run() -> np.ndarray:
            return forward_kinematics(poses["parents"], poses["offsets"], poses["rotations"], poses["root"])[1]
    else:
        from importlib.metadata import version as installed

        from pymotion.ops.skeleton import fk

        version = installed("upc-pymotion")
        wxyz = np.ascontiguousarray(poses["rotations"][..., [3, 0, 1, 2]])
        parents = poses["parents"].copy()
        parents[0] = 0

        def run() -> np.ndarray:
            return fk(wxyz, poses["root"], poses["offsets"], parents)[0]

    positions = run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    np.save(folder / f"{tool}.npy", positions[:1000])
    return {"tool": tool, "version": version, "seconds": min(times)}


def report(ours: dict[str, Any], peer: dict[str, Any], folder: Path, count: int) -> int:
    """Print the table; return 0 when both agree and mimik is fast enough."""
    print(f"{count} poses of {JOINTS} joints, one thread, Python {platform.python_version()}, {platform.machine()}")
    for result in (ours, peer):
        if "error" in result:
            print(f"{result['tool']:<14}not measured: {result['error'][:90]}")
        else:
            rate = count / result["seconds"] / 1e6
            print(f"{result['tool']:<14}{result['version']:<10}{result['seconds']:>9.4f} s{rate:>9.2f} million poses/s")
    if "error" in ours or "error" in peer:
        return 1
    difference = float(np.abs(np.load(folder / "mimik.npy") - np.load(folder / "upc-pymotion.npy")).max())
    factor = peer["seconds"] / ours["seconds"]
    right, fast = difference < GATE_M, factor >= WANTED_FACTOR
    print(f"mimik is {factor:.1f} times faster ({WANTED_FACTOR:.0f} wanted); largest difference {difference:.1e} m")
    print(f"accuracy: {'passed' if right else 'FAILED'}; speed: {'passed' if fast else 'FAILED'}")
    return 0 if right and fast else 1


if __name__ == "__main__":
    sys.exit(main())
