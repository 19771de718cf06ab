"""Open BVH and GLB written by mimik in Blender and compare world joint positions at ten frames.

    python benchmarks/open_in_blender.py --blender-python /path/to/python

Importers and exporter run with their default options. What Blender exports again is read by mimik and compared at the
frames both rates share; mimik also writes another motion into that file and Blender opens it. `--blender-python` (or
the environment variable MIMIK_BLENDER_PYTHON) is a Python that has `bpy` (pip install bpy==5.0.1, Python 3.11, 1 GB);
the one that runs this file by default. The command fails when a joint is more than a millimetre off.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

Job = dict[str, Any]

RIGS = ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu")
MOTIONS = ("walk", "cartwheel")
FORMATS = (".bvh", ".glb")
EXPORTED = "_exported.glb"
FRAMES = 10
FPS = 60.0
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = run_blender(options.blender_python, folder, write_files(folder, options.rigs))
        again = run_blender(options.blender_python, folder, write_into_exports(folder, options.rigs))
        print(f"{first['version']}, default options, {FRAMES} frames each, world joint positions")
        print(f"{'file':44} {'joints':>6} {'missing':>7} {'mean mm':>10} {'worst mm':>10}")
        worst = max(report(first), report_exports(folder, options.rigs), report(again))
    print(f"worst {worst:.5f} mm, limit {LIMIT_MM} mm: {'pass' if worst <= LIMIT_MM else 'FAIL'}")
    return 0 if worst <= LIMIT_MM else 1


def run_blender(python: str, folder: Path, jobs: list[Job]) -> dict[str, Any]:
    """Open the files of the jobs in Blender; return the places it shows by file name."""
    listing, seen = folder / "jobs.json", folder / "seen.npz"
    listing.write_text(json.dumps(jobs))
    seen.unlink(missing_ok=True)
    command = [python, str(Path(__file__).resolve()), "--inside", str(listing)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not seen.exists():
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}\nBlender could not open the files")
    with np.load(seen, allow_pickle=False) as arrays:
        return {
            "version": str(arrays["version"]),
            "files": {job["path"]: arrays[Path(job["path"]).name] for job in jobs},
        }


def write_files(folder: Path, rigs: list[str]) -> list[Job]:
    """Write each motion on each rig in each format with our own positions beside it."""
    from mimik.io import save_clip
    from mimik.motion.sample import sample_clip
    from mimik.rig.builtin import builtin_rig

    jobs: list[Job] = []
    for rig_name in rigs:
        rig = builtin_rig(rig_name)
        for motion in MOTIONS:
            clip = sample_clip(rig, motion, seconds=3.0, fps=FPS)
            for suffix in FORMATS:
                path = folder / f"{rig_name}_{motion}{suffix}"
                save_clip(clip, path)
                jobs.append(job_of(clip, path))
    return jobs


def job_of(clip: Any, path: Path) -> Job:
    """Keep our own positions beside a file and say what to look at in it."""
    frames = np.linspace(0, clip.frame_count - 1, FRAMES).round().astype(int)
    np.save(f"{path}.npy", clip.positions()[frames])
    return {"path": str(path), "fps": clip.fps, "frames": frames.tolist(), "joints": list(clip.rig.names)}


def write_into_exports(folder: Path, rigs: list[str]) -> list[Job]:
    """Write another motion into copies of the files that Blender exported."""
    from mimik.io import load_rig_file, save_clip
    from mimik.motion.sample import sample_clip

    jobs = []
    for rig_name in rigs:
        rig = load_rig_file(folder / f"{rig_name}_{MOTIONS[0]}{EXPORTED}")
        clip = sample_clip(rig, "wave", seconds=3.0, fps=FPS)
        path = folder / f"{rig_name}_wave_into_export.glb"
        save_clip(clip, path, template=True)
        jobs.append(job_of(clip, path))
    return jobs


def inside_blender(listing: Path) -> int:
    """Import every file, save the joint positions in our axes to seen.npz, export GLB again."""
    import bpy

    seen = {}
    for job in json.loads(listing.read_text()):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        path = Path(job["path"])
        importer = bpy.ops.import_anim.bvh if path.suffix == ".bvh" else bpy.ops.import_scene.gltf
        importer(filepath=str(path))
        armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
        seen[path.name] = places_shown(bpy.context.scene, armature, job, path.suffix == ".bvh")
        if path.suffix == ".glb":
            bpy.ops.export_scene.gltf(filepath=str(path.with_suffix("")) + EXPORTED)
    np.savez(listing.parent / "seen.npz", version=f"Blender {bpy.app.version_string}", **seen)
    return 0


def places_shown(scene: Any, armature: Any, job: Job, is_bvh: bool) -> np.ndarray:
    """Return (frames, joints, 3) bone heads, NaN for bones that are not there."""
    places = np.full((len(job["frames"]), len(job["joints"]), 3), np.nan)
    for i, frame in enumerate(job["frames"]):
        # BVH: one scene frame a file frame, from 1; glTF: seconds at the scene's rate, from 0
        at = frame + 1.0 if is_bvh else frame / job["fps"] * scene.render.fps
        scene.frame_set(int(at), subframe=at - int(at))
        for j, name in enumerate(job["joints"]):
            if name in armature.pose.bones:
                x, y, z = armature.matrix_world @ armature.pose.bones[name].head
                places[i, j] = x, z, -y
    return places


def report(shown: dict[str, Any]) -> float:
    """Print the differences of what Blender showed; return the largest in millimetres."""
    return max(line(Path(path).name, places - np.load(f"{path}.npy")) for path, places in shown["files"].items())


def report_exports(folder: Path, rigs: list[str]) -> float:
    """Read what Blender exported, print the differences from what it was given; return the largest in millimetres."""
    from mimik.io import load_clip

    worst = 0.0
    for rig_name in rigs:
        for motion in MOTIONS:
            given = load_clip(folder / f"{rig_name}_{motion}.glb")
            back = load_clip(folder / f"{rig_name}_{motion}{EXPORTED}")
            joints = [back.rig.names.index(name) for name in given.rig.names]
            shared = np.arange(0.0, min(given.duration, back.duration), 1.0 / np.gcd(int(given.fps), int(back.fps)))
            ours = given.positions()[np.round(shared * given.fps).astype(int)]
            theirs = back.positions()[np.round(shared * back.fps).astype(int)][:, joints]
            worst = max(worst, line(f"{rig_name}_{motion}{EXPORTED} read back", theirs - ours))
    return worst


def line(name: str, away: np.ndarray) -> float:
    """Print one line of the table; return the largest distance in millimetres, infinite when a joint is missing."""
    distance = np.linalg.norm(away, axis=-1) * 1000.0
    missing = int(np.isnan(distance).any(axis=0).sum())
    print(f"{name:44} {distance.shape[1]:6} {missing:7} {np.nanmean(distance):10.5f} {np.nanmax(distance):10.5f}")
    return np.inf if missing else float(distance.max())


if __name__ == "__main__":
    sys.exit(main())
