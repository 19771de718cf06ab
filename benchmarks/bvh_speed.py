"""Read and write one large BVH file with mimik and with every peer that is installed; print the table.

    python benchmarks/bvh_speed.py --python /path/to/python-with-peers

Peers: bvhio, upc-pymotion, pybvh (pip install bvhio upc-pymotion pybvh) and Blender's bpy (pip install bpy==5.0.1,
Python 3.11, 1 GB). They may live in another environment, whose Python `--python` (or MIMIK_PEERS_PYTHON) names; the one
that runs this file is used otherwise. Each tool runs alone in a fresh process, one thread; the best of `--repeat` runs
counts. Reading ends with local rotations in memory: pybvh keeps Euler angles and is asked for quaternions, as the
others give. mimik's reading includes everything `load_clip` does: units, axes, roles, T-pose.

The gate: what each tool wrote must hold the same motion. mimik reads it and compares the distances between all joints
over ten frames, which no turn or shift of the whole figure changes. The command fails when mimik's own file is off, or
when mimik is not faster than every peer and three times faster than the best one in pure Python.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PEERS = ("bvhio", "upc-pymotion", "pybvh", "bpy")
PURE_PYTHON = ("bvhio", "upc-pymotion", "pybvh")
GATE_MM = 1.0
SLOW_S = 20.0


def main() -> int:
    """Measure all tools on one file and print the table; return 1 when mimik fails its gate or is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=os.environ.get("MIMIK_PEERS_PYTHON", sys.executable))
    parser.add_argument("--file", type=Path, help="a BVH file instead of the generated one")
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(options.inside, options.file, options.out, options.repeat)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        source = options.file or make_file(Path(folder) / "source.bvh", options.frames)
        results = []
        for tool in ("mimik", *PEERS):
            python = sys.executable if tool == "mimik" else options.python
            results.append(run_tool(tool, python, source, Path(folder), options.repeat))
        return report(results, source)


def make_file(path: Path, frames: int) -> Path:
    """Write `frames` frames of our sample motion on the 31 joints of the CMU rig, as the CMU files are."""
    from mimik.io.bvh import write_clip
    from mimik.motion.sample import sample_clip
    from mimik.rig.builtin import builtin_rig

    clip = sample_clip(builtin_rig("cmu"), "medley", seconds=frames / 120, fps=120.0)
    write_clip(clip[:frames], path, units="cmu", order="ZYX", decimals=4)
    return path


def run_tool(tool: str, python: str, source: Path, folder: Path, repeat: int) -> dict[str, Any]:
    """Measure one tool in its own process; on failure the result holds `error`."""
    out = folder / f"{tool}.bvh"
    command = [python, str(Path(__file__).resolve()), "--inside", tool, "--file", str(source), "--out", str(out)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [*command, "--repeat", str(repeat)], capture_output=True, text=True, check=False, env={**os.environ, **threads}
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return {"tool": tool, "error": reason}
    result: dict[str, Any] = json.loads(lines[-1])
    result["error_mm"] = compare(source, out)
    return result


def measure(tool: str, source: Path, out: Path, repeat: int) -> dict[str, Any]:
    """Time reading and writing, the best of several runs; the first run apart, for what loads or compiles."""
    version, read, write = TOOLS[tool]()
    first, read_s, content = best_time(lambda: read(str(source)), repeat)
    _, write_s, _ = best_time(lambda: write(content, str(out)), repeat)
    return {"tool": tool, "version": version, "read_s": read_s, "write_s": write_s, "first_read_s": first}


def best_time(call: Callable[[], Any], repeat: int) -> tuple[float, float, Any]:
    """Return the first and the best wall time in seconds, and what the last call returned."""
    times: list[float] = []
    result = None
    for _ in range(max(1, repeat)):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        if sum(times) > SLOW_S:
            break
    return times[0], min(times), result


def compare(source: Path, written: Path) -> float:
    """Return the largest difference in millimetres between joint distances of the two files over ten frames."""
    from mimik.errors import MimikError
    from mimik.io.bvh import read_clip

    try:
        a, b = read_clip(source), read_clip(written)
    except MimikError:
        return float("inf")
    if set(a.rig.names) - set(b.rig.names) or a.frame_count != b.frame_count:
        return float("inf")
    frames = np.linspace(0, a.frame_count - 1, 10).astype(int)
    order = [b.rig.names.index(name) for name in a.rig.names]
    p, q = a.positions()[frames], b.positions()[frames][:, order]
    distances = [np.linalg.norm(x[:, :, None] - x[:, None], axis=-1) for x in (p, q)]
    return float(np.abs(distances[0] - distances[1]).max() * 1000)


def report(results: list[dict[str, Any]], source: Path) -> int:
    """Print the table; return 0 when mimik is right, fastest, and three times faster than the best pure-Python peer."""
    cores = os.cpu_count()
    print(
        f"{source.stat().st_size / 1e6:.1f} MB, Python {platform.python_version()}, {platform.machine()}, {cores} cores"
    )
    print(f"{'tool':<14}{'version':<10}{'read s':>10}{'write s':>10}{'read x':>9}{'write x':>9}{'error mm':>11}")
    ours = results[0]
    if "error" in ours:
        print(f"mimik failed: {ours['error']}")
        return 1
    for r in results:
        if "error" in r:
            print(f"{r['tool']:<14}not measured: {r['error'][:90]}")
            continue
        times = f"{r['read_s']:>10.3f}{r['write_s']:>10.3f}"
        factors = f"{r['read_s'] / ours['read_s']:>9.1f}{r['write_s'] / ours['write_s']:>9.1f}"
        print(f"{r['tool']:<14}{r['version']:<10}{times}{factors}{r['error_mm']:>11.4f}")
    print(f"mimik's first read in a fresh process: {ours['first_read_s']:.2f} s")
    peers = [r for r in results[1:] if "error" not in r]
    fast = all(
        r[key] > ours[key] * (3 if r["tool"] in PURE_PYTHON else 1) for r in peers for key in ("read_s", "write_s")
    )
    right = ours["error_mm"] < GATE_MM
    print(f"accuracy: {'passed' if right else 'FAILED'}; speed: {'passed' if fast else 'FAILED'} ({len(peers)} peers)")
    return 0 if right and fast else 1


Tool = tuple[str, Callable[[str], Any], Callable[[Any, str], Any]]


def mimik_tool() -> Tool:
    import mimik
    from mimik.io.bvh import read_clip, write_clip

    return mimik.__version__, lambda f: read_clip(Path(f)), lambda clip, f: write_clip(clip, Path(f), units="cmu")


def bvhio_tool() -> Tool:
    from importlib.metadata import version

    import bvhio

    return version("bvhio"), bvhio.readAsBvh, lambda data, f: bvhio.writeBvh(f, data, percision=6)


def pymotion_tool() -> Tool:
    from importlib.metadata import version

    from pymotion.io.bvh import BVH

    def read(path: str) -> Any:
        take = BVH()
        take.load(path)
        take.get_data()
        return take

    return version("upc-pymotion"), read, lambda take, f: take.save(f)


def pybvh_tool() -> Tool:
    from importlib.metadata import version

    import pybvh

    def read(path: str) -> Any:
        take = pybvh.read_bvh_file(path)
        take.to_quat()
        return take

    return version("pybvh"), read, pybvh.write_bvh_file


def bpy_tool() -> Tool:
    import bpy

    def read(path: str) -> Any:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_anim.bvh(filepath=path)

    def write(_: Any, path: str) -> Any:
        scene = bpy.context.scene
        last = int(bpy.data.actions[0].frame_range[1])
        bpy.ops.export_anim.bvh(filepath=path, frame_start=scene.frame_start, frame_end=last)

    return bpy.app.version_string.split()[0], read, write


TOOLS: dict[str, Callable[[], Tool]] = {
    "mimik": mimik_tool,
    "bvhio": bvhio_tool,
    "upc-pymotion": pymotion_tool,
    "pybvh": pybvh_tool,
    "bpy": bpy_tool,
}

if __name__ == "__main__":
    sys.exit(main())
