"""Measures say what they mean; twist repair moves nothing but twist."""

from dataclasses import replace

import numpy as np
import pytest

from mimik.api import load_rig
from mimik.motion.contacts import FootContacts, clip_contacts
from mimik.motion.measures import (
    bone_axes,
    floor_penetration,
    foot_slide,
    jitter,
    joint_angle_error,
    limit_hits,
    mpjae_deg,
    mpjpe,
    p_mpjpe,
    pck,
    swing_twist_error,
    twist_jumps,
)
from mimik.motion.sample import sample_clip
from mimik.motion.twist import continuous_twist, free_twists
from mimik.rig.limits import JointRange, Limits
from mimik.rotation import geodesic, quat_apply, quat_between, quat_inv, quat_mul, quat_to_matrix, rotvec_to_quat
from mimik.solve.solution import Solution
from tests.builders import SEED, random_quats
from tests.motion.bodies import humanoid, turned_axes

RIG = humanoid()
WALK = sample_clip(RIG, "walk", seconds=2)


def test_angles_between_local_rotations():
    turned = quat_mul(WALK.rotations, rotvec_to_quat([0.0, 0.1, 0.0]))
    assert np.allclose(joint_angle_error(turned, WALK.rotations), 0.1)
    assert mpjae_deg(turned, WALK.rotations) == pytest.approx(np.degrees(0.1))
    assert mpjae_deg(-WALK.rotations, WALK.rotations) == pytest.approx(0.0, abs=1e-6)


def test_swing_and_twist_add_up():
    rng = np.random.default_rng(SEED)
    axes = bone_axes(RIG)
    true = random_quats(rng, 7, RIG.joint_count)
    twisted = quat_mul(true, rotvec_to_quat(0.3 * axes))
    swing, twist = swing_twist_error(twisted, true, axes)
    assert np.abs(swing).max() < 1e-6 and np.allclose(twist, 0.3)
    across = np.cross(axes, [0.3, 0.5, 0.7])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    swing, twist = swing_twist_error(quat_mul(true, rotvec_to_quat(0.4 * across)), true, axes)
    assert np.allclose(swing, 0.4) and np.abs(twist).max() < 1e-6


def test_distances():
    rng = np.random.default_rng(SEED)
    points = rng.normal(size=(20, 15, 3))
    assert mpjpe(points + np.array([0.03, 0, 0.04]), points) == pytest.approx(0.05)
    moved = 1.3 * np.einsum("ij,tnj->tni", quat_to_matrix(random_quats(rng)), points) + [4.0, 5.0, 6.0]
    assert mpjpe(moved, points) > 1.0
    assert p_mpjpe(moved, points) < 1e-9
    mirrored = points * [-1.0, 1.0, 1.0]
    assert p_mpjpe(mirrored, points) > 0.1
    gap = points.copy()
    gap[:, 0] = np.nan
    assert mpjpe(gap, points) == 0.0
    assert pck(points + np.array([0.04, 0, 0]), points) == 1.0 and pck(points + np.array([0.06, 0, 0]), points) == 0.0


def test_slide_in_centimetres_a_second():
    drift = np.arange(WALK.frame_count)[:, None] / WALK.fps * np.array([0.10, 0.0, 0.0])
    slid = replace(WALK, root=WALK.root + drift)
    contacts = clip_contacts(WALK)
    assert foot_slide(WALK, contacts) < 0.5
    assert foot_slide(slid, contacts) == pytest.approx(10.0, abs=0.6)
    none = FootContacts(np.zeros_like(contacts.heel), np.zeros_like(contacts.toe), 0.0)
    assert foot_slide(slid, none) == 0.0


def test_penetration_and_jitter():
    assert floor_penetration(WALK).max() < 1e-6
    sunk = replace(WALK, root=WALK.root - [0, 0.05, 0])
    assert floor_penetration(sunk).max() == pytest.approx(0.05, abs=0.002)
    assert floor_penetration(sunk, floor=-0.05).max() < 1e-6
    t = np.arange(100)[:, None, None] / 50.0
    assert jitter(t**3 * np.ones((1, 2, 3)), 50.0) == pytest.approx(6 * np.sqrt(3))
    assert jitter(np.zeros((2, 3, 3)), 50.0) == 0.0


def test_bone_axes_point_down_the_limbs_on_any_rig():
    rng = np.random.default_rng(SEED)
    for rig in (RIG, turned_axes(RIG, rng), load_rig("ue5"), load_rig("mixamo"), load_rig("cmu")):
        world = quat_apply(rig.q_world_tpose, bone_axes(rig))
        assert np.allclose(np.linalg.norm(world, axis=1), 1.0)
        for role, way in (
            ("left_shoulder", [1, 0, 0]),
            ("right_elbow", [-1, 0, 0]),
            ("left_hip", [0, -1, 0]),
            ("spine3", [0, 1, 0]),
        ):
            assert world[rig.roles[role]] @ way > 0.85, (rig.name, role)


def jumpy(joint_role, frame, angle):
    """The walk with one bone turned about itself from a frame on; children compensate, so positions stay."""
    j = RIG.roles[joint_role]
    turn = rotvec_to_quat(angle * bone_axes(RIG)[j])
    rotations = np.array(WALK.rotations)
    rotations[frame:, j] = quat_mul(rotations[frame:, j], turn)
    for child in RIG.skeleton.children(j):
        rotations[frame:, child] = quat_mul(quat_inv(turn), rotations[frame:, child])
    return replace(WALK, rotations=rotations)


@pytest.mark.parametrize("role", ["left_shoulder", "right_elbow", "left_hip"])
@pytest.mark.parametrize("angle", [1.0, -2.5, 3.1])
def test_twist_jumps_are_found_and_spread(role, angle):
    clip = jumpy(role, 60, angle)
    found = twist_jumps(clip)
    assert any(jump.joint == RIG.names[RIG.roles[role]] and jump.frame == 59 for jump in found)
    mended, count = continuous_twist(clip)
    assert count >= 1
    assert twist_jumps(mended) == []
    assert np.abs(mended.positions() - clip.positions()).max() < 1e-9
    far = np.abs(np.arange(WALK.frame_count) - 60) > 20
    assert geodesic(mended.rotations[far], clip.rotations[far]).max() < 1e-6


def test_a_spike_is_mended():
    clip = jumpy("left_elbow", 60, 2.0)
    spike = np.array(clip.rotations)
    spike[64:] = WALK.rotations[64:]
    mended, count = continuous_twist(replace(clip, rotations=spike))
    assert count >= 2
    assert twist_jumps(mended) == []


def test_jumps_that_come_round_are_none():
    """Three jumps one after another make a full turn: what is left of them is no turn at all."""
    clip = WALK
    for k in range(3):
        more = jumpy("right_shoulder", 60 + k, 2.0 * np.pi / 3.0)
        turn = quat_mul(quat_inv(WALK.rotations), more.rotations)
        clip = replace(clip, rotations=quat_mul(clip.rotations, turn))
    mended, count = continuous_twist(clip)
    assert count >= 3
    assert twist_jumps(mended) == []
    assert geodesic(mended.rotations, WALK.rotations)[:, RIG.roles["right_shoulder"]].max() < np.radians(25.0)


def test_what_is_smooth_is_left_alone():
    same, count = continuous_twist(WALK)
    assert same is WALK and count == 0
    short, _ = continuous_twist(WALK[:1])
    assert short.frame_count == 1


def test_joints_whose_twist_shows_are_not_free():
    free = free_twists(RIG)
    assert not free[RIG.roles["pelvis"]] and not free[RIG.roles["spine3"]]
    assert free[RIG.roles["left_shoulder"]] and free[RIG.roles["head"]]


def test_limit_hits():
    assert not limit_hits(replace(WALK, rig=RIG.with_limits(None))).any()
    knee = RIG.names[RIG.roles["left_knee"]]
    stiff = RIG.with_limits(Limits({knee: JointRange.hinge([1.0, 0.0, 0.0], 0.0, np.radians(30.0))}))
    hits = limit_hits(replace(WALK, rig=stiff))
    bend = np.degrees(geodesic(WALK.rotations[:, RIG.roles["left_knee"]], [0, 0, 0, 1.0]))
    assert np.array_equal(
        hits[:, RIG.roles["left_knee"]][np.abs(bend - 31) > 0.5], (bend > 31)[np.abs(bend - 31) > 0.5]
    )
    hits[:, RIG.roles["left_knee"]] = False
    assert not hits.any()
    touched = np.zeros(WALK.rotations.shape[:2], dtype=bool)
    touched[3, 4] = True
    assert np.array_equal(limit_hits(replace(WALK, solution=Solution(WALK.pose(), limits_touched=touched))), touched)


def test_shortest_turn_between_bones_has_no_twist():
    axes = bone_axes(RIG)
    swing, twist = swing_twist_error(
        quat_between(axes, np.roll(axes, 1, axis=1)), np.broadcast_to([0, 0, 0, 1.0], (22, 4)), axes
    )
    assert np.isfinite(swing).all() and np.abs(twist[swing < 3.0]).max() < 1e-6
