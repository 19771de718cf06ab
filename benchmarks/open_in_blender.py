"""Open BVH and GLB written by mimik in Blender and compare world joint positions at ten frames.

    python benchmarks/open_in_blender.py --blender-python /path/to/python

The importers run with their default options. `--blender-python` (or the environment variable MIMIK_BLENDER_PYTHON) is a
Python that has `bpy` (pip install bpy==5.0.1, Python 3.11, 1 GB); the one that runs this file by default. The command
fails when a joint is more than a millimetre off.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RIGS = ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu")
MOTIONS = ("walk", "cartwheel")
FORMATS = (".bvh", ".glb")
FRAMES = 10
LIMIT_MM = 1.0


def main() -> int:
    """Write the files, let Blender open them, print the table; return 1 when a joint is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blender-python", default=os.environ.get("MIMIK_BLENDER_PYTHON", sys.executable))
    parser.add_argument("--rigs", nargs="+", default=list(RIGS))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        return inside_blender(options.inside)
    with tempfile.TemporaryDirectory() as folder:
        jobs = write_files(Path(folder), options.rigs)
        listing = Path(folder) / "jobs.json"
        listing.write_text(json.dumps(jobs))
        command = [options.blender_python, str(Path(__file__).resolve()), "--inside", str(listing)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not (Path(folder) / "seen.npz").exists():
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
            return 2
        return report(jobs, Path(folder))


def write_files(folder: Path, rigs: list[str]) -> list[dict[str, object]]:
    """Write each motion on each rig in each format with our own positions beside it."""
    from mimik.io import save_clip
    from mimik.motion.sample import sample_clip
    from mimik.rig.builtin import builtin_rig

    jobs: list[dict[str, object]] = []
    for rig_name in rigs:
        rig = builtin_rig(rig_name)
        for motion in MOTIONS:
            clip = sample_clip(rig, motion, seconds=3.0, fps=60.0)
            frames = np.linspace(0, clip.frame_count - 1, FRAMES).round().astype(int)
            for suffix in FORMATS:
                path = folder / f"{rig_name}_{motion}{suffix}"
                save_clip(clip, path)
                np.save(path.with_suffix(suffix + ".npy"), clip.positions()[frames])
                jobs.append({"path": str(path), "fps": clip.fps, "frames": frames.tolist(), "joints": list(rig.names)})
    return jobs


def inside_blender(listing: Path) -> int:
    """Import every file with default options and save the joint positions, in our axes, to seen.npz."""
    import bpy

    seen = {}
    for job in json.loads(listing.read_text()):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        path = Path(job["path"])
        importer = bpy.ops.import_anim.bvh if path.suffix == ".bvh" else bpy.ops.import_scene.gltf
        importer(filepath=str(path))
        armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
        scene = bpy.context.scene
        places = np.full((len(job["frames"]), len(job["joints"]), 3), np.nan)
        for i, frame in enumerate(job["frames"]):
            # BVH: one scene frame a file frame, from 1; glTF: seconds at the scene's rate, from 0
            at = frame + 1.0 if path.suffix == ".bvh" else frame / job["fps"] * scene.render.fps
            scene.frame_set(int(at), subframe=at - int(at))
            bones = armature.pose.bones
            for j, name in enumerate(job["joints"]):
                if name in bones:
                    x, y, z = armature.matrix_world @ bones[name].head
                    places[i, j] = x, z, -y
        seen[path.name] = places
    np.savez(listing.parent / "seen.npz", version=bpy.app.version_string, **seen)
    return 0


def report(jobs: list[dict[str, object]], folder: Path) -> int:
    """Print the largest difference of every file; return 1 when one exceeds the limit or lacks a joint."""
    seen = np.load(folder / "seen.npz", allow_pickle=False)
    print(f"Blender {seen['version']}, default importer options, {FRAMES} frames each, world joint positions")
    print(f"{'file':28} {'joints':>6} {'missing':>7} {'mean mm':>10} {'worst mm':>10}")
    worst = 0.0
    for job in jobs:
        path = Path(str(job["path"]))
        away = np.linalg.norm(seen[path.name] - np.load(f"{path}.npy"), axis=-1) * 1000.0
        missing = int(np.isnan(away).any(axis=0).sum())
        worst = max(worst, float(np.nanmax(away)), np.inf if missing else 0.0)
        print(f"{path.name:28} {away.shape[1]:6} {missing:7} {np.nanmean(away):10.5f} {np.nanmax(away):10.5f}")
    print(f"worst {worst:.5f} mm, limit {LIMIT_MM} mm: {'pass' if worst <= LIMIT_MM else 'FAIL'}")
    return 0 if worst <= LIMIT_MM else 1


if __name__ == "__main__":
    sys.exit(main())
