"""Euler curves: exact, continuous over time, also through gimbal lock; kernels agree with their twins."""

import numpy as np
import pytest

from mimik.errors import OptionError
from mimik.io._bvh_euler import (
    EULER_ORDERS,
    channels_to_quats,
    channels_to_quats_reference,
    continuous_euler,
    reframe_quats,
    reframe_quats_reference,
)
from mimik.rotation import euler_to_quat, geodesic
from tests.builders import SEED, random_quats


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_angles_give_the_rotation_back(order):
    q = random_quats(np.random.default_rng(SEED), 200, 5)
    angles = continuous_euler(q, order)
    np.testing.assert_allclose(geodesic(euler_to_quat(angles, order, degrees=True), q), 0.0, atol=1e-12)


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("b", [0.0, 89.0, 90.0, -90.0])
def test_smooth_curves_come_back_as_they_were(order, b):
    t = np.linspace(0.0, 1.0, 400)
    curve = np.stack([20 + 15 * np.sin(3 * t), b + 25 * np.sin(7 * t + 0.1), 500 * t], axis=-1)
    q = euler_to_quat(curve, order, degrees=True)[:, None]
    angles = continuous_euler(q, order)[:, 0]
    np.testing.assert_allclose(np.diff(angles, axis=0), np.diff(curve, axis=0), atol=1e-6)


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_turning_in_gimbal_lock_does_not_jump(order):
    t = np.linspace(0.0, 1.0, 300)
    curve = np.stack([30 + 0 * t, 90 + 0 * t, 700 * t], axis=-1)
    q = euler_to_quat(curve, order, degrees=True)[:, None]
    angles = continuous_euler(q, order)
    np.testing.assert_allclose(geodesic(euler_to_quat(angles, order, degrees=True), q), 0.0, atol=1e-7)
    assert np.abs(np.diff(angles, axis=0)).max() < 3.0


def test_a_hinge_beyond_a_right_angle_stays_on_one_curve():
    bend = np.deg2rad(np.linspace(0, 150, 60))
    q = np.stack([np.sin(bend / 2), 0 * bend, 0 * bend, np.cos(bend / 2)], axis=-1)[:, None]
    angles = continuous_euler(q, "ZXY")[:, 0]
    np.testing.assert_allclose(angles, np.stack([0 * bend, np.rad2deg(bend), 0 * bend], axis=-1), atol=1e-9)


def test_signs_of_quaternions_do_not_matter():
    rng = np.random.default_rng(SEED)
    q = random_quats(rng, 50, 3)
    flipped = q * rng.choice([-1.0, 1.0], size=(50, 3, 1))
    np.testing.assert_allclose(continuous_euler(q, "XYZ"), continuous_euler(flipped, "XYZ"), atol=1e-9)


def test_unknown_orders_are_refused():
    for order in ("XYX", "ZX", "", "abc", 3):
        with pytest.raises(OptionError, match="ZXY"):
            continuous_euler(random_quats(np.random.default_rng(0), 1, 1), order)


def test_kernels_agree_with_their_twins():
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(40, 9)) * 200
    starts = np.array([0, 3, 3, 5, 9])
    columns, axes = np.array([2, 0, 1, 4, 3, 8, 7, 6, 5]), np.array([2, 0, 1, 1, 1, 0, 1, 2, 0])
    np.testing.assert_allclose(
        channels_to_quats(values, starts, columns, axes),
        channels_to_quats_reference(values, starts, columns, axes),
        atol=1e-14,
    )
    before, after, q = random_quats(rng, 4), random_quats(rng, 4), random_quats(rng, 30, 4)
    np.testing.assert_allclose(reframe_quats(before, q, after), reframe_quats_reference(before, q, after), atol=1e-14)
