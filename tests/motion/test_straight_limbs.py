"""Straight limbs keep their twist: noise does not turn an arm over, and a bent one is left alone."""

from dataclasses import replace

import numpy as np
import pytest

from mimik.motion.measures import twist_jumps
from mimik.motion.sample import sample_clip
from mimik.motion.straight_limbs import followed, steady_straight_limbs
from mimik.rig.role_space import role_map
from mimik.rotation import geodesic, quat_inv, quat_mul, rotvec_to_quat
from tests.builders import SEED
from tests.motion.bodies import humanoid

RIG = humanoid()
NOISE = 0.012


def arm(degrees_bent, frames=120):
    """A figure with arms down whose elbows bend by so much (T,), and whose left arm turns about itself by `turn`."""
    rig = RIG
    turned = np.tile(rig.tpose().rotations, (frames, 1, 1))
    down = rotvec_to_quat(np.array([0.0, 0.0, np.radians(-75.0)]))
    bend = rotvec_to_quat(np.radians(np.broadcast_to(degrees_bent, frames))[:, None] * np.array([0.0, -1.0, 0.0]))
    turned[:, rig.roles["left_shoulder"]] = quat_mul(down, turned[:, rig.roles["left_shoulder"]])
    turned[:, rig.roles["left_elbow"]] = quat_mul(turned[:, rig.roles["left_elbow"]], bend)
    clip = sample_clip(rig, "walk", seconds=frames / 60.0, fps=60.0)
    return replace(clip, rotations=turned, root=np.tile(rig.tpose().root, (frames, 1)))


def twisted(clip, turn):
    """Turn the left arm about itself by (T,) radians, the wrong way noise has of bending it."""
    upper = rotvec_to_quat(np.asarray(turn)[:, None] * np.array([1.0, 0.0, 0.0]))
    q = np.array(clip.rotations)
    q[:, RIG.roles["left_shoulder"]] = quat_mul(q[:, RIG.roles["left_shoulder"]], upper)
    return replace(clip, rotations=q)


def test_a_straight_arm_turned_over_by_noise_comes_back():
    bent = np.full(120, 60.0)
    bent[40:80] = 4.0
    wrong = np.zeros(120)
    wrong[50:70] = np.random.default_rng(SEED).uniform(-2.5, 2.5, 20)
    spoiled = twisted(arm(bent), wrong)
    assert twist_jumps(spoiled)
    steady = steady_straight_limbs(spoiled, NOISE)
    assert not twist_jumps(steady)
    role = role_map(RIG)
    D, _ = role.from_rig(steady.pose())
    true, _ = role.from_rig(arm(bent).pose())
    assert np.degrees(geodesic(D, true)).max() < 40.0
    assert np.abs(steady.positions() - arm(bent).positions()).max() < 0.06


def test_bent_arms_and_clean_takes_are_left_alone():
    turning = np.linspace(-1.0, 1.0, 120)
    bent = twisted(arm(70.0), turning)
    assert geodesic(steady_straight_limbs(bent, NOISE).rotations, bent.rotations).max() < np.radians(4.0)
    straight = twisted(arm(2.0), turning)
    assert steady_straight_limbs(straight, 0.0) is straight


def test_seen_hands_and_feet_keep_their_turn():
    spoiled = twisted(arm(3.0), np.pi * np.random.default_rng(SEED).random(120))
    before = spoiled.world().rotations[:, RIG.roles["left_wrist"]]
    known = steady_straight_limbs(spoiled, NOISE, known_ends={"left_wrist": np.ones(120, dtype=bool)})
    assert geodesic(known.world().rotations[:, RIG.roles["left_wrist"]], before).max() < 1e-6
    free = steady_straight_limbs(spoiled, NOISE).rotations[:, RIG.roles["left_wrist"]]
    kept = quat_mul(quat_inv(spoiled.rotations[:, RIG.roles["left_wrist"]]), free)
    assert np.degrees(geodesic(kept, np.array([0.0, 0.0, 0.0, 1.0]))).max() < 20.0


@pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
def test_what_is_sure_is_kept_and_what_is_not_is_bridged(fps):
    t = np.arange(round(3 * fps)) / fps
    truth = 0.8 * np.sin(2.0 * t)
    weight = np.where((t > 1.0) & (t < 1.6), 1e-3, 1.0)
    seen = np.where(weight < 1.0, truth + 2.0, truth)
    found = followed(seen, weight, fps)
    assert np.abs(found - truth)[weight == 1.0].max() < 0.35
    assert np.abs(found - truth).mean() < 0.12
