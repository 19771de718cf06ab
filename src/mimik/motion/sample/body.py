"""The body a sample motion is made for: bone offsets by role, floor points of the feet, and the curves of movement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from mimik._types import Array, ArrayLike
from mimik.errors import RigError
from mimik.rig.rig import Rig
from mimik.rig.role_space import ROLE_INDEX, role_offsets
from mimik.rotation import rotvec_to_quat

LEFT, RIGHT = 0, 1
SIDES = ("left", "right")
_NEEDED = tuple(f"{side}_{part}" for side in SIDES for part in ("hip", "knee", "ankle"))


@dataclass(frozen=True, slots=True, eq=False)
class SampleBody:
    """Measures of a rig that sample motion needs, metres, all from its T-pose.

    offsets   (22, 3) role offsets, see `mimik.rig.role_space.role_offsets`
    leg, arm  hip to ankle, shoulder to wrist
    ankle     height of the ankle over the floor
    heel      (3,) from the ankle to the point of the heel on the floor
    ball      (3,) from the ankle to the toe joint, straight ahead
    width     of the hips, to either side; shoulder_half_width: of the shoulders
    """

    offsets: Array
    leg: float
    arm: float
    ankle: float
    heel: Array
    ball: Array
    width: float
    shoulder_half_width: float

    @classmethod
    def of(cls, rig: Rig) -> SampleBody:
        """Measure a rig. Missing toes are given usual proportions; raises RigError where legs are missing."""
        missing = [r for r in _NEEDED if r not in rig.roles]
        if missing:
            raise RigError(f"sample motion needs a body with legs; rig {rig.name!r} has no {', '.join(missing)}")
        offsets = role_offsets(rig)
        o = {role: offsets[i] for role, i in ROLE_INDEX.items()}
        leg = float(np.linalg.norm(o["left_knee"]) + np.linalg.norm(o["left_ankle"]))
        arm = float(np.linalg.norm(o["left_elbow"]) + np.linalg.norm(o["left_wrist"]))
        height = max(float(sum(o[r][1] for r in ("pelvis", "left_hip", "left_knee", "left_ankle"))), 0.02 * leg)
        toe = o["left_foot"] if o["left_foot"][2] > 0.05 * leg else np.array([0.0, -height, 0.16 * leg])
        heel = np.array([0.0, -height, -0.35 * toe[2]])
        ball, shoulder = toe * [0.0, 1.0, 1.0], abs(float(o["left_collar"][0] + o["left_shoulder"][0]))
        return cls(offsets, leg, arm, height, heel, ball, abs(float(o["left_hip"][0])), shoulder)

    def offset(self, role: str) -> Array:
        """Return the T-pose offset (3,) of a role from its parent role."""
        return self.offsets[ROLE_INDEX[role]]


def ease(t: Array, start: float, end: float) -> Array:
    """Go from 0 at `start` to 1 at `end` with no velocity or acceleration at either (minimum jerk)."""
    u = np.clip((t - start) / max(end - start, 1e-9), 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def keys(t: Array, times: ArrayLike, values: ArrayLike) -> Array:
    """Pass through values (K, ...) at times (K,), resting at each: minimum jerk between neighbours."""
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    result = np.broadcast_to(values[0], (len(t), *values.shape[1:])).copy()
    for k in range(len(times) - 1):
        step = ease(t, times[k], times[k + 1]).reshape(-1, *[1] * (values.ndim - 1))
        result += step * (values[k + 1] - values[k])
    return result


def through(t: Array, times: ArrayLike, values: ArrayLike) -> Array:
    """Pass through values (K, ...) at times (K,) without resting; constant outside."""
    times = np.asarray(times, dtype=np.float64)
    return PchipInterpolator(times, np.asarray(values, dtype=np.float64), axis=0)(np.clip(t, times[0], times[-1]))


def smooth(values: Array, fps: float, seconds: float) -> Array:
    """Smooth along time by a Gaussian of the given standard deviation, ends held."""
    return gaussian_filter1d(values, max(seconds * fps, 1e-3), axis=0, mode="nearest")


def drift(rng: np.random.Generator, frames: int, fps: float, *, seconds: float, size: float) -> Array:
    """Return a slow random wander (T,) of about the given time scale and standard deviation."""
    knots = rng.normal(size=max(4, int(frames / (fps * seconds)) + 4))
    t = np.arange(frames) / (fps * seconds)
    return size * through(t, np.arange(len(knots)) - 1.0, knots)


def turn(axis: str, angle: ArrayLike) -> Array:
    """Return quaternions (..., 4) of turns by `angle` radians about the axis x, y or z."""
    angle = np.asarray(angle, dtype=np.float64)
    vector = np.zeros((*angle.shape, 3))
    vector[..., "xyz".index(axis)] = angle
    return rotvec_to_quat(vector)
