"""What `mimik solve` says of a take: size, body, gaps, fit, feet, joints, speed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import RolePoints
from mimik.goals.proportions import BoneFit
from mimik.goals.repair import RepairReport
from mimik.motion.clip import Clip
from mimik.motion.contacts import clip_contacts
from mimik.motion.measures import floor_penetration, foot_slide, limit_hits, twist_jumps
from mimik.rig.proportions import body_height
from mimik.rig.roles import BODY_ROLES


@dataclass(frozen=True, slots=True)
class TakeReport:
    """Figures of one solved take. Lengths in millimetres, slide in cm/s, time in seconds.

    fit_mm_mean, fit_mm_95  distance of the rig's joints from the keypoints as they were solved, gaps filled and
                            smoothed; None where the layout holds no joint centres
    given_mm_mean           the same from the keypoints as given, gaps filled: where they are noisy, mostly their noise
    smoothed_hz             frequency up to which points kept their motion, on average; None where all was kept
    limit_hits              joints beyond their range over all frames; None on a rig without limits
    swapped                 frames in which sides were exchanged, by part of the body
    """

    layout: str
    points: int
    frames: int
    fps: float
    height_m: float
    bones_from_frames: int
    left_right_mm: float
    noise_mm: float
    smoothed_hz: float | None
    points_filled: int
    longest_gap_s: float
    outliers: int
    swapped: dict[str, int]
    never_seen: tuple[str, ...]
    fit_mm_mean: float | None
    fit_mm_95: float | None
    given_mm_mean: float | None
    slide_cm_s: float
    deepest_mm: float
    limit_hits: int | None
    twist_jumps: int
    twists_mended: int
    seconds: float
    frames_are_motion: bool

    def lines(self) -> list[tuple[str, str]]:
        """Return the report as pairs of a word and a sentence."""
        rows = [("take", f"{self.layout}, {self.points} points, {self.frames} frames, {self.fps:g} fps")]
        body = f"height {self.height_m:.2f} m, bones fitted from {self.bones_from_frames} frames"
        rows.append(("body", f"{body}, left and right differ by {self.left_right_mm:.0f} mm"))
        swaps = ", ".join(f"{part} in {count} frames" for part, count in self.swapped.items()) or "none"
        gaps = f"{self.points_filled} points filled, longest {self.longest_gap_s:.2f} s; {self.outliers} outliers"
        rows.append(("gaps", f"{gaps}; swapped sides: {swaps}"))
        if self.never_seen:
            rows.append(("unseen", ", ".join(self.never_seen)))
        noise = f"about {self.noise_mm:.1f} mm"
        smoothing = f"motion kept up to {self.smoothed_hz:.1f} Hz" if self.smoothed_hz else "not smoothed"
        rows.append(("noise", f"{noise}, {smoothing}"))
        if self.fit_mm_mean is not None:
            smoothed = f", to the points as given {self.given_mm_mean:.2f} mm" if self.smoothed_hz else ""
            rows.append(("fit", f"mean {self.fit_mm_mean:.2f} mm, 95% {self.fit_mm_95:.2f} mm{smoothed}"))
        else:
            rows.append(("fit", "none of these points is a joint centre that could be met"))
        slide = f"slide {self.slide_cm_s:.1f} cm/s in contact"
        rows.append(("feet", f"{slide}, deepest {self.deepest_mm:.0f} mm below floor"))
        limits = "no limits on this rig" if self.limit_hits is None else f"{self.limit_hits} limit hits"
        mended = f" ({self.twists_mended} mended)" if self.twists_mended else ""
        rows.append(("joints", f"{limits}, {self.twist_jumps} twist jumps > 30 deg{mended}"))
        real_time = self.frames / self.fps / max(self.seconds, 1e-9)
        each = 1e3 * self.seconds / max(self.frames, 1)
        rows.append(("speed", f"{each:.2f} ms/frame ({real_time:.0f} x real time)"))
        return rows

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name, for JSON."""
        return asdict(self)


def make_report(
    take: Keypoints,
    clip: Clip,
    points: RolePoints,
    fit: BoneFit,
    repaired: RepairReport | None,
    *,
    given: Array,
    noise: float,
    cutoff: float | None,
    twisted: int,
    moving: bool,
) -> TakeReport:
    """Measure a solved take; given (T, 22, 3) are its points by role before they were smoothed."""
    mean, worst = _fit(clip, points)
    given_mean, _ = _fit(clip, replace(points, positions=given))
    contacts = clip_contacts(clip) if clip.frame_count > 2 else None
    sides = [abs(a - b) for a, b in _sides(fit) if np.isfinite(a) and np.isfinite(b)]
    floor = contacts.floor if contacts is not None else 0.0
    return TakeReport(
        layout=take.layout or "named points",
        points=len(take.names),
        frames=clip.frame_count,
        fps=clip.fps,
        height_m=body_height(clip.rig),
        bones_from_frames=int(np.nanmax(fit.frames, initial=0)),
        left_right_mm=1e3 * float(np.mean(sides)) if sides else 0.0,
        noise_mm=1e3 * noise,
        smoothed_hz=cutoff,
        points_filled=0 if repaired is None else repaired.filled_short + repaired.filled_long,
        longest_gap_s=0.0 if repaired is None else float(repaired.longest_gap),
        outliers=0 if repaired is None else repaired.outliers,
        swapped={} if repaired is None else dict(repaired.swapped_frames),
        never_seen=() if repaired is None else repaired.never_seen,
        fit_mm_mean=mean,
        fit_mm_95=worst,
        given_mm_mean=given_mean,
        slide_cm_s=foot_slide(clip, contacts) if contacts is not None else 0.0,
        deepest_mm=1e3 * float(floor_penetration(clip, floor).max(initial=0.0)),
        limit_hits=None if clip.rig.limits is None else int(limit_hits(replace(clip, solution=None)).sum()),
        twist_jumps=len(twist_jumps(clip)) if moving else 0,
        twists_mended=twisted,
        seconds=clip.solution.seconds if clip.solution is not None else 0.0,
        frames_are_motion=moving,
    )


def _fit(clip: Clip, points: RolePoints) -> tuple[float | None, float | None]:
    """Return mean and 95th percentile in mm of joints the layout knows exactly."""
    exact = [i for i, role in enumerate(BODY_ROLES) if role in clip.rig.roles and points.trust[i] >= 1.0]
    if not exact:
        return None, None
    reached = clip.positions()[:, [clip.rig.roles[BODY_ROLES[i]] for i in exact]]
    distance = 1e3 * np.linalg.norm(reached - points.positions[:, exact], axis=2)
    known = distance[np.isfinite(distance)]
    return (float(known.mean()), float(np.percentile(known, 95))) if len(known) else (None, None)


def _sides(fit: BoneFit) -> list[tuple[float, float]]:
    left = [i for i, role in enumerate(BODY_ROLES) if role.startswith("left_")]
    return [(fit.left_right[i], fit.left_right[BODY_ROLES.index("right_" + BODY_ROLES[i][5:])]) for i in left]
