"""What training computes in PyTorch through RoMa is what NumPy computes here."""

import numpy as np
import pytest

from mimik.rotation import (
    geodesic,
    matrix_to_sixd,
    quat_align,
    quat_apply,
    quat_inv,
    quat_mul,
    quat_slerp,
    quat_to_matrix,
    quat_to_rotvec,
    rotvec_to_quat,
    sixd_to_matrix,
)
from tests.builders import SEED, random_quats
from tests.rotation.test_group import ANGLES, about

torch = pytest.importorskip("torch")
roma = pytest.importorskip("roma")


def as_tensor(array: np.ndarray) -> "torch.Tensor":
    return torch.from_numpy(np.ascontiguousarray(array))


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_the_same_convention_and_numbers(shape, rng):
    a, b, v = random_quats(rng, *shape), random_quats(rng, *shape), rng.normal(size=(*shape, 3))
    ta, tb = as_tensor(a), as_tensor(b)
    assert np.allclose(roma.quat_product(ta, tb).numpy(), quat_mul(a, b))
    assert np.allclose(roma.quat_conjugation(ta).numpy(), quat_inv(a))
    assert np.allclose(roma.quat_action(ta, as_tensor(v), is_normalized=True).numpy(), quat_apply(a, v))
    assert np.allclose(roma.unitquat_to_rotmat(ta).numpy(), quat_to_matrix(a))
    assert np.allclose(roma.unitquat_geodesic_distance(ta, tb).numpy(), geodesic(a, b), atol=1e-7)


@pytest.mark.parametrize("angle", [angle for angle in ANGLES if angle < np.pi])
def test_exp_and_log(angle):
    vectors = about(angle)
    q = rotvec_to_quat(vectors)
    assert np.allclose(roma.rotvec_to_unitquat(as_tensor(vectors)).numpy(), q, atol=1e-10)
    assert np.allclose(roma.unitquat_to_rotvec(as_tensor(q)).numpy(), quat_to_rotvec(q), atol=1e-8)


def test_slerp(rng):
    a, b, t = random_quats(rng, 6), random_quats(rng, 6), np.linspace(0.0, 1.0, 4)
    theirs = roma.unitquat_slerp(as_tensor(a), as_tensor(b), as_tensor(t), shortest_arc=True).numpy()
    ours = quat_slerp(a, b, t[:, None])
    assert np.allclose(quat_align(theirs, ours), ours, atol=1e-7)


def test_training_geometry_agrees(rng):
    from mimik.learn.geometry import geodesic_angle, rotation_to_sixd, sixd_to_rotation

    a, b = random_quats(rng, 50), random_quats(rng, 50)
    A, B = quat_to_matrix(a), quat_to_matrix(b)
    assert np.allclose(rotation_to_sixd(as_tensor(A)).numpy(), matrix_to_sixd(A))
    free = rng.normal(size=(50, 6))
    assert np.allclose(sixd_to_rotation(as_tensor(free)).numpy(), sixd_to_matrix(free), atol=1e-6)
    assert np.allclose(geodesic_angle(as_tensor(A), as_tensor(B)).numpy(), geodesic(a, b), atol=2e-3)


def test_gradients_are_finite_at_identity_and_half_turn():
    from mimik.learn.geometry import geodesic_angle

    for angle in (0.0, 1e-9, np.pi):
        rotations = as_tensor(quat_to_matrix(rotvec_to_quat(about(angle)))).requires_grad_()
        geodesic_angle(rotations, torch.eye(3, dtype=torch.float64)).sum().backward()
        assert torch.isfinite(rotations.grad).all()
