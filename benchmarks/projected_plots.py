"""Draw the box plots of figures 8-10 from the experiment's figures.

python benchmarks/projected_plots.py --results build/projected --out docs/images
"""

import argparse
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

NAMES = {
    "walk:30fps": "walk, every frame",
    "acrobatics:30fps": "acrobatics, every frame",
    "acrobatics:0.7s": "acrobatics, every 0.7 s",
    "acrobatics:1.0s": "acrobatics, every 1.0 s",
    "stretching:1.0s": "stretching, every 1.0 s",
    "walk:30fps:0.1": "walk, goals 10 % out of reach",
}
QUANTITIES = {
    "frame_cm": ("mean effector error of a frame, cm", "error"),
    "frame_ms": ("CPU time of a frame, ms", "time"),
}


def draw(found: list[dict], key: str, label: str, out: Path) -> None:
    """One picture: a panel a case, a box a method, logarithmic."""
    cases = [c for c in NAMES if any(c in f["cases"] for f in found)]
    figure, axes = plt.subplots(2, (len(cases) + 1) // 2, figsize=(15, 11), squeeze=False)
    for axis, case in zip(axes.ravel(), cases, strict=False):
        rows = [(f["method"], np.maximum(f["cases"][case][key], 1e-6)) for f in found if case in f["cases"]]
        rows.sort(key=lambda r: float(np.median(r[1])), reverse=True)
        boxes = axis.boxplot(
            [r[1] for r in rows],
            orientation="horizontal",
            patch_artist=True,
            whis=(1, 99),
            showfliers=False,
            medianprops={"color": "black"},
        )
        for box, row in zip(boxes["boxes"], rows, strict=True):
            ours = row[0].startswith("mimik") and "published" not in row[0]
            box.set_facecolor("#d96b2b" if ours else "#9db4c8")
        axis.set_yticks(range(1, len(rows) + 1), [r[0] for r in rows], fontsize=8)
        axis.set_xscale("log")
        axis.set_title(NAMES[case], fontsize=10)
        axis.set_xlabel(label, fontsize=8)
        axis.grid(axis="x", alpha=0.3)
    for axis in axes.ravel()[len(cases) :]:
        axis.set_visible(False)
    figure.tight_layout()
    figure.savefig(out, dpi=80)
    plt.close(figure)
    print(f"drew {out}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("build/projected"))
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(options.results.glob("*.json"))]
    for key, (label, name) in QUANTITIES.items():
        draw(found, key, label, options.out / f"projected_{name}.png")


if __name__ == "__main__":
    main()
