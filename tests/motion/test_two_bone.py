"""Two-bone limbs: on target, bent the right way, calm at the degenerate poses."""

import numpy as np
import pytest

from mimik.rig.two_bone import adjust_two_bone, solve_two_bone
from mimik.rotation import geodesic, identity_quat, quat_apply
from tests.builders import SEED, random_quats

THIGH, SHIN = np.array([0.01, -0.42, 0.02]), np.array([0.0, -0.40, -0.03])
HINGE = np.array([1.0, 0.0, 0.0])


def end_of(start, q_upper, q_lower):
    return start + quat_apply(q_upper, THIGH) + quat_apply(q_lower, SHIN)


def test_reaches_every_place_within_reach():
    rng = np.random.default_rng(SEED)
    start = rng.normal(size=(500, 3))
    direction = rng.normal(size=(500, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = start + direction * rng.uniform(0.05, 0.81, size=(500, 1))
    pole = rng.normal(size=(500, 3))
    upper, lower = solve_two_bone(start, target, pole, THIGH, SHIN, HINGE)
    assert np.abs(end_of(start, upper, lower) - target).max() < 1e-9
    knee = quat_apply(upper, THIGH)
    along = target - start
    side = knee - (knee * along).sum(1, keepdims=True) / (along**2).sum(1, keepdims=True) * along
    assert ((side * pole).sum(1) > -1e-9).all()


def test_knee_bends_about_its_hinge():
    target = np.array([[0.0, -0.6, 0.2]])
    upper, lower = solve_two_bone(
        np.zeros((1, 3)), target, np.array([[0.0, 0.0, 1.0]]), THIGH * [0, 1, 0], SHIN * [0, 1, 0], HINGE
    )
    assert np.allclose(quat_apply(upper, HINGE), HINGE, atol=1e-9)
    assert np.allclose(quat_apply(lower, HINGE), HINGE, atol=1e-9)
    assert quat_apply(upper, THIGH)[0, 2] > quat_apply(lower, SHIN)[0, 2]


@pytest.mark.parametrize("target", [[0, -5.0, 0], [0, 0, 0], [0, 1e-9, 0], [0, 0, -0.5]])
def test_degenerate_targets_stay_finite(target):
    upper, lower = solve_two_bone(np.zeros(3), np.array(target, float), np.array([0, 0, 1.0]), THIGH, SHIN, HINGE)
    assert np.isfinite(upper).all() and np.isfinite(lower).all()
    assert np.allclose(np.linalg.norm(upper), 1) and np.allclose(np.linalg.norm(lower), 1)


def random_limb(rng, count):
    start = rng.normal(size=(count, 3))
    upper, lower = (random_quats(rng, count) for _ in range(2))
    middle = start + quat_apply(upper, THIGH)
    return start, middle, middle + quat_apply(lower, SHIN), quat_apply(upper, HINGE)


def test_adjusting_moves_the_end_and_keeps_the_bones():
    rng = np.random.default_rng(SEED)
    start, middle, end, hinge = random_limb(rng, 400)
    direction = rng.normal(size=(400, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = start + direction * rng.uniform(0.1, 0.8, size=(400, 1))
    turn_a, turn_b = adjust_two_bone(start, middle, end, target, hinge)
    moved = start + quat_apply(turn_a, middle - start) + quat_apply(turn_b, end - middle)
    assert np.abs(moved - target).max() < 1e-6


def test_adjusting_to_the_same_place_is_the_identity():
    start, middle, end, hinge = random_limb(np.random.default_rng(SEED), 50)
    for turn in adjust_two_bone(start, middle, end, end.copy(), hinge):
        assert np.array_equal(turn, identity_quat(50))


def test_a_small_move_is_a_small_turn():
    rng = np.random.default_rng(SEED)
    start, middle, end, hinge = random_limb(rng, 300)
    bent = np.linalg.norm(np.cross(middle - start, end - middle), axis=1) > 0.03
    target = end + 1e-4 * rng.normal(size=end.shape)
    for turn in adjust_two_bone(start, middle, end, target, hinge):
        assert geodesic(turn, identity_quat(300))[bent].max() < 0.02


def test_a_straight_limb_opens_about_its_hinge():
    start, middle, end = np.zeros((1, 3)), np.array([[0, -0.4, 0.0]]), np.array([[0, -0.8, 0.0]])
    turn_a, turn_b = adjust_two_bone(start, middle, end, np.array([[0.0, -0.7, 0.0]]), np.array([[1.0, 0, 0]]))
    knee = quat_apply(turn_a, middle)
    assert knee[0, 2] > 0.05
    assert np.allclose(knee + quat_apply(turn_b, end - middle), [[0, -0.7, 0]], atol=1e-9)
