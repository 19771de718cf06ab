"""Distances, means, interpolation, shortest arcs, swing and twist."""

import numpy as np
import pytest

from mimik.rotation import (
    IDENTITY,
    geodesic,
    identity_quat,
    quat_align,
    quat_apply,
    quat_between,
    quat_mean,
    quat_mul,
    quat_slerp,
    rotvec_to_quat,
    swing_twist,
    twist_angle,
)
from tests.builders import SEED, random_quats
from tests.rotation.test_group import ANGLES, SHAPES, about


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("angle", ANGLES)
def test_geodesic_is_the_angle(angle):
    q = rotvec_to_quat(about(angle))
    assert np.allclose(geodesic(q, IDENTITY), angle, rtol=1e-8, atol=1e-150)
    assert np.allclose(geodesic(-q, IDENTITY), angle, rtol=1e-8, atol=1e-150)


@pytest.mark.parametrize("shape", SHAPES)
def test_geodesic_is_a_metric_blind_to_the_frame(shape, rng):
    a, b, c = (random_quats(rng, *shape) for _ in range(3))
    ab = geodesic(a, b)
    assert ab.shape == shape
    assert np.allclose(ab, geodesic(b, a)) and np.allclose(geodesic(quat_mul(c, a), quat_mul(c, b)), ab)
    assert (geodesic(a, c) <= ab + geodesic(b, c) + 1e-12).all()
    assert (geodesic(a, a) < 1e-15).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_slerp_runs_evenly_along_the_short_arc(shape, rng):
    a, b = random_quats(rng, *shape), random_quats(rng, *shape)
    for t in (0.0, 0.25, 0.5, 1.0):
        q = quat_slerp(a, b, np.full(shape, t))
        assert np.allclose(geodesic(a, q), t * geodesic(a, b), atol=1e-7)
        assert np.allclose(geodesic(q, quat_slerp(a, -b, np.full(shape, t))), 0.0, atol=1e-7)
    path = quat_slerp(a[None], b[None], np.linspace(0, 1, 5).reshape(5, *[1] * len(shape)))
    assert path.shape == (5, *shape, 4)


def test_mean_of_a_cluster_is_its_centre(rng):
    centre = random_quats(rng, 3)
    spread = rotvec_to_quat(0.2 * rng.normal(size=(100, 3, 3)))
    both_sides = np.concatenate([spread, spread * [-1.0, -1.0, -1.0, 1.0]])
    signs = rng.choice([-1.0, 1.0], size=(200, 3, 1))
    mean = quat_mean(quat_mul(centre, both_sides) * signs)
    assert mean.shape == (3, 4)
    assert np.allclose(geodesic(mean, centre), 0.0, atol=1e-7)
    swapped = quat_mean(np.swapaxes(quat_mul(centre, both_sides) * signs, 0, 1), axis=1)
    assert np.allclose(quat_align(swapped, mean), mean)


def test_mean_follows_weights(rng):
    q = random_quats(rng, 2, 4)
    assert np.allclose(geodesic(quat_mean(q, [1.0, 0.0]), q[0]), 0.0, atol=1e-7)
    a = rotvec_to_quat([[0.0, 0.0, 0.0], [0.0, 0.4, 0.0]])
    assert np.allclose(quat_mean(a), rotvec_to_quat([0.0, 0.2, 0.0]))
    assert geodesic(quat_mean(a, [3.0, 1.0]), a[0]) < geodesic(quat_mean(a, [1.0, 3.0]), a[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_between_turns_one_onto_the_other(shape, rng):
    a, b = rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 3))
    q = quat_between(a, b)
    assert q.shape == (*shape, 4)
    unit = b / np.linalg.norm(b, axis=-1, keepdims=True)
    assert np.allclose(quat_apply(q, a) / np.linalg.norm(a, axis=-1, keepdims=True), unit, atol=1e-12)
    cosine = np.sum(a * b, axis=-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))
    assert np.allclose(geodesic(q, identity_quat(*shape)), np.arccos(np.clip(cosine, -1, 1)), atol=1e-7)


@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-4])
def test_between_near_opposite_directions(off):
    for a in about(1.0):
        side = np.cross(a, np.roll(a, 1) + np.array([0.1, 0.2, 0.3]))
        b = -a + off * side
        turned = quat_apply(quat_between(a, b), a)
        assert np.allclose(turned, b / np.linalg.norm(b), atol=3e-6)
        assert np.isfinite(turned).all()


def test_between_of_zero_is_identity():
    assert np.array_equal(quat_between([0, 0, 0], [0, 1, 0]), IDENTITY)
    assert np.array_equal(quat_between([0, 1, 0], [0, 0, 0]), IDENTITY)
    assert np.allclose(quat_between([0, 3, 0], [0, 1, 0]), IDENTITY)


@pytest.mark.parametrize("shape", SHAPES)
def test_swing_twist_splits_and_joins(shape, rng):
    q = random_quats(rng, *shape)
    for axis in about(1.0):
        swing, twist = swing_twist(q, axis)
        assert np.allclose(quat_mul(swing, twist), q, atol=1e-13)
        assert np.allclose(quat_apply(twist, axis), axis, atol=1e-13), "the twist leaves its axis"
        assert np.allclose(np.sum(swing[..., :3] * axis, axis=-1), 0.0, atol=1e-13), "the swing does not turn about it"
        assert np.allclose(np.abs(twist_angle(q, axis)), geodesic(twist, IDENTITY), atol=1e-12)


@pytest.mark.parametrize("angle", [a for a in ANGLES if a < np.pi])
def test_twist_angle_is_signed(angle):
    axis = np.array([0.6, 0.0, 0.8])
    for sign in (-1.0, 1.0):
        q = quat_mul(quat_between(axis, [0.3, 0.9, 0.1]), rotvec_to_quat(sign * angle * axis))
        assert twist_angle(q, axis) == pytest.approx(sign * angle, abs=1e-14)
        assert twist_angle(-q, axis) == pytest.approx(sign * angle, abs=1e-14)


def test_half_turn_swing_has_no_twist():
    swing, twist = swing_twist([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    assert np.array_equal(twist, IDENTITY)
    assert np.array_equal(swing, [1.0, 0.0, 0.0, 0.0])
    assert twist_angle([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0]) == 0.0
