"""Where several bones leave one joint, the person's own way of it is found, and met exactly when the take is clean."""

import numpy as np
import pytest
from tests.builders import SEED

import mimik
from mimik.goals.forks import FORKS, fork_bones
from mimik.goals.layouts import recognise
from mimik.goals.proportions import fit_bone_lengths
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.proportions import with_bones
from mimik.rig.role_space import tpose_positions
from mimik.rig.roles import BODY_ROLES

RIG = builtin_rig("humanoid")
OTHER = {
    "left_hip": [0.06, -0.09, 0.03], "right_hip": [-0.06, -0.09, 0.03], "spine1": [0.0, 0.11, -0.03],
    "left_collar": [0.08, 0.11, -0.02], "right_collar": [-0.08, 0.11, -0.02], "neck": [0.0, 0.21, -0.03],
}  # fmt: skip


def stranger(**bones):
    """A body whose hips, spine and collars leave their joints another way, and a walk on it."""
    rig = with_bones(RIG, {role: np.array(bone) for role, bone in (OTHER | bones).items()})
    return sample_clip(rig, "walk", seconds=2.0, fps=60.0)


def bones_of(rig):
    places = tpose_positions(rig)
    return {r: places[rig.roles[r]] - places[rig.roles[j]] for j, ends in FORKS.items() for r in ends}


def found(clip, noise, **options):
    points = clip.positions() + np.random.default_rng(SEED).normal(0.0, noise, (clip.frame_count, 22, 3))
    seen = recognise(BODY_ROLES).to_roles(points)
    return fork_bones(RIG, seen, fit_bone_lengths(seen.positions).left_right, noise, **options)


def test_other_forks_are_found_up_to_how_they_are_turned():
    """The distances between the prongs' ends are the body's; how the whole fork stands is the rig's own."""
    bones, true = found(stranger(), 0.0), bones_of(stranger().rig)
    for ends in FORKS.values():
        for a, b in ((0, 1), (0, 2), (1, 2)):
            mine, theirs = (np.linalg.norm(d[ends[a]] - d[ends[b]]) for d in (bones, true))
            assert mine == pytest.approx(theirs, abs=1e-4)


def test_the_rigs_own_forks_are_left_alone():
    for noise in (0.0, 0.005, 0.03):
        assert found(sample_clip(RIG, "walk", seconds=2.0, fps=60.0), noise) == {}


def test_sides_are_made_alike_unless_they_are_known_to_differ():
    uneven = stranger(left_hip=[0.09, -0.05, 0.03])
    alike = found(uneven, 0.0)
    assert np.allclose(alike["left_hip"] / np.linalg.norm(alike["left_hip"]) * [-1, 1, 1],
                       alike["right_hip"] / np.linalg.norm(alike["right_hip"]))  # fmt: skip
    own = found(uneven, 0.0, symmetric=False)
    assert not np.allclose(own["left_hip"] * [-1, 1, 1], own["right_hip"], atol=0.01)


@pytest.mark.parametrize("bones", [{}, {"left_hip": [0.09, -0.05, 0.03]}])
def test_a_clean_take_of_a_strange_body_is_met_exactly(bones):
    clip = stranger(**bones)
    take = mimik.Keypoints(BODY_ROLES, clip.positions(), clip.fps)
    met = mimik.solve(take, "humanoid")
    assert np.abs(met.positions() - clip.positions()).max() < 1e-4


def test_the_pelvis_stays_over_the_feet():
    rig = with_bones(RIG, {"left_hip": np.array([0.1, -0.2, 0.0]), "right_hip": np.array([-0.1, -0.2, 0.0])})
    assert np.abs(tpose_positions(rig)[:, 1].min() - tpose_positions(RIG)[:, 1].min()) < 1e-9
