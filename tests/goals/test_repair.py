import time

import numpy as np
import pytest
from tests.builders import SEED
from tests.takes import layout_walk, role_walk, walk_take

from mimik.errors import GoalError
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LAYOUTS
from mimik.goals.proportions import fit_bone_lengths
from mimik.goals.repair import repair
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES


def joint(name: str) -> int:
    return BODY_ROLES.index(name)


def take_of(positions: np.ndarray) -> Keypoints:
    return Keypoints(BODY_ROLES, positions, 30.0)


def exchange(positions: np.ndarray, rows: slice, parts: list[str]) -> None:
    for part in parts:
        left, right = joint(f"left_{part}"), joint(f"right_{part}")
        positions[rows, left], positions[rows, right] = positions[rows, right].copy(), positions[rows, left].copy()


def test_a_clean_take_stays_as_it_is():
    walk = role_walk(90)
    clean, report = repair(take_of(walk))
    assert np.array_equal(clean.positions, walk)
    assert (clean.confidence == 1).all()
    assert report.lines() == [] and report.missing == 0


def test_noise_is_no_defect():
    rng = np.random.default_rng(SEED)
    walk = role_walk(90) + 0.01 * rng.normal(size=(90, 22, 3))
    _, report = repair(take_of(walk))
    assert report.swapped_frames == {}
    assert report.outliers <= 2


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        (["hip", "knee", "ankle", "foot"], "legs"),
        (["knee", "ankle", "foot"], "legs"),
        (["ankle", "foot"], "legs"),
        (["collar", "shoulder", "elbow", "wrist"], "arms"),
        (["wrist"], "arms"),
        (["hip", "knee", "ankle", "foot", "shoulder", "elbow", "wrist", "collar"], "whole body"),
    ],
)
@pytest.mark.parametrize("rows", [slice(20, 21), slice(30, 55), slice(70, 90)])
def test_swapped_sides_are_undone_and_counted(parts, named, rows):
    walk = role_walk(90)
    rng = np.random.default_rng(SEED)
    noisy = walk + 0.004 * rng.normal(size=walk.shape)
    swapped = noisy.copy()
    exchange(swapped, rows, parts)
    fixed, report = repair(take_of(swapped), outliers=False)
    assert np.array_equal(fixed.positions, noisy)
    assert report.swapped_frames[named] == rows.stop - rows.start
    kept, _ = repair(take_of(swapped), swaps=False, outliers=False)
    assert np.array_equal(kept.positions, swapped)


def test_spikes_and_bursts_are_replaced():
    walk = role_walk(90)
    rng = np.random.default_rng(SEED)
    bad = walk.copy()
    spikes = rng.random((90, 22)) < 0.02
    bad[spikes] += 0.4
    bad[40:48, joint("right_wrist")] += [0.0, 0.9, 0.0]
    fixed, report = repair(take_of(bad))
    off = np.linalg.norm(fixed.positions - walk, axis=2)
    assert off.max() < 0.1
    assert report.outliers >= 0.9 * (spikes.sum() + 8)
    assert (fixed.confidence[40:48, joint("right_wrist")] < 0.7).all()


def test_a_body_that_jumps_whole_is_no_outlier():
    walk = role_walk(90).copy()
    walk[40:52] += [0.8, 0.3, -0.5]
    fixed, report = repair(take_of(walk))
    assert report.outliers == 0 and np.array_equal(fixed.positions, walk)


def test_a_point_that_strays_for_long_is_caught_by_its_bone():
    walk = role_walk(90)
    bad = walk.copy()
    bad[30:60, joint("left_wrist")] += np.linspace(0, 1, 30)[:, None] * [0.0, 0.6, 0.0]
    fixed, _ = repair(take_of(bad))
    length = np.linalg.norm(fixed.positions[:, joint("left_wrist")] - fixed.positions[:, joint("left_elbow")], axis=1)
    assert length.max() < 0.36


def test_short_gaps_follow_the_motion():
    walk = role_walk(90)
    rng = np.random.default_rng(SEED)
    holes = walk.copy()
    holes[rng.random((90, 22)) < 0.15] = np.nan
    lost = np.isnan(holes[..., 0])
    fixed, report = repair(take_of(holes))
    off = np.linalg.norm(fixed.positions - walk, axis=2)
    assert np.isfinite(fixed.positions).all()
    assert off[~lost].max() == 0
    assert np.percentile(off[lost], 95) < 0.03
    assert report.missing == lost.sum() == report.filled_short + report.filled_long


def test_a_long_gap_rides_with_the_body_and_keeps_the_bone():
    walk = role_walk(90)
    holes = walk.copy()
    wrist, elbow = joint("left_wrist"), joint("left_elbow")
    holes[25:70, wrist] = np.nan
    fixed, report = repair(take_of(holes))
    off = np.linalg.norm(fixed.positions[25:70, wrist] - walk[25:70, wrist], axis=1)
    share = np.linspace(0, 1, 47)[1:-1, None]
    straight = walk[24, wrist] * (1 - share) + walk[70, wrist] * share
    assert off.mean() < 0.7 * np.linalg.norm(straight - walk[25:70, wrist], axis=1).mean()
    length = np.linalg.norm(fixed.positions[:, wrist] - fixed.positions[:, elbow], axis=1)
    assert np.ptp(length) < 1e-6
    assert report.filled_long == 45 and report.longest_gap == pytest.approx(1.5)
    confidence = fixed.confidence[:, wrist]
    assert confidence[25] > confidence[40] > 0 and (confidence[:25] == 1).all()


def test_gaps_at_the_ends_and_of_the_whole_body_are_filled():
    walk = role_walk(90)
    holes = walk.copy()
    holes[:10, joint("right_ankle")] = np.nan
    holes[80:, joint("left_hip")] = np.nan
    holes[50:55] = np.nan
    fixed, _ = repair(take_of(holes))
    assert np.isfinite(fixed.positions).all()
    assert np.linalg.norm(fixed.positions - walk, axis=2).max() < 0.35


def test_points_never_seen_stay_missing_and_are_named():
    holes = role_walk(60).copy()
    holes[:, joint("head")] = np.nan
    fixed, report = repair(take_of(holes))
    assert np.isnan(fixed.positions[:, joint("head")]).all()
    assert (fixed.confidence[:, joint("head")] == 0).all()
    assert report.never_seen == ("head",) and report.missing == 0


def test_confidence_zero_is_missing():
    walk = role_walk(60)
    confidence = np.ones((60, 22))
    confidence[20:23, 5] = 0
    bad = walk.copy()
    bad[20:23, 5] = 99.0
    fixed, report = repair(Keypoints(BODY_ROLES, bad, 30.0, confidence))
    assert np.linalg.norm(fixed.positions - walk, axis=2).max() < 0.02
    assert report.missing == 3


@pytest.mark.parametrize("name", ["body25", "coco17", "mediapipe", "human36m", "panoptic15", "theia", "plug_in_gait"])
def test_every_layout_can_be_repaired(name):
    take = (
        walk_take(name)
        if name != "plug_in_gait"
        else Keypoints(
            LAYOUTS[name].names, np.random.default_rng(SEED).normal(size=(20, len(LAYOUTS[name].names), 3)), 30.0
        )
    )
    holes = take.positions.copy()
    holes[5:8, 3] = np.nan
    fixed, _ = repair(take.with_positions(holes))
    seen = np.isfinite(take.positions).all(axis=2).any(axis=0)
    assert np.isfinite(fixed.positions[:, seen]).all()


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_the_shortest_takes_pass(frames):
    fixed, _ = repair(take_of(role_walk(60)[:frames]))
    assert np.array_equal(fixed.positions, role_walk(60)[:frames])


def test_ten_minutes_are_repaired_in_seconds():
    walk = np.tile(role_walk(90), (400, 1, 1))
    walk = np.where(np.random.default_rng(SEED).random((36000, 22, 1)) < 0.02, np.nan, walk)
    repair(take_of(walk[:100]))
    start = time.process_time()
    repair(Keypoints(BODY_ROLES, walk, 60.0))
    assert time.process_time() - start < 6.0


def true_lengths() -> np.ndarray:
    walk = role_walk(90)
    return np.array([np.nan if p < 0 else np.linalg.norm(walk[0, j] - walk[0, p]) for j, p in enumerate(BODY_PARENTS)])


@pytest.mark.parametrize("noise", [0.0, 0.005, 0.02])
def test_bone_lengths_and_noise_are_recovered(noise):
    rng = np.random.default_rng(SEED)
    walk = np.tile(role_walk(90), (20, 1, 1))
    fit = fit_bone_lengths(walk + noise * rng.normal(size=walk.shape))
    truth = true_lengths()
    assert np.nanmax(np.abs(fit.lengths - truth)[truth > 0.15]) < 0.0005 + 0.1 * noise
    assert fit.noise == pytest.approx(noise, rel=0.1, abs=1e-4)
    assert np.isnan(fit.lengths[0])


def test_outlier_frames_do_not_stretch_the_limbs():
    walk = role_walk(90).copy()
    walk[::6, joint("left_wrist")] += 2.0
    fit = fit_bone_lengths(walk)
    assert fit.lengths[joint("left_wrist")] == pytest.approx(true_lengths()[joint("left_wrist")], abs=1e-3)


def test_sides_are_pooled_and_unseen_sides_take_the_other():
    walk = role_walk(90).copy()
    walk[:, joint("left_ankle")] = np.nan
    fit = fit_bone_lengths(walk)
    assert fit.lengths[joint("left_ankle")] == fit.lengths[joint("right_ankle")]
    assert np.isnan(fit.left_right[joint("left_ankle")])
    assert np.isnan(fit_bone_lengths(walk, symmetric=False).lengths[joint("left_ankle")])


def test_confidence_weighs():
    walk = role_walk(90).copy()
    confidence = np.ones((90, 22))
    walk[:60, joint("left_elbow")] += 0.3
    confidence[:60, joint("left_elbow")] = 0.01
    fit = fit_bone_lengths(walk, confidence, symmetric=False)
    assert fit.lengths[joint("left_elbow")] == pytest.approx(true_lengths()[joint("left_elbow")], abs=2e-3)


def test_wrong_shapes_are_refused():
    with pytest.raises(GoalError, match="22"):
        fit_bone_lengths(np.zeros((3, 5, 3)))


@pytest.mark.parametrize(("hidden", "limb"), [("left_knee", "leg"), ("right_elbow", "arm")])
def test_a_knee_or_elbow_between_seen_joints_is_placed_by_the_triangle(hidden, limb):
    truth = role_walk(180, 60.0)
    points = truth.copy()
    points[40:130, joint(hidden)] = np.nan
    fixed, _ = repair(take_of(points))
    off = np.linalg.norm(fixed.positions[:, joint(hidden)] - truth[:, joint(hidden)], axis=1)
    assert off.max() < 0.07, limb


def test_a_mid_point_that_is_hidden_rides_between_its_two():
    truth = layout_walk("halpe26", 120).copy()
    names = list(LAYOUTS["halpe26"].names)
    points = truth.copy()
    points[30:90, [names.index("Neck"), names.index("Hip")]] = np.nan
    fixed, _ = repair(Keypoints(names, points, 30.0, layout="halpe26"))
    assert np.abs(fixed.positions - truth)[:, [names.index("Neck"), names.index("Hip")]].max() < 0.005
