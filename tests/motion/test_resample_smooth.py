"""Resampling and smoothing: exact where it must be, without delay, indifferent to signs."""

from dataclasses import replace

import numpy as np
import pytest

from mimik.errors import OptionError
from mimik.goals.keypoints import Keypoints
from mimik.motion.clip import Clip
from mimik.motion.measures import jitter
from mimik.motion.resample import resample, resample_keypoints, trim
from mimik.motion.sample import sample_clip
from mimik.motion.smooth import (
    OneEuro,
    OneEuroRotation,
    smooth_clip,
    smooth_keypoints,
    smooth_rotations,
    smooth_values,
)
from mimik.rotation import geodesic, quat_mul, rotvec_to_quat
from tests.builders import SEED
from tests.motion.bodies import humanoid

RIG = humanoid()
WALK = sample_clip(RIG, "walk", seconds=3)
METHODS = ("butterworth", "savgol")


@pytest.mark.parametrize("fps", [24.0, 29.97, 30.0, 50.0, 59.94, 120.0, 144.0, 7.3])
def test_original_frames_are_exact_and_time_is_kept(fps):
    other = resample(WALK, fps)
    assert other.fps == fps
    assert abs((other.frame_count - 1) / fps - (WALK.frame_count - 1) / WALK.fps) < 1.0 / fps
    for k in range(other.frame_count):
        place = k * WALK.fps / fps
        if abs(place - round(place)) < 1e-9:
            assert np.array_equal(other.rotations[k], WALK.rotations[round(place)])
            assert np.array_equal(other.root[k], WALK.root[round(place)])


def test_up_and_down_again_is_the_same():
    back = resample(resample(WALK, 240.0), 60.0)
    assert np.array_equal(back.rotations, WALK.rotations) and np.array_equal(back.root, WALK.root)
    assert resample(WALK, 60.0) is WALK


def test_between_frames_the_turn_is_even_and_signs_do_not_matter():
    flipped = np.array(WALK.rotations)
    flipped[::2] *= -1
    one, two = resample(WALK, 120.0), resample(replace(WALK, rotations=flipped), 120.0)
    assert geodesic(one.rotations, two.rotations).max() < 1e-9
    halves = geodesic(one.rotations[:-1:2][: WALK.frame_count - 1], one.rotations[1::2])
    assert np.abs(2 * halves - geodesic(WALK.rotations[:-1], WALK.rotations[1:])).max() < 1e-7


def test_sliding_joints_and_single_frames():
    moves = (
        np.broadcast_to(RIG.offsets, (WALK.frame_count, *RIG.offsets.shape))
        * np.linspace(1, 2, WALK.frame_count)[:, None, None]
    )
    clip = replace(WALK, translations=moves)
    assert np.allclose(resample(clip, 120.0).translations[::2], clip.translations)
    assert resample(WALK[:1], 120.0).frame_count == 1
    with pytest.raises(OptionError):
        resample(WALK, 0.0)


def test_keypoints_keep_their_gaps():
    points = np.array(WALK.positions())
    points[10:20, 3] = np.nan
    take = Keypoints(RIG.names, points, 60.0, np.ones(points.shape[:2]))
    other = resample_keypoints(take, 120.0)
    assert np.isnan(other.positions[19:40, 3]).all()
    assert np.isfinite(other.positions[:19, 3]).all()
    assert np.array_equal(other.positions[::2], take.positions, equal_nan=True)
    assert other.confidence is not None


def test_trim():
    assert trim(WALK, 1.0, 2.0).frame_count == 60
    assert np.array_equal(trim(WALK, 1.0).root, WALK.root[60:])
    with pytest.raises(OptionError, match="lasts"):
        trim(WALK, 5.0)


def noisy_walk(radians=0.03, metres=0.01):
    rng = np.random.default_rng(SEED)
    rotations = quat_mul(WALK.rotations, rotvec_to_quat(radians * rng.normal(size=(*WALK.rotations.shape[:2], 3))))
    return replace(WALK, rotations=rotations, root=WALK.root + metres * rng.normal(size=WALK.root.shape))


@pytest.mark.parametrize("method", METHODS)
def test_smoothing_takes_noise_and_leaves_motion(method):
    noisy = noisy_walk()
    calm = smooth_clip(noisy, 6.0, method=method)
    inside = slice(10, -10)
    before = geodesic(noisy.rotations, WALK.rotations)[inside].mean()
    after = geodesic(calm.rotations, WALK.rotations)[inside].mean()
    assert after < 0.62 * before
    assert jitter(calm.positions(), 60) < 0.2 * jitter(noisy.positions(), 60)
    clean = smooth_clip(WALK, 8.0, method=method)
    assert np.degrees(geodesic(clean.rotations, WALK.rotations)[inside].mean()) < 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_no_delay_and_the_cutoff_is_in_hertz(method, fps):
    t = np.arange(round(6 * fps)) / fps
    middle = slice(len(t) // 4, -len(t) // 4)
    for hertz, low, high in ((1.0, 0.97, 1.03), (6.0, 0.35, 0.85), (14.0, -0.1, 0.2)):
        wave = np.sin(2 * np.pi * hertz * t)[:, None]
        kept = (
            smooth_values(wave, fps, 6.0, method=method)[middle, 0]
            @ wave[middle, 0]
            / (wave[middle, 0] @ wave[middle, 0])
        )
        assert low < kept < high
        quadrature = np.cos(2 * np.pi * hertz * t)[middle]
        assert abs(smooth_values(wave, fps, 6.0, method=method)[middle, 0] @ quadrature) < 0.03 * len(quadrature)


@pytest.mark.parametrize("method", METHODS)
def test_signs_and_large_turns(method):
    spin = rotvec_to_quat(np.linspace(0, 12, 200)[:, None] * [0.0, 1.0, 0.0])
    calm = smooth_rotations(spin, 60.0, 6.0, method=method)
    assert geodesic(calm, spin)[20:-20].max() < 1e-3
    flips = spin * np.where(np.arange(200) % 3 == 0, -1.0, 1.0)[:, None]
    assert geodesic(smooth_rotations(flips, 60.0, 6.0, method=method), calm).max() < 1e-9


def test_smoothing_edges():
    values = np.random.default_rng(0).normal(size=(50, 3))
    assert np.array_equal(smooth_values(values, 60.0, 40.0), values)
    for count in range(8):
        for method in METHODS:
            assert smooth_values(values[:count], 60.0, 6.0, method=method).shape == (count, 3)
    constant = np.ones((40, 2))
    assert np.allclose(smooth_values(constant, 60.0, 6.0), 1.0)
    with pytest.raises(OptionError):
        smooth_values(values, 60.0, -1.0)
    with pytest.raises(OptionError, match="valid"):
        smooth_values(values, 60.0, 5.0, method="median")


def test_keypoint_gaps_stay_gaps():
    points = np.array(WALK.positions())
    points[40:60, 5] = np.nan
    calm = smooth_keypoints(Keypoints(RIG.names, points, 60.0), 6.0)
    assert np.array_equal(np.isnan(calm.positions), np.isnan(points))
    assert any("6 Hz" in note for note in calm.notes)


def test_one_euro_is_calm_at_rest_and_quick_in_motion():
    rng = np.random.default_rng(SEED)
    t = np.arange(600) / 60.0
    truth = np.where(t < 5, 0.0, 2.0 * (t - 5))[:, None] * np.ones(3)
    noisy = truth + 0.005 * rng.normal(size=truth.shape)
    for one_euro in (OneEuro(), OneEuro()):
        filtered = np.array([one_euro(x, 1 / 60) for x in noisy])
        assert filtered[60:290].std() < 0.6 * noisy[60:290].std()
        assert np.abs(filtered[-60:] - truth[-60:]).max() < 0.06


def test_one_euro_rotation_and_gaps():
    one_euro = OneEuroRotation()
    turned = [rotvec_to_quat(np.array([[0.0, a, 0.0]])) for a in np.linspace(0, 3, 120)]
    for k, q in enumerate(turned):
        out = one_euro(-q if k % 2 else q, 1 / 60)
    assert geodesic(out, turned[-1]).max() < 0.1
    before = one_euro(turned[-1], 1 / 60)
    assert geodesic(one_euro(np.full((1, 4), np.nan), 1 / 60), before).max() < 1e-6
    points = OneEuro()
    points(np.array([[np.nan, 0.0, 0.0]]), 0.01)
    assert np.isfinite(points(np.zeros((1, 3)), 0.01)).all()
    points.reset()
    assert np.array_equal(points(np.ones((1, 3)), 0.01), np.ones((1, 3)))
    with pytest.raises(OptionError):
        points(np.ones((1, 3)), 0.0)


def test_clip_without_frames_in_between_survives():
    clip = Clip(RIG, WALK.rotations[:3], WALK.root[:3], 60.0)
    assert smooth_clip(clip, 6.0).frame_count == 3
