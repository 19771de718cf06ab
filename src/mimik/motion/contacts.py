"""When the feet stand: contact with the floor from speed and height, with hysteresis, in seconds rather than frames."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mimik._types import Array, BoolArray
from mimik.motion.clip import Clip
from mimik.rig.rig import Rig
from mimik.rig.role_space import tpose_positions
from mimik.rotation import quat_apply, quat_inv, quat_mul

FOOT_ROLES = (("left_ankle", "left_foot"), ("right_ankle", "right_foot"))


@dataclass(frozen=True, slots=True)
class ContactRule:
    """What counts as standing. Speeds in m/s and lengths in metres for a leg of 0.85 m; they scale with the body.

    A point comes into contact when slower than `slow` and lower than `low` over its floor, and leaves when faster than
    `fast` or higher than `high`. Contacts shorter than `shortest` seconds are dropped, gaps shorter than `gap` closed.
    Frames where the point has strayed more than `stray` from where it stood most of the time are not that contact.
    """

    slow: float = 0.15
    fast: float = 0.28
    low: float = 0.045
    high: float = 0.070
    shortest: float = 0.07
    gap: float = 0.05
    stray: float = 0.030


@dataclass(frozen=True, slots=True, eq=False)
class FootContacts:
    """Contacts of the heels and of the toe joints with the floor.

    heel, toe  (T, 2) left, right        floor  height of the floor in metres
    """

    heel: BoolArray
    toe: BoolArray
    floor: float

    @property
    def foot(self) -> BoolArray:
        """(T, 2) some part of the foot stands."""
        return self.heel | self.toe


def clip_contacts(clip: Clip, rule: ContactRule | None = None) -> FootContacts:
    """Find the foot contacts of a clip on level ground. A foot the rig lacks is never in contact."""
    heel, toe = np.zeros((2, clip.frame_count, 2), dtype=bool)
    scale = leg_length(clip.rig) / 0.85
    floors = []
    soles = foot_points(clip)
    for side, points in enumerate(soles):
        for (point, height), found in zip(points, (heel, toe)):
            found[:, side] = point_contacts(point, clip.fps, rule, scale=scale)
            if found[:, side].any():
                stood = float(np.median(point[found[:, side], 1]))
                floors.append((stood - height, int(found[:, side].sum())))
    return FootContacts(heel, toe, _floor(floors, soles))


def standing_heights(clip: Clip, contacts: FootContacts, *, nearly: float = 0.08) -> Array:
    """Return how high (T, 2) over the floor each foot stands, metres: 0 on the floor, more on a step, less below it.

    nearly  metres for a leg of 0.85 m by which a standing foot may miss the floor and still count as on it
    Frames without contact are 0.
    """
    heights = np.zeros((clip.frame_count, 2))
    for side, points in enumerate(foot_points(clip)):
        if points:
            over = np.min([point[:, 1] - height for point, height in points], axis=0) - contacts.floor
            for start, end in intervals(contacts.foot[:, side]):
                stood = float(np.median(over[start:end]))
                heights[start:end, side] = stood if abs(stood) > nearly * leg_length(clip.rig) / 0.85 else 0.0
    return heights


def foot_points(clip: Clip) -> list[list[tuple[Array, float]]]:
    """Return for the left and the right foot its heel and its toe joint: path (T, 3) and height in the T-pose.

    The heel is taken where feet have it: on the floor, behind the ankle by a third of the way to the toes. A foot the
    rig lacks has no points, one without toes only its heel.
    """
    world, standing = clip.world(), tpose_positions(clip.rig)
    soles: list[list[tuple[Array, float]]] = []
    for ankle_role, toe_role in FOOT_ROLES:
        points: list[tuple[Array, float]] = []
        ankle, toe = clip.rig.roles.get(ankle_role), clip.rig.roles.get(toe_role)
        if ankle is not None:
            turned = quat_mul(world.rotations[:, ankle], quat_inv(clip.rig.q_world_tpose[ankle]))
            back = 0.05 * leg_length(clip.rig) if toe is None else 0.35 * (standing[toe, 2] - standing[ankle, 2])
            heel = np.array([0.0, -standing[ankle, 1], -back])
            points.append((world.positions[:, ankle] + quat_apply(turned, heel), 0.0))
        if toe is not None:
            points.append((world.positions[:, toe], float(standing[toe, 1])))
        soles.append(points)
    return soles


def point_contacts(
    points: Array, fps: float, rule: ContactRule | None = None, *, scale: float = 1.0, floor: float | None = None
) -> BoolArray:
    """Say when one point (T, 3) stands on level ground (T,).

    scale  leg length over 0.85 m; floor: height of the point when it stands, found from the motion unless given.
    NaN frames are never contact. The finding does not depend on the frame rate.
    """
    rule = rule or ContactRule()
    seen = np.isfinite(points).all(axis=1)
    if seen.sum() < 2:
        return np.zeros(len(points), dtype=bool)
    frames = np.arange(len(points))
    filled = np.stack([np.interp(frames, frames[seen], points[seen, k]) for k in range(3)], axis=1)
    calm = gaussian_filter1d(filled, _smoothing_seconds(filled, fps, scale) * fps, axis=0, mode="nearest")
    speed = np.linalg.norm(np.gradient(calm, axis=0), axis=1) * fps
    height = calm[:, 1] - (_standing_height(calm[:, 1], speed, rule, scale) if floor is None else floor)
    enter = (speed < rule.slow * scale) & (height < rule.low * scale) & seen
    stay = (speed < rule.fast * scale) & (height < rule.high * scale) & seen
    standing = _hysteresis(enter, stay)
    standing = _close_gaps(standing, round(rule.gap * fps)) & seen
    standing = _near_its_place(calm, standing, enter, rule.stray * scale)
    return _drop_short(standing, max(1, round(rule.shortest * fps)))


def intervals(mask: BoolArray) -> list[tuple[int, int]]:
    """Return the runs of True in a mask (T,) as half-open frame ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def leg_length(rig: Rig) -> float:
    """Return the mean length of the legs in metres, hip to ankle along the bones; 0.85 where the rig lacks them."""
    points, roles, lengths = tpose_positions(rig), rig.roles, []
    for side in ("left", "right"):
        chain = [roles.get(f"{side}_{part}") for part in ("hip", "knee", "ankle")]
        if None not in chain:
            bones = np.diff(points[np.array(chain, dtype=np.int64)], axis=0)
            lengths.append(float(np.linalg.norm(bones, axis=1).sum()))
    return float(np.mean(lengths)) if lengths and np.mean(lengths) > 1e-6 else 0.85


def _floor(floors: list[tuple[float, int]], soles: list[list[tuple[Array, float]]]) -> float:
    """Return the floor's height: the median of the contacts' own, weighted by how long each stands."""
    if not floors:
        heights = [point[:, 1] - height for points in soles for point, height in points]
        return float(np.percentile(np.min(heights, axis=0), 2)) if heights and len(heights[0]) else 0.0
    stood, frames = np.array(floors).T
    order = np.argsort(stood)
    return float(stood[order][np.searchsorted(np.cumsum(frames[order]), 0.5 * frames.sum())])


def _smoothing_seconds(points: Array, fps: float, scale: float) -> float:
    """Choose the smoothing from the noise, which third differences show: 15 ms for clean data, 80 ms at most."""
    if len(points) < 8:
        return 0.015
    third = np.diff(points, n=3, axis=0)
    noise = float(np.median(np.abs(third))) / (0.6745 * np.sqrt(20.0))
    return float(np.clip(0.015 + 8.0 * max(noise / scale - 2e-4 * 60.0 / fps, 0.0), 0.015, 0.080))


def _standing_height(height: Array, speed: Array, rule: ContactRule, scale: float) -> float:
    """Find the height at which the point stands: the lowest well-visited height while it is slow."""
    slow = height[speed < rule.slow * scale]
    if len(slow) < 3:
        return float(np.percentile(height, 1))
    return float(np.median(slow[slow <= np.percentile(slow, 10) + 0.5 * rule.low * scale]))


def _hysteresis(enter: BoolArray, stay: BoolArray) -> BoolArray:
    result = np.zeros_like(enter)
    for start, end in intervals(stay):
        result[start:end] = enter[start:end].any()
    return result


def _close_gaps(mask: BoolArray, longest: int) -> BoolArray:
    result = mask.copy()
    runs = intervals(mask)
    for (_, end), (start, _) in pairwise(runs):
        if start - end <= longest:
            result[end:start] = True
    return result


def _near_its_place(points: Array, mask: BoolArray, enter: BoolArray, stray: float) -> BoolArray:
    """Keep what stands near one place; what lies before and after may stand in other places."""
    near = np.zeros_like(mask)
    waiting = intervals(mask)
    while waiting:
        start, end = waiting.pop()
        if not enter[start:end].any():
            continue
        slow = np.flatnonzero(enter[start:end]) + start
        place = np.median(points[slow], axis=0)
        close = np.linalg.norm(points[start:end] - place, axis=1) <= stray
        if not close.any():
            close[np.linalg.norm(points[start:end] - place, axis=1).argmin()] = True
        first, last = (int(i) for i in np.flatnonzero(close)[[0, -1]])
        near[start:end] |= close
        waiting += [(a, b) for a, b in ((start, start + first), (start + last + 1, end)) if b > a]
    return near


def _drop_short(mask: BoolArray, shortest: int) -> BoolArray:
    result = mask.copy()
    for start, end in intervals(mask):
        if end - start < shortest:
            result[start:end] = False
    return result
