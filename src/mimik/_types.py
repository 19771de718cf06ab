"""Array types used throughout: float64 values, int64 indices, booleans."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ArrayLike: TypeAlias = npt.ArrayLike


def frozen_array(values: npt.ArrayLike) -> Array:
    """Return a read-only float64 copy of `values`; an array that nobody can write any more is shared, not copied."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and _is_settled(values):
        return values
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _is_settled(values: npt.NDArray[np.float64]) -> bool:
    return values.base is None and values.flags.c_contiguous and not values.flags.writeable


def frozen_indices(values: npt.ArrayLike) -> IntArray:
    """Return a read-only int64 copy of `values`."""
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array
