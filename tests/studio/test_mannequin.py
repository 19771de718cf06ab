"""The mannequin: closed, weighted, in place at rest, whole on any rig."""

import numpy as np
import pytest

from mimik.rig.builtin import builtin_rig
from mimik.rotation import quat_mul, rotvec_to_quat
from mimik.studio.body import build_pose
from mimik.studio.mannequin import mannequin
from tests.builders import SEED, random_quats
from tests.studio.odd_rigs import odd_rigs

ODD = odd_rigs()
SOME = {"humanoid": builtin_rig("humanoid"), "ue5": builtin_rig("ue5"), **ODD}


def closed(faces: np.ndarray) -> bool:
    """Say whether every directed edge has its opposite, as often."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    base = int(faces.max()) + 1
    there, back = edges[:, 0] * base + edges[:, 1], edges[:, 1] * base + edges[:, 0]
    return bool((np.sort(there) == np.sort(back)).all())


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("name", SOME)
def test_closed_outward_weighted_finite(name):
    rig = SOME[name]
    mesh = mannequin(rig)
    assert closed(mesh.faces)
    assert volume(mesh.vertices, mesh.faces) > 0.0
    assert np.isfinite(mesh.vertices).all() and len(mesh.vertices) > 20
    np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-9)
    assert mesh.weights.min() >= 0.0
    assert mesh.index.min() >= 0 and mesh.index.max() < len(mesh.bones.bound()[1])


@pytest.mark.parametrize("name", SOME)
def test_built_pose_gives_the_built_vertices_and_any_pose_is_finite(name):
    rig = SOME[name]
    mesh, body = mannequin(rig), build_pose(rig)
    np.testing.assert_allclose(mesh.pose(body.q, body.p), mesh.vertices, atol=1e-9 * max(1.0, body.scale))
    wild = random_quats(np.random.default_rng(SEED), rig.joint_count)
    assert np.isfinite(mesh.pose(wild, body.p)).all()


def test_a_moved_and_turned_figure_keeps_its_shape():
    rig = SOME["humanoid"]
    mesh, stand = mannequin(rig), rig.tpose().to_world()
    turn, shift = rotvec_to_quat([0.3, 1.1, -0.4]), np.array([1.0, 2.0, -3.0])
    from mimik.rotation import quat_apply

    moved = mesh.pose(quat_mul(turn, stand.rotations), quat_apply(turn, stand.positions) + shift)
    expected = quat_apply(turn, mesh.pose(stand.rotations, stand.positions)) + shift
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_kernel_agrees_with_its_readable_twin():
    rig = SOME["ue5"]
    mesh = mannequin(rig)
    rng = np.random.default_rng(SEED)
    q, p = random_quats(rng, rig.joint_count), rng.normal(size=(rig.joint_count, 3))
    np.testing.assert_allclose(mesh.pose(q, p), mesh.pose_reference(q, p), atol=1e-9)


def test_standing_figure_is_human_in_size_symmetric_and_on_the_ground():
    rig = SOME["humanoid"]
    stand = rig.tpose().to_world()
    vertices = mannequin(rig).pose(stand.rotations, stand.positions)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    assert 1.68 < high[1] - low[1] < 1.84
    assert abs(low[1]) < 0.03
    assert abs(low[0] + high[0]) < 0.01
    assert 0.2 < high[2] - low[2] < 0.4


def test_size_follows_the_rig():
    heights = []
    for height in (1.2, 2.0):
        rig = builtin_rig("humanoid", height=height)
        stand = rig.tpose().to_world()
        heights.append(np.ptp(mannequin(rig).pose(stand.rotations, stand.positions)[:, 1]) / height)
    assert abs(heights[0] - heights[1]) < 0.01


def test_turned_wrist_shares_its_turn_along_the_forearm():
    rig = SOME["humanoid"]
    mesh, stand = mannequin(rig), rig.tpose().to_world()
    wrist, elbow = rig.roles["left_wrist"], rig.roles["left_elbow"]
    q = stand.rotations.copy()
    q[wrist] = quat_mul(rotvec_to_quat([2.4, 0.0, 0.0]), q[wrist])
    before, after = mesh.pose(stand.rotations, stand.positions), mesh.pose(q, stand.positions)
    along = before[:, 0] - stand.positions[elbow, 0]
    axis = stand.positions[wrist]
    length = stand.positions[wrist, 0] - stand.positions[elbow, 0]
    thick = [np.linalg.norm((v - axis)[:, 1:], axis=1) for v in (before, after)]
    late = (along > 0.5 * length) & (along < 0.95 * length) & (thick[0] < 0.06)
    assert (thick[1][late] / np.maximum(thick[0][late], 1e-9)).min() > 0.6


def test_built_once_per_rig():
    rig = SOME["humanoid"]
    assert mannequin(rig) is mannequin(rig)
