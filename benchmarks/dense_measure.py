"""Errors of one method on one truth, and the tables they are printed in."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from benchmarks.dense_data import Truth
from benchmarks.dense_methods import Method
from rich.console import Console
from rich.table import Table

from mimik._types import Array
from mimik.motion.measures import bone_axes, joint_angle_error, mpjpe, p_mpjpe, swing_twist_error
from mimik.rig.pose import LocalPose

VAGUE = ("neck", "head", "wrist", "foot")
"""Joints (by the end of their role) that places of joints say little about."""


@dataclass(frozen=True, slots=True)
class Score:
    """Errors over the role joints of a rig: degrees against local rotations, millimetres against positions.

    joints  role -> MPJAE; firm, worst_firm  mean and worst of the roles other than neck, head, wrists and feet
    """

    mpjae: float
    firm: float
    worst_firm: float
    swing: float
    twist: float
    mpjpe: float
    p_mpjpe: float
    joints: dict[str, float]
    frames: int
    fps: float

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return asdict(self)


def run(method: Method, truth: Truth, points: Array | None = None, **options: Any) -> Score:
    """Time a method on a truth's positions, or on spoiled ones, and score it."""
    seen = truth.points if points is None else points
    method(seen[:8], truth.rig, **_first(options))
    began = time.perf_counter()
    found = method(seen, truth.rig, **options)
    return score(found, truth, time.perf_counter() - began)


def _first(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value[:8] if isinstance(value, np.ndarray) else value for key, value in options.items()}


def score(found: LocalPose, truth: Truth, seconds: float = np.nan) -> Score:
    """Compare a pose with the truth at the joints that have a role."""
    joints = truth.joints
    got, true = found.rotations[:, joints], truth.pose.rotations[:, joints]
    angle = np.degrees(joint_angle_error(got, true)).mean(axis=0)
    swing, twist = swing_twist_error(got, true, bone_axes(truth.rig)[joints])
    reached, wished = found.positions()[:, joints], truth.pose.positions()[:, joints]
    firm = np.array([not role.endswith(VAGUE) for role in truth.roles])
    return Score(
        mpjae=float(angle.mean()),
        firm=float(angle[firm].mean()),
        worst_firm=float(angle[firm].max()),
        swing=float(np.degrees(swing.mean())),
        twist=float(np.degrees(twist.mean())),
        mpjpe=1000.0 * mpjpe(reached, wished),
        p_mpjpe=1000.0 * p_mpjpe(reached, wished),
        joints=dict(zip(truth.roles, angle.round(4).tolist())),
        frames=len(got),
        fps=len(got) / seconds,
    )


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    """Print one table; numbers with two decimals, large ones as whole numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(head):
        table.add_column(name, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, str) else number(cell) for cell in row))
    console = Console(highlight=False, width=150)
    console.print(table)
    console.print()


def number(value: float) -> str:
    """Write a figure as short as it can be read."""
    if not np.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 200 else f"{value:.2f}"
