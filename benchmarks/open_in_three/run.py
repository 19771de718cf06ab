"""Open GLB, VRM and VRMA written by mimik in three.js, in headless Chromium, and compare world joint positions.

The Khronos glTF validator looks at every file as well.

    python benchmarks/open_in_three/run.py

Needs `node`, `npm` and Chromium (`--chromium`, found on the path by default). three, @pixiv/three-vrm,
@pixiv/three-vrm-animation, playwright-core and gltf-validator are installed by npm into a temporary folder, or into
`--modules` to keep them. The command fails when a joint is more than a millimetre off at one of ten frames, or when the
validator finds an error.
"""

import argparse
import functools
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PACKAGES = (
    "three@0.187",
    "@pixiv/three-vrm@3",
    "@pixiv/three-vrm-animation@3",
    "playwright-core",
    "gltf-validator@2.0.0-dev.3.10",
)
RIGS = ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu")
AVATARS = ("humanoid", "smpl", "mixamo", "vrm")  # the rigs whose moving joints are all bones of VRM
MOTIONS = ("walk", "cartwheel")
FRAMES = 10
LIMIT_MM = 1.0


def main() -> int:
    """Write the files, let three.js open them, print the table; return 1 when a joint is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--modules", type=Path, help="folder for the npm packages, kept for the next time")
    options = parser.parse_args()
    if not options.chromium or not shutil.which("npm"):
        print("Chromium or npm was not found")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        modules = install(options.modules or root)
        jobs = write_files(root)
        for name in ("page.html", "page.js", "open.mjs", "validate.mjs"):
            shutil.copy(HERE / name, root / name)
        if modules != root:
            (root / "node_modules").symlink_to(modules / "node_modules")
        (root / "jobs.json").write_text(json.dumps(jobs))
        with LoopbackServer(root) as port:
            command = ["node", "open.mjs", options.chromium, f"http://127.0.0.1:{port}/page.html"]
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
            return 2
        return max(report(jobs, json.loads(done.stdout), root), validate(root))


def install(folder: Path) -> Path:
    """Install the npm packages into `folder` unless they are there."""
    folder = folder.resolve()
    if not (folder / "node_modules" / "gltf-validator").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        command = ["npm", "install", "--no-audit", "--no-fund", *PACKAGES]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stderr[-2000:]}\nnpm could not install the packages")
    return folder


def write_files(folder: Path) -> list[dict[str, Any]]:
    """Write GLB for every rig, avatar and VRMA for those that VRM can hold, and our own positions beside them."""
    from mimik.io import gltf, vrm, vrma
    from mimik.io._gltf_humanoid import vrm_bones
    from mimik.motion.sample import sample_clip
    from mimik.rig.builtin import builtin_rig

    jobs: list[dict[str, Any]] = []
    for rig_name in RIGS:
        rig = builtin_rig(rig_name)
        for motion in MOTIONS:
            clip = sample_clip(rig, motion, seconds=3.0, fps=60.0)
            frames = np.linspace(0, clip.frame_count - 1, FRAMES).round().astype(int)
            times = (frames / clip.fps).tolist()
            stem = f"{rig_name}_{motion}"
            gltf.write_clip(clip, folder / f"{stem}.glb")
            np.save(folder / f"{stem}.glb.npy", clip.positions()[frames])
            jobs.append({"kind": "glb", "file": f"{stem}.glb", "times": times, "joints": list(rig.names)})
            if rig_name in AVATARS:
                vrm.write_rig(rig, folder / f"{rig_name}.vrm")
                vrma.write_clip(clip, folder / f"{stem}.vrma")
                bones = {b: j for b, j in vrm_bones(rig).items() if b not in ("leftEye", "rightEye")}
                np.save(folder / f"{stem}.vrma.npy", clip.positions()[frames][:, list(bones.values())])
                avatar = {"kind": "vrma", "file": f"{stem}.vrma", "avatar": f"{rig_name}.vrm"}
                jobs.append({**avatar, "times": times, "joints": list(bones)})
    return jobs


class LoopbackServer:
    """Serve a folder on loopback while the block runs; gives the port."""

    def __init__(self, folder: Path) -> None:
        handler = functools.partial(_Quiet, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> int:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server.server_address[1]

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def report(jobs: list[dict[str, Any]], seen: dict[str, Any], folder: Path) -> int:
    """Print the largest difference of every file; return 1 when one exceeds the limit or lacks a joint."""
    print(f"three.js r{seen['three']}, {seen['browser']}, {FRAMES} frames each, world joint positions")
    print(f"{'file':28} {'joints':>6} {'missing':>7} {'mean mm':>10} {'worst mm':>10}")
    worst = 0.0
    for job in jobs:
        places = np.array(seen["files"][job["file"]], dtype=np.float64)  # null becomes NaN
        away = np.linalg.norm(places - np.load(folder / f"{job['file']}.npy"), axis=-1) * 1000.0
        missing = int(np.isnan(away).any(axis=0).sum())
        worst = max(worst, float(np.nanmax(away)), np.inf if missing else 0.0)
        print(f"{job['file']:28} {away.shape[1]:6} {missing:7} {np.nanmean(away):10.5f} {np.nanmax(away):10.5f}")
    print(f"worst {worst:.5f} mm, limit {LIMIT_MM} mm: {'pass' if worst <= LIMIT_MM else 'FAIL'}")
    return 0 if worst <= LIMIT_MM else 1


def validate(folder: Path) -> int:
    """Print what the Khronos validator says of all files; return 1 when it finds an error."""
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".glb", ".vrm", ".vrma"))
    done = subprocess.run(["node", "validate.mjs", *files], cwd=folder, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(f"glTF validator: {len(files)} files, {found['errors']} errors, {found['warnings']} warnings")
    for message in found["messages"]:
        print(f"  {message}")
    return 1 if found["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
