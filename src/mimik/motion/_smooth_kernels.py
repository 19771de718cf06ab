"""Compiled low pass of `smooth`; `smooth.low_pass_twin` is the same in plain NumPy."""

from __future__ import annotations

import numba as nb

from mimik._types import Array


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def low_pass(
    values: Array,  # (T, N)
    b: float,  # first coefficient of the numerator, which is b, 2 b, b
    a1: float,  # second and third of the denominator
    a2: float,
    out: Array,  # out (T, N)
) -> None:
    """Run a recursive filter of order 2 down each column, at rest at its first value."""
    frames, columns = values.shape
    for n in range(columns):
        late = (b - a2) * values[0, n]
        soon = (2.0 * b - a1) * values[0, n] + late
        for t in range(frames):
            x = values[t, n]
            y = b * x + soon
            soon = 2.0 * b * x - a1 * y + late
            late = b * x - a2 * y
            out[t, n] = y
