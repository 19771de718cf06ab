"""Standing rests: whichever way they face or lie, however their limbs hang, the same T-pose comes out."""

import numpy as np
import pytest

from mimik.rig import LocalPose, Skeleton
from mimik.rig.build import build_rig
from mimik.rig.builtin import builtin_rig
from mimik.rig.pose import WorldPose
from mimik.rotation import geodesic, identity_quat, quat_apply, quat_inv, quat_mul, rotvec_to_quat
from tests.builders import SEED, random_quats
from tests.rig.binds import a_rest, rebound


def rest_of(rig, change, axes=None):
    """Return the rig's skeleton resting `change` (J, 4) away from the T-pose, with joint axes (J, 4) of its own."""
    pose = LocalPose(rig.skeleton, identity_quat(1, rig.joint_count), rig.skeleton.offsets[:1])
    axes = identity_quat(rig.joint_count) if axes is None else axes
    return rebound(rig, pose, axes, change, flat=False)[0]


def turned(rig, **angles):
    """Return changes (J, 4) that turn some roles' joints, and what hangs from them, by rotation vectors in degrees."""
    change = identity_quat(rig.joint_count)
    for joint in range(1, rig.joint_count):
        change[joint] = change[rig.parents[joint]]
        for role, degrees in angles.items():
            if rig.roles[role] == joint:
                change[joint] = quat_mul(rotvec_to_quat(np.deg2rad(degrees)), change[joint])
    return change


@pytest.mark.parametrize("name", ["humanoid", "mixamo", "vrm"])
@pytest.mark.parametrize("turn", [(0, 0, 0), (0, 90, 0), (0, 180, 0), (0, 37, 0), (-90, 0, 0), (0, 0, 90)])
def test_facing_and_lying_do_not_matter(name, turn):
    rig = builtin_rig(name)
    axes = random_quats(np.random.default_rng(SEED), rig.joint_count)
    q = rotvec_to_quat(np.deg2rad(np.array(turn, dtype=float)))
    change = quat_mul(q, a_rest(rig, 40.0))
    bound = build_rig(rest_of(rig, change, axes))
    assert bound.rest_kind == "A"
    assert np.rad2deg(geodesic(bound.q_world_tpose, axes).max()) < 1e-3


def test_bent_elbows_and_spread_legs_come_straight():
    rig = builtin_rig("humanoid")
    hang = {"left_shoulder": (0, 0, -60), "left_elbow": (0, 0, 0), "left_hip": (0, 0, 9)}
    change = turned(rig, **hang)
    bound = build_rig(rest_of(rig, change))
    p = {r: bound.tpose().positions()[j] for r, j in bound.roles.items()}
    assert np.allclose(p["left_wrist"][1:], p["left_shoulder"][1:], atol=1e-9)
    assert np.allclose(p["left_ankle"][[0, 2]], p["left_hip"][[0, 2]], atol=1e-9)


def test_toes_turn_to_the_front_and_soles_stay():
    rig = builtin_rig("humanoid")
    out = turned(rig, left_ankle=(0, 20, 0), right_ankle=(0, -15, 0))
    bound = build_rig(rest_of(rig, out))
    assert np.rad2deg(geodesic(bound.q_world_tpose, identity_quat()).max()) < 1e-6


def test_feet_that_ride_on_splayed_legs_follow_them():
    rig = builtin_rig("humanoid")
    bound = build_rig(rest_of(rig, turned(rig, left_hip=(0, 0, 20), right_hip=(0, 0, -20))))
    assert np.rad2deg(geodesic(bound.q_world_tpose, identity_quat()).max()) < 1e-6


def test_palms_turn_down_where_fingers_show_them():
    rig = builtin_rig("mixamo")
    forward = turned(rig, left_wrist=(-60, 0, 0), right_wrist=(-60, 0, 0))
    bound = build_rig(rest_of(rig, forward))
    wrists = [rig.roles["left_wrist"], rig.roles["right_wrist"]]
    assert np.rad2deg(geodesic(bound.q_world_tpose, identity_quat())[wrists].max()) < 1e-6


def test_exchanged_sides_are_noted():
    rig = builtin_rig("humanoid")
    names = [n.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right") for n in rig.names]
    skeleton = Skeleton.build(names, rig.parents, rig.offsets, tips=rig.skeleton.tips)
    assert any("exchanged" in note for note in build_rig(skeleton).notes)


@pytest.mark.parametrize("degrees", [0, 20, 45, 70, 90])
def test_arms_at_any_height(degrees):
    rig = builtin_rig("cmu")
    bound = build_rig(rest_of(rig, a_rest(rig, degrees)))
    assert bound.rest_kind == ("T" if degrees < 25 else "A")
    assert np.rad2deg(geodesic(bound.q_world_tpose, identity_quat()).max()) < 1e-3


def test_a_calibration_frame_settles_a_bind_exactly():
    rng = np.random.default_rng(SEED)
    rig = builtin_rig("humanoid")
    axes = random_quats(rng, rig.joint_count)
    frames = identity_quat(30, rig.joint_count)
    frames[5:] = random_quats(rng, 25, rig.joint_count)
    moving = LocalPose(rig.skeleton, frames, np.tile(rig.skeleton.offsets[0], (30, 1)))
    skeleton, pose = rebound(rig, moving, axes, quat_inv(axes), flat=False)
    bound = build_rig(skeleton, motion=(pose.rotations, pose.root, None))
    assert bound.rest_kind == "arbitrary"
    assert np.rad2deg(geodesic(bound.q_world_tpose, axes).max()) < 1e-3


def test_rest_positions_are_the_files_own():
    rig = builtin_rig("ue5")
    world = rig.rest_pose().to_world()
    again = WorldPose(rig.skeleton, world.rotations, world.positions).to_local()
    assert geodesic(again.rotations, rig.skeleton.rest).max() < 1e-9
    assert np.isfinite(quat_apply(world.rotations, np.nan_to_num(rig.skeleton.tips))).all()


def test_collars_that_rest_raised_come_level_and_arms_stay():
    rig = builtin_rig("smpl")
    rest = rig.rest_pose().to_world()
    D = quat_mul(rig.q_world_tpose, quat_inv(rest.rotations))
    p = rig.tpose().positions()
    rise = p[rig.roles["left_shoulder"]] - p[rig.roles["left_collar"]]
    assert np.rad2deg(np.arctan2(rise[1], np.hypot(rise[0], rise[2]))) == pytest.approx(8.0, abs=1e-6)
    assert geodesic(D[[rig.roles["left_shoulder"], rig.roles["right_wrist"]]], identity_quat()).max() < 1e-9
