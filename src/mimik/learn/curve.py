"""Learning curves: a CSV that is rewritten at every validation, and a picture of it."""

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path


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
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return False
    rows = read_curve(source) if source.exists() else []
    if not rows:
        return False
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    errors = figure.add_subplot()
    steps = [row.step for row in rows]
    errors.plot(steps, [row.mpjae_deg for row in rows], color="tab:blue", label="validation MPJAE (degrees)")
    errors.plot(steps, [row.mpjpe_mm / 10 for row in rows], color="tab:green", label="validation MPJPE (cm)")
    errors.plot(steps, [row.loss * 57.2958 for row in rows], color="tab:grey", label="training loss (degrees)")
    best = min(rows, key=lambda row: row.mpjae_deg)
    errors.plot(best.step, best.mpjae_deg, "o", color="tab:red", label=f"best {best.mpjae_deg:.2f} at {best.step}")
    errors.set(xlabel="step", yscale="log", title=title)
    errors.grid(visible=True, which="both", alpha=0.3)
    errors.legend()
    figure.savefig(picture, dpi=110)
    return True
