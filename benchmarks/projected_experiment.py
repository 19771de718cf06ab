"""The paper's experiment on real motion: every method on the same figure, limits, clips and goals, in one run.

    python benchmarks/projected_experiment.py --out results            # what is installed here
    python benchmarks/projected_experiment.py --only blender --out results   # from another environment, same folder

Time is CPU time of one thread around the solve alone. Each run writes its figures as JSON; the table is made of all.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
from benchmarks.projected import data as experiment  # noqa: E402
from benchmarks.projected.baselines import baselines  # noqa: E402
from benchmarks.projected.methods import Method, Stand, ours  # noqa: E402
from benchmarks.projected.peers import peers  # noqa: E402

from mimik.rig.pose import LocalPose  # noqa: E402
from mimik.rotation import quat_inv, quat_mul, quat_to_rotvec  # noqa: E402

CASES = ("walk:30fps", "acrobatics:30fps", "acrobatics:0.7s", "acrobatics:1.0s", "stretching:1.0s", "walk:30fps:0.1")
SAMPLINGS = {"30fps": 1.0 / 30.0, "0.7s": 0.7, "1.0s": 1.0}


def cases(folder: Path, wanted: list[str], frames: int, starts: int) -> list[dict]:
    """Clip, sampling and reach of each case, with frames to solve."""
    found = []
    for text in wanted:
        clip, sampling, *reach = text.split(":")
        motion = experiment.load_motion(experiment.CLIPS[clip], folder)
        seconds = SAMPLINGS[sampling]
        first = np.linspace(0, seconds * motion.fps, starts if seconds > 0.1 else 1, endpoint=False).astype(int)
        found.append(
            {
                "case": text,
                "motion": motion,
                "seconds": seconds,
                "frames": [experiment.sampled(motion, seconds, int(s))[: frames + 1] for s in first],
                "outward": float(reach[0]) if reach else 0.0,
            }
        )
    return found


def run_case(method: Method, figure: experiment.Figure, case: dict) -> dict:
    """Follow one case from all its starts; returns figures and, per frame, errors and times."""
    rig, motion = case["motion"].rig, case["motion"]
    errors, times, stands, gaps, excess, per_start, smooth, jitter = [], [], [], [], 0.0, [], [], []
    for frames in case["frames"]:
        truth = LocalPose(rig.skeleton, motion.rotations[frames], motion.root[frames]).positions()
        hinges = motion.angles(figure.orders)[frames].reshape(len(frames), -1)
        targets = truth[:, method.joints]
        targets = targets + case["outward"] * (targets - targets[:, 4:5])
        first = Stand(motion.root[frames[0]], motion.rotations[frames[0], 0], hinges[0])
        method.reset(first)
        method.solve(targets[1])  # the first call may compile or allocate
        method.reset(first)
        poses = []
        for t in range(1, len(frames)):
            began = method.clock()
            method.solve(targets[t])
            times.append((method.clock() - began) * 1e-6)
            stands.append(method.stand())
            poses.append(stands[-1].pose(rig, figure))
            low, high = figure.low.ravel(), figure.high.ravel()
            excess = max(excess, float((low - stands[-1].hinges).max()), float((stands[-1].hinges - high).max()))
        rotations = np.stack([p.rotations for p in poses])
        positions = LocalPose(rig.skeleton, rotations, np.stack([p.root for p in poses])).positions()
        miss = np.linalg.norm(positions[:, method.joints] - targets[1:], axis=-1)
        errors.append(miss)
        per_start.append(float(miss.mean() * 100))
        between = [j for j in range(rig.joint_count) if j not in method.joints]
        gaps.append(np.linalg.norm(positions - truth[1:], axis=-1)[:, between].mean())
        if len(frames) > 3:
            turn = quat_to_rotvec(quat_mul(quat_inv(rotations[:-1]), rotations[1:])) / case["seconds"]
            smooth.append(np.linalg.norm(np.diff(turn, axis=0) / case["seconds"], axis=-1).mean())
            jitter.append(np.linalg.norm(np.diff(positions, 3, axis=0), axis=-1).mean() / case["seconds"] ** 3)
    miss, time_ms = np.concatenate(errors) * 100.0, np.array(times)
    return {
        "mean_cm": float(miss.mean()),
        "worst_cm": float(miss.max()),
        "off_1cm": float((miss.max(axis=1) > 1.0).mean()),
        "starts_cm": per_start,
        "square_cm2": [float(s) for s in (miss**2).sum(axis=1)],
        "frame_cm": [float(e) for e in miss.mean(axis=1)],
        "frame_ms": [float(t) for t in time_ms],
        "median_ms": float(np.median(time_ms)),
        "mean_ms": float(time_ms.mean()),
        "p99_ms": float(np.percentile(time_ms, 99)),
        "between_cm": float(np.mean(gaps) * 100),
        "angular_acceleration": float(np.mean(smooth)) if smooth else 0.0,
        "jerk": float(np.mean(jitter)) if jitter else 0.0,
        "limit_excess_deg": float(np.rad2deg(max(0.0, excess))),
    }


def table(out: Path) -> str:
    """Markdown tables of all figures found in the folder, a case each."""
    found = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(out.glob("*.json"))]
    lines = []
    for case in dict.fromkeys(c for f in found for c in f["cases"]):
        rows = sorted(
            ((f["method"], f["cases"][case]) for f in found if case in f["cases"]), key=lambda r: r[1]["mean_cm"]
        )
        head = ["method", "mean cm", "worst cm", "off > 1 cm", "median ms", "p99 ms", "between cm", "rad/s²"]
        head += ["jerk m/s³", "beyond limits °"]
        best = np.min([r["square_cm2"] for _, r in rows], axis=0)
        sparse, outward = not case.split(":")[1].startswith("30fps"), case.count(":") == 2
        head += ["range of starts cm"] * sparse + ["square error / best: median, worst"] * outward
        lines += ["", f"**{case}**", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for name, r in rows:
            cells = [name, f"{r['mean_cm']:.4f}", f"{r['worst_cm']:.3f}", f"{100 * r['off_1cm']:.1f} %"]
            cells += [f"{r['median_ms']:.3f}", f"{r['p99_ms']:.3f}", f"{r['between_cm']:.2f}"]
            cells += [f"{r['angular_acceleration']:.2f}", f"{r['jerk']:.0f}", f"{r['limit_excess_deg']:.2g}"]
            if sparse:
                cells.append(f"{min(r['starts_cm']):.3f}-{max(r['starts_cm']):.3f}")
            if outward:
                ratio = np.array(r["square_cm2"]) / best
                cells.append(f"{np.median(ratio):.3f}, {ratio.max():.2f}")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=experiment.data_folder())
    parser.add_argument("--out", type=Path, default=Path("build/projected"))
    parser.add_argument("--frames", type=int, default=150, help="frames of each start")
    parser.add_argument("--starts", type=int, default=6, help="starting frames of sparse samplings")
    parser.add_argument("--only", nargs="*", help="parts of method names to run")
    parser.add_argument("--cases", nargs="*", default=list(CASES), help="clip:sampling[:share pushed outward]")
    parser.add_argument(
        "--table", action="store_true", help="print the table of figures found in the folder, run nothing"
    )
    options = parser.parse_args()
    if options.table:
        print(table(options.out))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    found, missing = peers()
    methods = {**ours(), **baselines(), **found}
    if options.only:
        methods = {n: m for n, m in methods.items() if any(o.lower() in n.lower() for o in options.only)}
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one thread, CPU time")
    print(f"not installed: {', '.join(missing) or 'none'}")
    tests = cases(options.data, options.cases, options.frames, options.starts)
    motions = [experiment.load_motion(c, options.data) for c in experiment.CLIPS.values()]
    figure = experiment.make_figure(options.data, motions)
    for name, make in methods.items():
        results = {}
        for case in tests:
            results[case["case"]] = run_case(make(case["motion"].rig, figure), figure, case)
            r = results[case["case"]]
            print(f"{name:28s} {case['case']:18s} {r['mean_cm']:.4f} cm {r['median_ms']:.3f} ms", flush=True)
        path = options.out / f"{''.join(c if c.isalnum() else '_' for c in name)}.json"
        path.write_text(json.dumps({"method": name, "cases": results}), encoding="utf-8")
    print(table(options.out))


if __name__ == "__main__":
    main()
