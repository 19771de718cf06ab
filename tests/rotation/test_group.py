"""Unit quaternions form a group that acts on vectors, for every batch shape and at every angle."""

import numpy as np
import pytest

from mimik.rotation import (
    IDENTITY,
    geodesic,
    identity_quat,
    matrix_to_quat,
    quat_align,
    quat_apply,
    quat_inv,
    quat_mul,
    quat_normalize,
    quat_to_matrix,
    rotvec_to_quat,
)
from tests.builders import SEED, random_quats

SHAPES = [(), (1,), (5,), (2, 3), (4, 1, 2), (0,), (3, 0)]
ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 9.9e-5, 1.01e-4, 1e-2, 1.0, np.pi / 2, 3.0, np.pi - 1e-9, np.pi]


def about(angle: float) -> np.ndarray:
    """Rotations by `angle` about the six axes and eight diagonals, as rotation vectors (14, 3)."""
    axes = [*np.eye(3), *-np.eye(3), *(np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, 8).T / np.sqrt(3.0))]
    return angle * np.array(axes)


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("shape", SHAPES)
def test_group_axioms(shape, rng):
    a, b, c = (random_quats(rng, *shape) for _ in range(3))
    assert quat_mul(a, b).shape == (*shape, 4)
    assert np.allclose(quat_mul(quat_mul(a, b), c), quat_mul(a, quat_mul(b, c)), atol=1e-14)
    assert np.allclose(quat_mul(a, quat_inv(a)), identity_quat(*shape), atol=1e-14)
    assert np.allclose(quat_mul(a, IDENTITY), a) and np.allclose(quat_mul(IDENTITY, a), a)
    assert np.allclose(quat_inv(quat_mul(a, b)), quat_mul(quat_inv(b), quat_inv(a)), atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_action_on_vectors(shape, rng):
    a, b, v = random_quats(rng, *shape), random_quats(rng, *shape), rng.normal(size=(*shape, 3))
    assert np.allclose(quat_apply(quat_mul(a, b), v), quat_apply(a, quat_apply(b, v)), atol=1e-13)
    assert np.allclose(quat_apply(a, v), np.einsum("...ij,...j->...i", quat_to_matrix(a), v), atol=1e-13)
    assert np.allclose(np.linalg.norm(quat_apply(a, v), axis=-1), np.linalg.norm(v, axis=-1))


def test_batches_broadcast(rng):
    a, b = random_quats(rng, 4, 1), random_quats(rng, 3)
    v = rng.normal(size=(5, 1, 1, 3))
    assert quat_mul(a, b).shape == (4, 3, 4)
    assert quat_apply(a, v).shape == (5, 4, 1, 3)
    assert np.allclose(quat_mul(a, b)[2, 1], quat_mul(a[2, 0], b[1]))
    assert np.allclose(quat_apply(a, v)[4, 2, 0], quat_apply(a[2, 0], v[4, 0, 0]))


@pytest.mark.parametrize("shape", SHAPES)
def test_matrices_and_back(shape, rng):
    q = random_quats(rng, *shape)
    matrix = quat_to_matrix(q)
    assert matrix.shape == (*shape, 3, 3)
    assert np.allclose(matrix @ np.swapaxes(matrix, -1, -2), np.eye(3), atol=1e-14)
    assert np.allclose(np.linalg.det(matrix), 1.0)
    assert np.allclose(quat_align(matrix_to_quat(matrix), q), q, atol=1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_matrices_at_every_angle(angle):
    q = rotvec_to_quat(about(angle))
    back = matrix_to_quat(quat_to_matrix(q))
    assert np.allclose(quat_align(back, q), q, atol=1e-15 + 1e-9 * angle)
    assert (geodesic(back, q) < 1e-7).all()


def test_normalize_keeps_unit_bits_and_saves_zero():
    q = random_quats(np.random.default_rng(3), 200)
    assert np.array_equal(quat_normalize(quat_normalize(q)), quat_normalize(q))
    assert np.array_equal(quat_normalize(np.zeros((2, 4))), identity_quat(2))
    assert np.allclose(quat_normalize(7.0 * q), q)
    assert np.array_equal(quat_normalize(IDENTITY), IDENTITY)


def test_align_is_continuous_and_changes_signs_only(rng):
    path = rotvec_to_quat(np.linspace(0.0, 12.0, 200)[:, None] * np.array([0.6, 0.0, 0.8]))
    mixed = path * rng.choice([-1.0, 1.0], size=(200, 1))
    aligned = quat_align(mixed)
    assert np.all(np.sum(aligned[1:] * aligned[:-1], axis=-1) > 0.0)
    assert np.array_equal(np.abs(aligned), np.abs(mixed))
    assert np.array_equal(aligned[0], mixed[0])
    assert np.all(np.sum(quat_align(mixed, path) * path, axis=-1) > 0.0)
    assert quat_align(np.zeros((0, 4))).shape == (0, 4)


def test_inputs_are_left_alone(rng):
    q = random_quats(rng, 6)
    kept = q.copy()
    for function in (quat_align, quat_inv, quat_normalize, quat_to_matrix):
        function(q)
    assert np.array_equal(q, kept)
    with pytest.raises(ValueError, match="read-only"):
        IDENTITY[0] = 1.0
