"""Learning curves: a CSV that is rewritten at every validation, and a picture of it."""

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One validation: training loss since the last one, validation errors, learning rate, seconds since the start."""

    step: int
    loss: float
    mpjae_deg: float
    mpjpe_mm: float
    learning_rate: float
    seconds: float


def write_curve(path: Path, rows: list[CurveRow]) -> None:
    """Write the curve as CSV."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(CurveRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read_curve(path: Path) -> list[CurveRow]:
    """Read a curve written by `write_curve`."""
    with path.open(newline="", encoding="utf-8") as stream:
        return [
            CurveRow(int(row.pop("step")), **{key: float(value) for key, value in row.items()})
            for row in csv.DictReader(stream)
        ]


def draw_curve(source: Path, picture: Path, *, title: str = "") -> bool:
    """Draw loss and validation error over steps as PNG; returns False where Matplotlib is not installed."""
    rows = read_curve(source) if source.exists() else []
    if not rows:
        return False
    lines = {
        "validation MPJAE (degrees)": [row.mpjae_deg for row in rows],
        "validation MPJPE (cm)": [row.mpjpe_mm / 10 for row in rows],
        "training loss (degrees)": [row.loss * 57.2958 for row in rows],
    }
    return draw_lines(picture, [row.step for row in rows], lines, title=title)


def draw_lines(picture: Path, steps: list[int], lines: Mapping[str, list[float]], *, title: str = "") -> bool:
    """Draw lines over steps as PNG, marking the least of the first; returns False where Matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    plot = figure.add_subplot()
    for label, values in lines.items():
        style: dict[str, Any] = {"color": "black", "linestyle": "--"} if "loss" in label else {}
        plot.plot(steps, values, label=label, **style)
    first = next(iter(lines.values()))
    best = min(range(len(steps)), key=first.__getitem__)
    plot.plot(steps[best], first[best], "o", color="tab:red", label=f"best {first[best]:.2f} at {steps[best]}")
    plot.set(xlabel="step", yscale="log", title=title)
    plot.grid(visible=True, which="both", alpha=0.3)
    plot.legend()
    figure.savefig(picture, dpi=110)
    return True
