import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("roma")

from mimik.errors import OptionError  # noqa: E402
from mimik.learn.data import PoseData, kept_offsets, kept_parents, rig_body  # noqa: E402
from mimik.learn.geometry import (  # noqa: E402
    geodesic_angle,
    local_to_world,
    rotation_to_sixd,
    sixd_to_rotation,
    world_to_local,
)
from mimik.learn.losses import pose_loss  # noqa: E402
from mimik.learn.spaces import RotationSpace, tpose_bone_frames  # noqa: E402
from mimik.learn.train_ikgat import make_space  # noqa: E402
from mimik.rig.builtin import builtin_rig  # noqa: E402
from mimik.rig.role_space import role_positions  # noqa: E402
from mimik.rig.roles import BODY_MIRROR, BODY_PARENTS, BODY_ROLES  # noqa: E402
from mimik.rotation import quat_to_matrix  # noqa: E402
from tests.learn.motions import packed, smooth_rotations  # noqa: E402

PARENTS = [int(p) for p in BODY_PARENTS]


@pytest.fixture(scope="module")
def rotations():
    return smooth_rotations(np.random.default_rng(3), 40, size=1.0)


def make_data(rotations, **options):
    return PoseData(packed(rotations), rig_body(builtin_rig("humanoid"))[None], torch.device("cpu"), **options)


def test_batches_agree_with_the_library_kinematics(rotations):
    data = make_data(rotations)
    positions, D_world, _ = data.pose(data.in_order(0, 40))
    expected = role_positions(rig_body(builtin_rig("humanoid")), rotations, np.zeros(3))
    assert np.abs(D_world.numpy() - quat_to_matrix(rotations)).max() < 3e-4
    assert np.abs(positions.numpy() - expected).max() < 3e-4


def test_mirrored_and_turned_poses_are_reflections(rotations):
    data = make_data(rotations)
    plain = data.in_order(0, 40)
    mirrored = data.in_order(0, 40)
    mirrored.mirror[:] = True
    a, b = data.pose(plain)[0], data.pose(mirrored)[0]
    assert torch.allclose(b, a[:, torch.tensor(BODY_MIRROR.copy())] * torch.tensor([-1.0, 1.0, 1.0]), atol=1e-4)
    mirrored.mirror[:] = False
    mirrored.heading[:] = torch.pi / 2
    turned = data.pose(mirrored)[0]
    assert torch.allclose(turned[..., [0, 1, 2]], torch.stack([a[..., 2], a[..., 1], -a[..., 0]], -1), atol=1e-5)


def test_draws_repeat_with_the_generator(rotations):
    data = make_data(rotations)
    a, b = (data.draw(16, torch.Generator().manual_seed(7)).tensors() for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(a, b))


def test_local_and_world_rotations_invert_each_other(rotations):
    world = torch.from_numpy(quat_to_matrix(rotations))
    local = world_to_local(world, torch.tensor(PARENTS))
    assert torch.allclose(local_to_world(local, PARENTS), world, atol=1e-12)


@pytest.mark.parametrize("name", ["bone", "world", "local"])
def test_rotation_spaces_are_exactly_invertible(rotations, name):
    world = torch.from_numpy(quat_to_matrix(rotations)).float()
    space = make_space(name, BODY_ROLES, rig_body(builtin_rig("humanoid")))
    assert torch.allclose(space.decode(space.encode(world)), world, atol=1e-5)
    with pytest.raises(OptionError, match="valid: bone, world, local"):
        RotationSpace("bones", PARENTS, np.zeros((22, 3, 3)))


def test_bone_frames_run_along_bones_and_are_rotations():
    body = rig_body(builtin_rig("humanoid"))
    frames = tpose_bone_frames(BODY_ROLES, PARENTS, body)
    assert np.allclose(frames @ np.swapaxes(frames, 1, 2), np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(frames), 1.0)
    elbow, wrist = BODY_ROLES.index("left_elbow"), BODY_ROLES.index("left_wrist")
    assert np.allclose(frames[elbow][:, 0], body[wrist] / np.linalg.norm(body[wrist]))


def test_sixd_round_trip_and_degenerate_input():
    world = torch.from_numpy(quat_to_matrix(smooth_rotations(np.random.default_rng(9), 5)))
    assert torch.allclose(sixd_to_rotation(rotation_to_sixd(world)), world, atol=1e-12)
    assert torch.isfinite(sixd_to_rotation(torch.zeros(3, 6))).all()
    assert torch.isfinite(sixd_to_rotation(torch.ones(3, 6))).all()


def test_loss_has_finite_gradients_where_rotations_agree_and_at_half_turns():
    data = make_data(np.tile([0.0, 0.0, 0.0, 1.0], (2, 22, 1)))
    space = make_space("world", BODY_ROLES, rig_body(builtin_rig("humanoid")))
    positions, D_world, offsets = data.pose(data.in_order(0, 2))
    for diagonal in ([1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]):
        sixd = torch.tensor([diagonal[0], 0, 0, 0, diagonal[1], 0]).repeat(2, 22, 1).requires_grad_()
        pose_loss(sixd, D_world, positions, offsets, data, space, 0.1).backward()
        assert torch.isfinite(sixd.grad).all()
    half = torch.diag(torch.tensor([1.0, -1.0, -1.0]))
    assert geodesic_angle(half, torch.eye(3), clamp=1.0) == pytest.approx(np.pi, abs=1e-3)


def test_missing_roles_hang_their_children_on_the_next_ancestor():
    roles = tuple(r for r in BODY_ROLES if r not in ("spine2", "left_collar"))
    parents = kept_parents(roles)
    body = rig_body(builtin_rig("humanoid"))
    short = kept_offsets(body[None], roles)[0]
    assert parents[roles.index("left_shoulder")] == roles.index("spine3")
    whole = role_positions(body, np.tile([0.0, 0.0, 0.0, 1.0], (22, 1)), np.zeros(3))
    place = np.zeros((len(roles), 3))
    for k, parent in enumerate(parents[1:], start=1):
        place[k] = place[parent] + short[k]
    assert np.allclose(place, whole[[BODY_ROLES.index(r) for r in roles]])
