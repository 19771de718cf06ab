"""Less jitter: zero-phase filters for recorded motion, a causal One-Euro filter for live motion.

Rotations are filtered in the tangent space of their own slow average, so the filter neither depends on quaternion signs
nor shrinks large rotations.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mimik._types import Array, ArrayLike
from mimik.errors import OptionError, one_of
from mimik.goals.keypoints import Keypoints
from mimik.motion._smooth_kernels import low_pass
from mimik.motion.clip import Clip
from mimik.rotation import quat_align, quat_inv, quat_mul, quat_normalize, quat_to_rotvec, rotvec_to_quat

Filter = Literal["butterworth", "savgol"]


def smooth_clip(clip: Clip, cutoff: float = 6.0, *, method: Filter = "butterworth") -> Clip:
    """Return the clip without what is faster than `cutoff` Hz, in rotations and root path, without delay.

    cutoff  6 Hz suits walking, 10 to 12 Hz fast motion. At or above half the frame rate the clip is returned as it is.
    """
    rotations = smooth_rotations(clip.rotations, clip.fps, cutoff, method=method)
    root = smooth_values(clip.root, clip.fps, cutoff, method=method)
    moves = clip.translations
    if moves is not None:
        moves = smooth_values(moves, clip.fps, cutoff, method=method)
    return replace(clip, rotations=rotations, root=root, translations=moves)


def smooth_keypoints(take: Keypoints, cutoff: float = 6.0, *, method: Filter = "butterworth") -> Keypoints:
    """Return the take without what is faster than `cutoff` Hz; each stretch between gaps is filtered alone."""
    positions = np.array(take.positions)
    for k in range(positions.shape[1]):
        seen = np.isfinite(positions[:, k]).all(axis=1)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], seen.astype(np.int8), [0]])))
        for start, end in edges.reshape(-1, 2):
            positions[start:end, k] = smooth_values(positions[start:end, k], take.fps, cutoff, method=method)
    return take.with_positions(positions, f"smoothed below {cutoff:g} Hz")


def smooth_values(values: ArrayLike, fps: float, cutoff: float, *, method: Filter = "butterworth") -> Array:
    """Filter values (T, ...) along time, zero phase: Butterworth of order 2 forward and backward, or Savitzky-Golay.

    Too short series come back as they are. Raises OptionError for a cutoff that is not positive.
    """
    values = np.asarray(values, dtype=np.float64)
    if method not in ("butterworth", "savgol"):
        raise OptionError(one_of("filter", method, ("butterworth", "savgol")))
    if not (np.isfinite(cutoff) and cutoff > 0):
        raise OptionError(f"cutoff is {cutoff} Hz; it must be above 0")
    if cutoff >= 0.5 * fps or len(values) < 4:
        return values.copy()
    if method == "savgol":
        from scipy.signal import savgol_filter  # 35 MB that the other filter does without

        window = 2 * max(2, round(0.62 * fps / cutoff)) + 1
        window = min(window, len(values) - 1 + len(values) % 2)
        return values.copy() if window < 5 else savgol_filter(values, window, 3, axis=0, mode="interp")
    pad = min(len(values) - 1, round(3.0 * fps / cutoff))
    ends = 2.0 * values[0] - values[pad:0:-1], 2.0 * values[-1] - values[-2 : -pad - 2 : -1]
    share = cutoff / (0.8022 * 0.5 * fps) if cutoff < 0.4 * fps else 0.999
    once = _low_pass(np.concatenate([ends[0], values, ends[1]]), share)
    return _low_pass(once[::-1], share)[::-1][pad : pad + len(values)].copy()


def _low_pass(values: Array, share: float) -> Array:
    """Run a Butterworth low pass of order 2 over values (T, ...), at rest at the first; share of half the rate, < 1."""
    out = np.empty(values.shape)
    low_pass(np.ascontiguousarray(values).reshape(len(values), -1), *_butterworth(share), out.reshape(len(values), -1))
    return out


def low_pass_twin(values: Array, share: float) -> Array:
    """Do the same as the compiled filter, frame by frame."""
    b, a1, a2 = _butterworth(share)
    out = np.empty_like(values)
    late = (b - a2) * values[0]
    soon = (2.0 * b - a1) * values[0] + late
    for t, x in enumerate(values):
        y = b * x + soon
        soon = 2.0 * b * x - a1 * y + late
        late = b * x - a2 * y
        out[t] = y
    return out


def _butterworth(share: float) -> tuple[float, float, float]:
    """Return b of the numerator b, 2 b, b and the second and third coefficient of the denominator."""
    k = np.tan(0.5 * np.pi * share)
    scale = 1.0 / (1.0 + np.sqrt(2.0) * k + k * k)
    return k * k * scale, 2.0 * (k * k - 1.0) * scale, (1.0 - np.sqrt(2.0) * k + k * k) * scale


def smooth_rotations(rotations: ArrayLike, fps: float, cutoff: float, *, method: Filter = "butterworth") -> Array:
    """Filter rotations (T, ..., 4) along time, zero phase.

    A first pass on sign-aligned quaternions gives the slow average; the deviation from it, a small rotation vector, is
    filtered properly and put back.
    """
    q = quat_align(np.asarray(rotations, dtype=np.float64))
    base = quat_normalize(smooth_values(q, fps, cutoff, method=method))
    deviation = quat_to_rotvec(quat_mul(quat_inv(base), q))
    return quat_mul(base, rotvec_to_quat(smooth_values(deviation, fps, cutoff, method=method)))


@dataclass(slots=True)
class OneEuro:
    """Causal filter for live values: calm at rest, quick in motion (Casiez, Roussel, Vogel 2012).

    minimum_cutoff  Hz at rest: lower is calmer        speed_gain  Hz of cutoff gained for each unit of speed
    Call it with each new sample (..., D) and the seconds since the last; NaN samples repeat the last good value.
    """

    minimum_cutoff: float = 1.5
    speed_gain: float = 8.0
    speed_cutoff: float = 1.0
    _value: Array | None = field(default=None, init=False)
    _speed: Array | None = field(default=None, init=False)

    def __call__(self, sample: ArrayLike, dt: float) -> Array:
        """Return the filtered value; raises OptionError when time does not go forward."""
        sample = np.asarray(sample, dtype=np.float64)
        if not dt > 0:
            raise OptionError(f"the time step is {dt} s; it must be above 0")
        if self._value is None or self._speed is None:
            self._value, self._speed = sample.copy(), np.zeros_like(sample)
            return self._value.copy()
        last = self._value
        sample = np.where(np.isfinite(sample), sample, last)
        speed = np.where(np.isfinite(last), (sample - last) / dt, 0.0)
        self._speed = self._speed + _gain(self.speed_cutoff, dt) * (speed - self._speed)
        cutoff = self.minimum_cutoff + self.speed_gain * np.linalg.norm(self._speed, axis=-1, keepdims=True)
        value = last + _gain(cutoff, dt) * (sample - last)
        self._value = np.where(np.isfinite(last), value, sample)
        return self._value.copy()

    def reset(self) -> None:
        """Forget what came before."""
        self._value = self._speed = None


@dataclass(slots=True)
class OneEuroRotation:
    """The same for rotations (..., 4): the cutoff follows the angular speed in rad/s."""

    minimum_cutoff: float = 1.5
    speed_gain: float = 1.0
    speed_cutoff: float = 1.0
    _value: Array | None = field(default=None, init=False)
    _speed: Array | None = field(default=None, init=False)

    def __call__(self, sample: ArrayLike, dt: float) -> Array:
        """Return the filtered rotations (..., 4); raises OptionError when time does not go forward."""
        sample = np.asarray(sample, dtype=np.float64)
        if not dt > 0:
            raise OptionError(f"the time step is {dt} s; it must be above 0")
        if self._value is None or self._speed is None:
            self._value, self._speed = sample.copy(), np.zeros((*sample.shape[:-1], 3))
            return self._value.copy()
        sample = np.where(np.isfinite(sample).all(axis=-1, keepdims=True), sample, self._value)
        step = quat_to_rotvec(quat_mul(quat_inv(self._value), sample))
        self._speed = self._speed + _gain(self.speed_cutoff, dt) * (step / dt - self._speed)
        cutoff = self.minimum_cutoff + self.speed_gain * np.linalg.norm(self._speed, axis=-1, keepdims=True)
        self._value = quat_normalize(quat_mul(self._value, rotvec_to_quat(_gain(cutoff, dt) * step)))
        return self._value.copy()

    def reset(self) -> None:
        """Forget what came before."""
        self._value = self._speed = None


def _gain(cutoff: float | Array, dt: float) -> Array:
    """Return the share of the way an exponential filter goes in one step."""
    rate = 2.0 * np.pi * np.asarray(cutoff) * dt
    return rate / (rate + 1.0)
