import numpy as np
import pytest
from tests.takes import layout_walk, walk_take

from mimik.errors import OptionError
from mimik.goals.axes import _TO_Y_UP, UNITS, UP_AXES, normalise_take, recognise_axes
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LAYOUTS, recognise


@pytest.mark.parametrize("up", UP_AXES)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("layout", ["body25", "coco17", "human36m"])
def test_units_and_up_axis_are_found_and_undone(layout, unit, up):
    walk = layout_walk(layout)
    raw = walk @ np.array(_TO_Y_UP[up], dtype=float) / UNITS[unit]
    take = normalise_take(Keypoints(LAYOUTS[layout].names, raw, 30.0))
    assert np.allclose(take.positions, walk, atol=1e-9)
    assert take.notes == ()


@pytest.mark.parametrize("layout", ["body25", "coco17", "human36m", "mediapipe"])
def test_mirrored_data_are_found_and_turned_over(layout):
    walk = layout_walk(layout)
    take = normalise_take(Keypoints(LAYOUTS[layout].names, walk * [-1, 1, 1], 30.0))
    assert np.allclose(take.positions, walk, atol=1e-9, equal_nan=True)
    assert any("mirrored=False" in note for note in take.notes)
    kept = normalise_take(Keypoints(LAYOUTS[layout].names, walk * [-1, 1, 1], 30.0), mirrored=False)
    assert np.allclose(kept.positions, walk * [-1, 1, 1], equal_nan=True)


def test_told_options_win():
    take = walk_take("coco17")
    assert np.allclose(normalise_take(take, units="cm").positions, take.positions / 100)
    assert np.allclose(normalise_take(take, units=2.0).positions, take.positions * 2)
    turned = normalise_take(take, up="z").positions
    assert np.allclose(turned, take.positions @ np.array(_TO_Y_UP["+z"], dtype=float).T)


def test_height_scales_the_person():
    take = walk_take("body25")
    layout = recognise(take.names)
    tall = normalise_take(take.with_positions(take.positions * 7.3), height=1.9)
    assert np.isclose(recognise_axes(tall.positions, layout, units="m").height, 1.9)


def test_a_height_no_unit_explains_is_said():
    take = walk_take("body25")
    normal = normalise_take(take.with_positions(take.positions * 4000.0))
    assert any("height=" in note for note in normal.notes)
    assert np.isclose(recognise_axes(normal.positions, recognise(take.names)).height, 1.7, atol=1e-6)


def test_doubt_is_said_with_the_option_that_settles_it():
    take = walk_take("body25")
    leaning = take.with_positions(take.positions[:1] @ np.array([[1, 0, 0], [0, 0.7, 0.7], [0, -0.7, 0.7]]))
    assert any("up=" in note for note in normalise_take(leaning).notes)
    child = take.with_positions(take.positions * 0.45)
    assert any("units=" in note for note in normalise_take(child).notes)


def test_header_unit_that_cannot_be_true_is_overruled_and_said():
    take = normalise_take(walk_take("body25"), likely_units="mm")
    assert np.allclose(take.positions, walk_take("body25").positions)
    assert any("file says mm" in note for note in take.notes)


def test_take_without_root_motion_is_put_on_the_floor():
    walk = walk_take("mediapipe")
    names = LAYOUTS["mediapipe"].names
    hips = (walk.positions[:, names.index("left_hip")] + walk.positions[:, names.index("right_hip")]) / 2
    still = walk.with_positions((walk.positions - hips[:, None]) * [1, -1, -1])
    auto = normalise_take(still)
    assert any("no root motion" in note for note in auto.notes)
    feet = np.nanmin(auto.positions[..., 1], axis=1)
    assert abs(np.percentile(feet, 5)) < 0.05
    assert np.ptp(np.diff(auto.positions[..., 1] - (still.positions * [1, -1, -1])[..., 1], axis=0)[:, 0]) < 1e-12
    each = np.nanmin(normalise_take(still, floor="frame").positions[..., 1], axis=1)
    assert np.ptp(each) < 0.03
    kept = normalise_take(still, floor="keep")
    assert np.nanmean(kept.positions[:, names.index("left_hip"), 1]) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize(
    "options", [{"units": "furlong"}, {"up": "w"}, {"floor": "sink"}, {"height": 40.0}, {"units": -1}]
)
def test_options_outside_their_values_are_refused(options):
    with pytest.raises(OptionError):
        normalise_take(walk_take("coco17"), **options)


def test_unknown_points_keep_axes_with_a_note():
    take = normalise_take(Keypoints(["a", "b"], np.ones((3, 2, 3)), 30.0), likely_up="+z", likely_units="mm")
    assert np.allclose(take.positions, [0.001, 0.001, -0.001])
    assert any("units=" in note for note in take.notes)
