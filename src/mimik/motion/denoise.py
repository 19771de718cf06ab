"""Noise taken out of keypoints by how much of it there is: each point, moment and pace of motion as far as it needs.

The bones of a body keep their lengths, so what a take's bones change in a band of frequencies is noise of that band.
A point moves in a band as far as it does more there than this noise; what does not stand out is left out (Wiener's
filter, band by band, with the power around each moment). Fast hits stay sharp while the rest of the body stays calm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mimik._types import Array
from mimik.motion.smooth import smooth_values

EDGES = (0.8, 1.1, 1.5, 2.2, 3.2, 4.6, 6.6, 9.5)
"""Hz between the bands: what is slower than the first stays, what is faster than the last is one band."""

STANDS_OUT = 3.0
"""A band is kept where its power is well above this many times that of noise; below, it is left out."""

_AROUND = 0.6  # periods of a band's lower edge over which its power is averaged, to either side
_HIGHEST = 0.45  # of the frame rate: edges above are no use
_FEWEST_FRAMES = 15
_NORMAL = 0.6745  # median size of a normal variable in standard deviations


def band_edges(fps: float) -> tuple[float, ...]:
    """Return the edges in Hz that a take of this frame rate can tell apart."""
    return tuple(edge for edge in EDGES if edge < _HIGHEST * fps)


def band_noise(positions: Array, bones: Sequence[tuple[int, int]], fps: float) -> Array:
    """Return the standard deviation (B,) in metres of a coordinate's noise in each band above the first edge.

    positions (T, K, 3), bones pairs of points that keep their distance. NaN where no bone is seen in every frame.
    """
    edges = band_edges(fps)
    found = []
    for a, b in bones:
        length = np.linalg.norm(positions[:, a] - positions[:, b], axis=1)
        if np.isfinite(length).all() and len(length) >= _FEWEST_FRAMES:
            found.append([np.median(np.abs(band)) / _NORMAL for band in _bands(length, fps, edges)[1:]])
    return np.median(found, axis=0) / np.sqrt(2.0) if found else np.full(len(edges), np.nan)


def white_noise(noise: float, fps: float) -> Array:
    """Return the same (B,) for noise of one strength at all frequencies, `noise` metres in all."""
    upper = np.array([*band_edges(fps), 0.5 * fps])
    return np.asarray(noise * np.sqrt(np.diff(upper) / (0.5 * fps)))


def denoise(positions: Array, fps: float, noise: Array) -> tuple[Array, float]:
    """Return points (T, K, 3) without noise of so much in each band (B,), and how fast the motion is that was kept.

    The latter is the mean frequency in Hz up to which points kept their motion. Points that miss in some frame come
    back as they are, as do takes of a few frames.
    """
    out, kept = np.array(positions), []
    edges = band_edges(fps)
    if len(out) < _FEWEST_FRAMES or not edges:
        return out, 0.5 * fps
    widths = np.diff([*edges, 0.5 * fps])
    for k in range(out.shape[1]):
        if np.isfinite(out[:, k]).all():
            slow, *bands = _bands(out[:, k], fps, edges)
            gains = [_gain(band, s, fps, edge) for band, s, edge in zip(bands, noise, edges)]
            out[:, k] = slow + np.sum([g[:, None] * band for g, band in zip(gains, bands)], axis=0)
            kept.append(edges[0] + sum(w * g.mean() for w, g in zip(widths, gains)))
    return out, float(np.mean(kept)) if kept else 0.5 * fps


def _bands(values: Array, fps: float, edges: Sequence[float]) -> list[Array]:
    """Split values (T, ...) at the edges; the parts sum to the whole."""
    lows = [smooth_values(values, fps, edge) for edge in edges] + [values]
    return [lows[0], *(above - below for below, above in pairwise(lows))]


def _gain(band: Array, noise: float, fps: float, edge: float) -> Array:
    """Return the share (T,) of a point's band (T, 3) that is kept, from its mean power around each frame."""
    power = gaussian_filter1d((band**2).mean(axis=1), _AROUND * fps / edge, mode="nearest")
    return np.maximum(0.0, 1.0 - STANDS_OUT * noise**2 / np.maximum(power, 1e-18))
