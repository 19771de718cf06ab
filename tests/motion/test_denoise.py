"""Noise taken out band by band: less error than before, hits kept sharp, nothing done to what is clean."""

import numpy as np
import pytest

from mimik.motion.denoise import EDGES, band_edges, band_noise, denoise, white_noise
from mimik.motion.sample import sample_clip
from mimik.motion.smooth import _low_pass, low_pass_twin
from tests.builders import SEED
from tests.motion.bodies import humanoid

RIG = humanoid()
FPS = 60.0
WALK = sample_clip(RIG, "walk", seconds=4, fps=FPS).positions()
PARTS = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
BONES = [(RIG.roles[f"{side}_{a}"], RIG.roles[f"{side}_{b}"]) for side in ("left", "right") for a, b in PARTS]


def spoiled(sigma, *, lasting=0.0):
    noise = np.random.default_rng(SEED).normal(0.0, sigma, WALK.shape)
    for t in range(1, len(noise)):
        noise[t] = lasting * noise[t - 1] + np.sqrt(1.0 - lasting**2) * noise[t]
    return WALK + noise


def error(points):
    return float(np.linalg.norm(points - WALK, axis=2).mean())


@pytest.mark.parametrize("share", [0.02, 0.2, 0.8])
@pytest.mark.parametrize("shape", [(50,), (50, 3), (50, 4, 3)])
def test_compiled_filter_and_twin_agree(share, shape):
    values = np.random.default_rng(SEED).normal(size=shape)
    assert np.allclose(_low_pass(values, share), low_pass_twin(values, share), atol=1e-12)


@pytest.mark.parametrize("sigma", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("lasting", [0.0, 0.8])
def test_noise_is_measured_by_bones_and_mostly_taken_out(sigma, lasting):
    points = spoiled(sigma, lasting=lasting)
    found = band_noise(points, BONES, FPS)
    if not lasting:
        assert np.sqrt((found**2).sum()) == pytest.approx(sigma, rel=0.35)
    clean, kept = denoise(points, FPS, found)
    assert error(clean) < (0.99 if lasting else 0.6) * error(points)
    assert EDGES[0] <= kept < 0.5 * FPS


def test_the_noisier_the_slower_what_is_kept():
    kept = [denoise(spoiled(s), FPS, white_noise(s, FPS))[1] for s in (0.002, 0.01, 0.05)]
    assert kept[0] > kept[1] > kept[2]


def test_without_noise_nothing_changes():
    assert np.abs(denoise(WALK, FPS, np.zeros(len(band_edges(FPS))))[0] - WALK).max() < 1e-9


def test_a_hit_stays_where_the_rest_is_calmed():
    still = np.zeros((240, 2, 3))
    still[118:126, 1, 0] = [0.05, 0.2, 0.35, 0.4, 0.4, 0.35, 0.2, 0.05]
    noisy = still + np.random.default_rng(SEED).normal(0.0, 0.005, still.shape)
    clean, _ = denoise(noisy, FPS, white_noise(0.005, FPS))
    assert clean[118:126, 1, 0].max() > 0.35
    assert np.abs(clean[30:90]).std() < 0.4 * np.abs(noisy[30:90]).std()


def test_points_with_gaps_and_short_takes_come_back_as_they_are():
    points = spoiled(0.01)
    points[7, 3] = np.nan
    clean, _ = denoise(points, FPS, white_noise(0.01, FPS))
    assert np.array_equal(clean[:, 3], points[:, 3], equal_nan=True)
    assert np.isfinite(clean[:, 0]).all() and not np.array_equal(clean[:, 0], points[:, 0])
    short = spoiled(0.01)[:9]
    assert np.array_equal(denoise(short, FPS, white_noise(0.01, FPS))[0], short)


def test_edges_stay_below_what_a_take_can_hold():
    assert max(band_edges(10.0)) < 5.0 and band_edges(120.0) == EDGES
    assert np.isnan(band_noise(np.full((40, 2, 3), np.nan), [(0, 1)], 30.0)).all()
