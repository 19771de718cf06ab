"""Exponential map, Euler angles, 6D and best rotations: exact where they are easy to get wrong."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mimik.rotation import (
    euler_to_quat,
    geodesic,
    identity_quat,
    matrix_to_sixd,
    procrustes,
    quat_align,
    quat_apply,
    quat_exp,
    quat_log,
    quat_to_euler,
    quat_to_matrix,
    quat_to_rotvec,
    rotvec_to_quat,
    sixd_to_matrix,
)
from tests.builders import SEED, random_quats
from tests.rotation.test_group import ANGLES, SHAPES, about

ORDERS = ["".join(order) for order in itertools.permutations("XYZ")] + [
    a + b + a for a, b in itertools.permutations("XYZ", 2)
]


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp(angle):
    vectors = about(angle)
    back = quat_to_rotvec(rotvec_to_quat(vectors))
    if angle == np.pi:  # both ends of the half turn are the same rotation
        back *= np.where(np.sum(back * vectors, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    assert np.allclose(back, vectors, rtol=1e-8, atol=0.0 if angle < 1e-3 else 1e-9)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_agrees_with_scipy(angle):
    assert np.allclose(quat_exp(about(angle)), Rotation.from_rotvec(about(angle)).as_quat(), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("shape", SHAPES)
def test_log_is_the_short_way_round(shape):
    q = random_quats(np.random.default_rng(SEED), *shape)
    vector = quat_log(q)
    assert vector.shape == (*shape, 3)
    assert (np.linalg.norm(vector, axis=-1) <= np.pi + 1e-15).all()
    assert np.allclose(quat_log(-q), vector)
    assert np.allclose(quat_align(quat_exp(vector), q), q)


def test_long_vectors_wrap():
    axis = np.array([0.0, 0.6, 0.8])
    assert np.allclose(quat_to_rotvec(rotvec_to_quat((2 * np.pi + 0.3) * axis)), 0.3 * axis)
    assert np.allclose(quat_to_rotvec(rotvec_to_quat((np.pi + 0.1) * axis)), -(np.pi - 0.1) * axis)


@pytest.mark.parametrize("order", ORDERS)
def test_every_euler_order_is_scipys_intrinsic(order):
    angles = np.random.default_rng(SEED).uniform(-np.pi, np.pi, size=(200, 3))
    q = euler_to_quat(angles, order)
    assert np.allclose(quat_align(q, Rotation.from_euler(order, angles).as_quat()), q, atol=1e-14)
    assert (geodesic(euler_to_quat(quat_to_euler(q, order), order), q) < 1e-7).all()
    assert np.allclose(euler_to_quat(np.degrees(angles), order.lower(), degrees=True), q)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("near", [0.0, 1e-12, 1e-9, 1e-7, 1e-5])
def test_gimbal_lock_keeps_the_rotation(order, near):
    first, third = np.random.default_rng(SEED).uniform(-3.0, 3.0, size=(2, 40))
    locks = [0.0, np.pi] if order[0] == order[2] else [np.pi / 2, -np.pi / 2]
    for lock, side in itertools.product(locks, (-1.0, 1.0)):
        q = euler_to_quat(np.stack([first, np.full(40, lock + side * near), third], axis=-1), order)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            angles = quat_to_euler(q, order)
        assert np.isfinite(angles).all()
        assert (geodesic(euler_to_quat(angles, order), q) < 3e-7).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_euler_of_any_batch(shape):
    q = random_quats(np.random.default_rng(SEED), *shape)
    assert quat_to_euler(q, "ZXY").shape == (*shape, 3)
    assert euler_to_quat(np.zeros((*shape, 3)), "ZXY").shape == (*shape, 4)


@pytest.mark.parametrize("shape", SHAPES)
def test_sixd_and_back(shape):
    matrix = quat_to_matrix(random_quats(np.random.default_rng(SEED), *shape))
    sixd = matrix_to_sixd(matrix)
    assert sixd.shape == (*shape, 6)
    assert np.allclose(sixd_to_matrix(sixd), matrix, atol=1e-14)
    stretched = sixd * np.array([3.0, 3.0, 3.0, 0.2, 0.2, 0.2])
    stretched[..., 3:] += 0.7 * sixd[..., :3]  # Gram-Schmidt takes both away again
    assert np.allclose(sixd_to_matrix(stretched), matrix, atol=1e-13)


@pytest.mark.parametrize(
    "sixd",
    [np.zeros(6), [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 2, 0, 0, -5, 0], [1, 1, 1, 1, 1, 1], [1e-20] * 6],
)
def test_sixd_without_a_frame_gives_some_frame(sixd):
    matrix = sixd_to_matrix(sixd)
    assert np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_procrustes_finds_the_turn(shape):
    rng = np.random.default_rng(SEED)
    turn, points = random_quats(rng, *shape), rng.normal(size=(*shape, 7, 3))
    turned = quat_apply(turn[..., None, :], points)
    assert np.allclose(procrustes(points, turned), quat_to_matrix(turn), atol=1e-12)
    spoiled = turned.copy()
    spoiled[..., 0, :] += 5.0
    weights = np.ones((*shape, 7))
    weights[..., 0] = 0.0
    assert np.allclose(procrustes(points, spoiled, weights), quat_to_matrix(turn), atol=1e-12)


@pytest.mark.parametrize("kind", ["mirrored", "flat", "line", "one", "none"])
def test_procrustes_never_mirrors(kind):
    rng = np.random.default_rng(SEED)
    source, target = rng.normal(size=(2, 50, 6, 3))
    if kind == "mirrored":
        target = source * np.array([-1.0, 1.0, 1.0])
    scale = {"flat": [1, 1, 0], "line": [1, 0, 0], "none": [0, 0, 0]}.get(kind, [1, 1, 1])
    source, target = source * scale, target * scale
    matrix = procrustes(source[:, :1], target[:, :1]) if kind == "one" else procrustes(source, target)
    assert np.allclose(matrix @ np.swapaxes(matrix, -1, -2), np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(matrix), 1.0)


def test_identity_is_exact():
    assert np.array_equal(rotvec_to_quat(np.zeros((3, 3))), identity_quat(3))
    assert np.array_equal(quat_to_rotvec(identity_quat(3)), np.zeros((3, 3)))
    assert np.array_equal(quat_to_matrix(identity_quat()), np.eye(3))
    assert np.array_equal(sixd_to_matrix([1, 0, 0, 0, 1, 0]), np.eye(3))
    assert np.array_equal(quat_to_euler(identity_quat(), "ZXY"), np.zeros(3))
