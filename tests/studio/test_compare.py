"""Two figures compared: joints paired by role, distances and angles as known."""

import numpy as np

from mimik.motion.clip import Clip
from mimik.rig.builtin import builtin_rig
from mimik.rotation import quat_mul, rotvec_to_quat
from mimik.studio.actor import actor_of
from mimik.studio.compare import difference, error_colors, pair_joints


def test_shift_and_turn_are_found():
    rig = builtin_rig("humanoid")
    pose = rig.tpose()
    q, wrist = np.array(pose.rotations), rig.roles["left_wrist"]
    q[wrist] = quat_mul(q[wrist], rotvec_to_quat([0.0, 0.0, 0.5]))
    a = actor_of(rig)
    b = actor_of(Clip(rig, q[None], np.array(pose.root)[None] + [0.0, 0.0, 0.1]))
    found = difference(a, b, pair_joints(rig, rig), 0.0)
    np.testing.assert_allclose(found.distance, 0.1, atol=1e-9)
    angle = dict(zip(found.names, found.angle))
    assert abs(angle.pop("left_wrist") - 0.5) < 1e-6
    assert max(angle.values()) < 1e-6


def test_rigs_of_other_conventions_agree_in_the_t_pose():
    a, b = builtin_rig("mixamo"), builtin_rig("ue5")
    pairing = pair_joints(a, b)
    assert set(pairing.names) >= {"pelvis", "left_wrist", "right_foot"}
    assert difference(actor_of(a), actor_of(b), pairing, 0.0).angle.max() < 1e-6


def test_colors_go_from_green_to_red():
    green, red = error_colors(np.array([0.0, 1.0]), 0.1)
    assert green[1] > green[0] and red[0] > red[1]
