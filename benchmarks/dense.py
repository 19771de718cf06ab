"""How well the dense methods pose a body from joint positions: accuracy, noise, missing joints, rigs, foreign files.

    python benchmarks/dense.py [--data FOLDER_OR_PACK] [--train FOLDER_OR_PACK] [--mlp best.pt] [--transformer best.pt]

Test subjects of the corpus at 30 frames a second on built-in rigs, centres of joints only. `--only` chooses tables,
`--frames 0` takes every frame, `--json` writes the figures. Speed has its own command, `benchmarks/dense_speed.py`.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchmarks.dense_data import (
    TestPoses,
    Truth,
    data_path,
    load_poses,
    named_joints,
    noisy,
    posed,
    random_joints,
    truth_of,
    without,
)
from benchmarks.dense_measure import Score, print_table, run
from benchmarks.dense_methods import CHAIN, DEFAULT, FITTING, GEOMETRY, IKGAT, PROJECTED, SLOW, Method, all_methods
from benchmarks.dense_speed import hardware
from benchmarks.dense_takes import ARM, FEET, layout_scores, take_scores, twist_jumps_of

from mimik.errors import FileError, MimikError
from mimik.io import load_clip
from mimik.motion.clip import Clip
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import geodesic, quat_inv, quat_mean, quat_mul
from mimik.solve.dense.layout import LEAVES, USUAL_LEAVES

RUNS, RUN_FRAMES = 6, 20
NOISE_MM = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0)
FOREIGN = ("smpl_dance.bvh", "game_bow.bvh", "game_kick.bvh", "game_wave.bvh")
BESIDE = (DEFAULT, IKGAT, CHAIN, GEOMETRY)
"""Methods compared on other rigs."""
Figures = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """What all tables share."""

    poses: TestPoses
    methods: dict[str, Method]
    foreign: Path
    frames: int

    @cached_property
    def truth(self) -> Truth:
        """The poses on `humanoid`."""
        return posed(builtin_rig("humanoid"), self.poses.thinned(self.frames))

    @cached_property
    def fast(self) -> dict[str, Method]:
        """Methods that run on every frame."""
        return {name: method for name, method in self.methods.items() if name not in SLOW}


def accuracy(bench: Bench) -> Figures:
    """All methods on clean positions; then the slow ones on short runs of frames, the default beside them."""
    scores = {name: run(method, bench.truth) for name, method in bench.fast.items()}
    scores["default, landmarks"] = run(bench.fast[DEFAULT], bench.truth, landmarks=bench.truth.landmarks)
    print_scores(f"humanoid, {len(bench.truth.points):,} test frames, joint centres, clean", scores)
    print_joints(scores)
    return {name: value.as_dict() for name, value in scores.items()}


def slow(bench: Bench) -> Figures:
    """Per-frame optimisation and goal solving on a few short runs of consecutive frames."""
    starts = np.linspace(0, len(bench.poses) - RUN_FRAMES, RUNS).astype(int)
    frames = np.concatenate([np.arange(s, s + RUN_FRAMES) for s in starts])
    truth = posed(builtin_rig("humanoid"), bench.poses.take(frames))
    names = [name for name in (DEFAULT, FITTING, PROJECTED) if name in bench.methods]
    scores = {
        name: run(in_runs(bench.methods[name]) if name == PROJECTED else bench.methods[name], truth) for name in names
    }
    print_scores(f"optimisers, {RUNS} runs of {RUN_FRAMES} frames, clean", scores)
    return {name: value.as_dict() for name, value in scores.items()}


def in_runs(method: Method) -> Method:
    """Let a method that follows a path begin anew with each run of frames."""

    def solve(points: np.ndarray, rig: Any, **options: Any) -> Any:
        parts = [method(points[i : i + RUN_FRAMES], rig) for i in range(0, len(points), RUN_FRAMES)]
        rotations, root = (np.concatenate([getattr(p, name) for p in parts]) for name in ("rotations", "root"))
        return type(parts[0])(rig.skeleton, rotations, root)

    return solve


def bounds(bench: Bench) -> Figures:
    """What is knowable of head, wrists and toes: a constant, and an oracle that knows each subject's own mean."""
    poses = bench.poses.thinned(bench.frames)
    figures: Figures = {}
    for leaf, usual in zip(LEAVES, USUAL_LEAVES):
        local = quat_mul(quat_inv(poses.rotations[:, BODY_PARENTS[leaf]]), poses.rotations[:, leaf])
        oracle = np.empty(len(local))
        for subject in np.unique(poses.subject):
            own = poses.subject == subject
            oracle[own] = geodesic(quat_mean(local[own]), local[own])
        constant = geodesic(np.array(usual), local)
        figures[BODY_ROLES[leaf]] = {
            "training mean": float(np.degrees(constant.mean())),
            "oracle": float(np.degrees(oracle.mean())),
        }
    rows = [[role, *figure.values()] for role, figure in figures.items()]
    totals = [sum(f[kind] for f in figures.values()) / len(BODY_ROLES) for kind in ("training mean", "oracle")]
    rows.append(["MPJAE if all other joints were exact", *totals])
    figures["mpjae"] = dict(zip(("training mean", "oracle"), totals))
    print_table("what joint centres do not tell: degrees", ["joint", "training mean", "subject's own mean"], rows)
    return figures


def noise(bench: Bench) -> Figures:
    """Single frames under noise: MPJAE of every method, noise told to those that listen."""
    figures: Figures = {}
    for name, method in bench.fast.items():
        figures[name] = {
            mm: run(method, bench.truth, noisy(bench.truth.points, mm / 1000), noise=mm / 1000).as_dict()
            for mm in NOISE_MM
        }
    figures["default, noise untold"] = {
        mm: run(bench.fast[DEFAULT], bench.truth, noisy(bench.truth.points, mm / 1000)).as_dict() for mm in NOISE_MM
    }
    for measure, unit in (("mpjae", "degrees"), ("mpjpe", "mm")):
        rows = [[name, *(figures[name][mm][measure] for mm in NOISE_MM)] for name in figures]
        print_table(
            f"noise, single frames: {measure.upper()} in {unit}", ["method", *(f"{mm:g} mm" for mm in NOISE_MM)], rows
        )
    return figures


def missing(bench: Bench) -> Figures:
    """Single frames without some joints; all 22 joints count in the error."""
    frames = len(bench.truth.points)
    cases = {"none": random_joints(frames, 0)}
    cases |= {f"{count} random": random_joints(frames, count) for count in (1, 2, 4)}
    cases |= {"left arm": named_joints(frames, ARM), "both feet": named_joints(frames, FEET)}
    figures: Figures = {}
    for name in (DEFAULT, GEOMETRY):
        method = bench.fast[name]
        figures[name] = {
            case: run(method, bench.truth, without(bench.truth.points, gone)).as_dict() for case, gone in cases.items()
        }
    for measure, unit in (("mpjae", "degrees"), ("mpjpe", "mm")):
        rows = [[name, *(figures[name][case][measure] for case in cases)] for name in figures]
        print_table(f"missing joints, single frames: {measure.upper()} in {unit}", ["method", *cases], rows)
    return figures


def takes(bench: Bench) -> Figures:
    """Whole takes through `mimik.solve`, which estimates noise, smooths and fills gaps."""
    scores = take_scores(bench.poses)
    frames = next(iter(scores.values())).frames
    print_scores(f"takes through mimik.solve, {frames:,} frames", scores)
    return {name: value.as_dict() for name, value in scores.items()}


def twist(bench: Bench) -> Figures:
    """Twist jumps above 30 degrees between frames of whole test clips, where the motion itself has none."""
    figures = {f"{mm:g} mm": twist_jumps_of(bench.poses, mm) for mm in (0.0, 10.0)}
    print(f"twist jumps that the motion does not have, {len(bench.poses):,} frames in all clips")
    for noise_level, jumps in figures.items():
        print(f"  noise {noise_level}: {sum(jumps.values())}  {jumps or ''}")
    print()
    return figures


def layouts(bench: Bench) -> Figures:
    """Takes from the points of common trackers: no spine joints, joints only near, noise that lasts."""
    figures = layout_scores(bench.poses)
    rows = [[name, *row.values()] for name, row in figures.items()]
    print_table("trackers' points through mimik.solve: MPJAE in degrees", ["layout", *figures["coco17"]], rows)
    return figures


def rigs(bench: Bench) -> Figures:
    """The same weights on every built-in rig, extra spine, neck and twist joints of the truth rigid."""
    figures: Figures = {}
    for name in BUILTIN_RIGS:
        truth = posed(builtin_rig(name), bench.poses.thinned(bench.frames))
        figures[name] = {m: run(bench.fast[m], truth).as_dict() for m in BESIDE}
    print_rigs("other rigs, same weights", figures)
    return figures


def foreign(bench: Bench) -> Figures:
    """Files of other programs: positions of their role joints in, their local rotations compared."""
    figures: Figures = {}
    for name in FOREIGN:
        clip: Clip = load_clip(bench.foreign / name)
        truth = truth_of(clip.rig, clip.pose())
        figures[name] = {m: run(bench.fast[m], truth).as_dict() for m in BESIDE}
    print_rigs("foreign files, same weights", figures)
    return figures


TABLES = {
    "accuracy": accuracy, "bounds": bounds, "noise": noise, "missing": missing, "takes": takes, "twist": twist,
    "layouts": layouts, "rigs": rigs, "foreign": foreign, "slow": slow,
}  # fmt: skip


def print_scores(title: str, scores: dict[str, Score]) -> None:
    """Print one row of figures a method."""
    head = ["method", "MPJAE deg", "firm joints", "worst firm", "swing", "twist", "MPJPE mm", "P-MPJPE mm", "frames/s"]
    rows = [
        [name, s.mpjae, s.firm, s.worst_firm, s.swing, s.twist, s.mpjpe, s.p_mpjpe, s.fps] for name, s in scores.items()
    ]
    print_table(title, head, rows)


def print_joints(scores: dict[str, Score]) -> None:
    """Print the error of every joint, a column a method."""
    rows = [[role, *(s.joints[role] for s in scores.values())] for role in BODY_ROLES]
    print_table("by joint: degrees", ["joint", *scores], rows)


def print_rigs(title: str, figures: Figures) -> None:
    """Print MPJAE and MPJPE of several methods, a row a rig."""
    head = ["rig", *(f"{name}\n{unit}" for name in BESIDE for unit in ("deg", "mm"))]
    rows = [[rig, *(row[name][m] for name in BESIDE for m in ("mpjae", "mpjpe"))] for rig, row in figures.items()]
    print_table(title, head, rows)


def main() -> int:
    """Measure the tables asked for, print them, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=data_path(), help="folder of cmu_test_*.npz, or a pack")
    parser.add_argument("--train", type=Path, help="pack or folder the pose prior of the fitting is measured on")
    parser.add_argument("--foreign", type=Path, default=data_path() / "foreign", help="folder of foreign files")
    parser.add_argument("--mlp", type=Path, help="best.pt of dense_baselines.py")
    parser.add_argument("--transformer", type=Path, help="best.pt of dense_baselines.py")
    parser.add_argument("--frames", type=int, default=2000, help="test frames, spread evenly; 0 for all")
    parser.add_argument("--quick", action="store_true", help="500 frames, without the optimisers")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    began = time.perf_counter()
    tables = [name for name in given.only if not (given.quick and name == "slow")]
    try:
        train_path = given.train or (given.data if given.data.is_dir() else None)
        train = load_poses(train_path, "train", step=20) if train_path and "slow" in tables else None
        bench = Bench(
            load_poses(given.data), all_methods(given.mlp, given.transformer, train), given.foreign,
            500 if given.quick else given.frames,
        )  # fmt: skip
        if not given.foreign.is_dir() and "foreign" in tables:
            raise FileError(given.foreign, "no such folder; name the foreign files with --foreign")
        print(hardware() + "\n")
        figures = {name: TABLES[name](bench) for name in tables}
    except MimikError as error:
        print(f"error  {error}", file=sys.stderr)
        return 1
    print(f"{time.perf_counter() - began:.0f} s in all")
    if given.json:
        report = {"hardware": hardware(), "frames": len(bench.truth.points), "seed": 0, **figures}
        given.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
        print(f"wrote  {given.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
