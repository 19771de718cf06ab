"""Hinges measured from motion: exact on true hinges, used to give networks the twist they know."""

import numpy as np
import pytest

from mimik.rig import LocalPose
from mimik.rig.build import build_rig
from mimik.rig.builtin import builtin_rig
from mimik.rig.hinges import hinge_turns, measure_hinges, usual_hinge, with_usual_hinges
from mimik.rig.role_space import rig_to_role_rotations, role_rotations_to_rig
from mimik.rotation import geodesic, identity_quat, quat_mul, rotvec_to_quat
from tests.builders import SEED

LOWER = ("left_knee", "right_knee", "left_elbow", "right_elbow")


def bending(rig, tilt_deg, *, pronation=0.0, frames=80):
    """Return a motion of random hips and shoulders whose limbs bend `tilt_deg` off the usual hinges."""
    rng = np.random.default_rng(SEED)
    rotations = identity_quat(frames, rig.joint_count)
    for lower in LOWER:
        bone, axis = usual_hinge(lower)
        axis = axis * np.cos(np.deg2rad(tilt_deg)) + np.cross(bone, axis) * np.sin(np.deg2rad(tilt_deg))
        bend = rotvec_to_quat(rng.uniform(0.0, 2.0, (frames, 1)) * axis)
        turn = rotvec_to_quat(pronation * rng.uniform(-1, 1, (frames, 1)) * bone)
        rotations[:, rig.roles[lower]] = quat_mul(bend, turn if "elbow" in lower else identity_quat())
        upper = lower.replace("knee", "hip").replace("elbow", "shoulder")
        rotations[:, rig.roles[upper]] = rotvec_to_quat(rng.normal(size=(frames, 3)))
    return LocalPose(rig.skeleton, rotations, np.zeros((frames, 3)))


@pytest.mark.parametrize("tilt", [-40, 0, 25])
def test_turns_are_measured(tilt):
    rig = builtin_rig("smpl")
    pose = bending(rig, tilt)
    turns = build_rig(rig.skeleton, motion=(pose.rotations, pose.root, None)).hinge_turns
    assert len(turns) == 8
    assert all(np.rad2deg(angle) == pytest.approx(-tilt, abs=1e-6) for angle in turns.values())


def test_pronation_leaves_the_upper_arm_alone():
    rig = builtin_rig("smpl")
    pose = bending(rig, 15, pronation=0.8)
    world = pose.to_world()
    turns = hinge_turns(rig.roles, rig.q_world_tpose, measure_hinges(world.rotations, world.positions, rig.roles))
    assert np.rad2deg(turns["left_shoulder"]) == pytest.approx(-15, abs=1e-6)
    assert "left_elbow" not in turns and "left_knee" in turns


def test_straight_limbs_show_nothing():
    rig = builtin_rig("humanoid")
    pose = LocalPose(rig.skeleton, identity_quat(50, 22), np.zeros((50, 3)))
    assert not build_rig(rig.skeleton, motion=(pose.rotations, pose.root, None)).hinge_turns


def test_turned_rigs_have_usual_hinges_and_the_same_poses():
    rig = builtin_rig("ue5")
    plain = builtin_rig("humanoid")
    truth = bending(plain, 30)
    moved = role_rotations_to_rig(rig, *rig_to_role_rotations(plain, truth))
    bound = build_rig(rig.skeleton, motion=(moved.rotations, moved.root, None))
    usual = with_usual_hinges(bound)
    assert not usual.hinge_turns and with_usual_hinges(rig) is rig
    D_usual, path = rig_to_role_rotations(usual, moved)
    D_bent, _ = rig_to_role_rotations(plain, bending(plain, 0))
    for lower in LOWER:  # in the turned rig limbs bend as a body with usual hinges does
        upper = lower.replace("knee", "hip").replace("elbow", "shoulder")
        rig_bend, plain_bend = (
            quat_mul(D[:, plain.roles[upper]] * [-1, -1, -1, 1], D[:, plain.roles[lower]]) for D in (D_usual, D_bent)
        )
        assert geodesic(rig_bend, plain_bend).max() < 1e-6
    back = role_rotations_to_rig(usual, D_usual, path)
    joints = [rig.roles[r] for r in plain.roles]  # twist bones share another twist
    assert geodesic(back.to_world().rotations, moved.to_world().rotations)[:, joints].max() < 1e-6
