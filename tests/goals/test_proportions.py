"""Bone lengths behind noise: noise at both ends makes bones look longer, the shorter they are the more."""

import numpy as np
import pytest

from mimik.errors import GoalError
from mimik.goals.proportions import fit_bone_lengths
from mimik.rig.roles import BODY_PARENTS

COUNT = 4000


def noisy_body(length, sigma):
    """Return 22 joints in a row, every bone along a way of its own, with noise on each coordinate."""
    rng = np.random.default_rng(3)
    ways = rng.normal(size=(22, 3))
    ways *= length / np.linalg.norm(ways, axis=1, keepdims=True)
    places = np.zeros((22, 3))
    for j in range(1, 22):
        places[j] = places[BODY_PARENTS[j]] + ways[j]
    return places + rng.normal(0.0, sigma, (COUNT, 22, 3))


@pytest.mark.parametrize("length", [0.4, 0.1])
@pytest.mark.parametrize("sigma", [0.0, 0.001, 0.01, 0.04])
def test_lengths_are_those_without_noise(length, sigma):
    fit = fit_bone_lengths(noisy_body(length, sigma))
    assert np.abs(fit.lengths[1:] / length - 1.0).max() < 0.005 + 0.1 * sigma / length
    assert np.isnan(fit.lengths[0])


def test_noise_is_read_off_limbs():
    assert fit_bone_lengths(noisy_body(0.4, 0.01)).noise == pytest.approx(0.01, rel=0.05)


def test_bones_lost_in_noise_have_some_length_and_no_warning():
    with np.errstate(all="raise"):
        lengths = fit_bone_lengths(noisy_body(0.02, 0.05)).lengths[1:]
    assert (lengths > 0.0).all() and (lengths < 0.1).all()


def test_other_shapes_are_refused():
    with pytest.raises(GoalError, match="22"):
        fit_bone_lengths(np.zeros((5, 21, 3)))
