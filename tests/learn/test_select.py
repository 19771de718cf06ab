import numpy as np

from mimik.learn.select import frames_per_cell, k_centres, pose_features, select_diverse
from mimik.rig.builtin import builtin_rig
from mimik.rig.role_space import role_offsets
from mimik.rotation import quat_mul, rotvec_to_quat
from tests.learn.motions import smooth_rotations


def test_common_poses_do_not_drown_rare_ones():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(3000, 12)).astype(np.float32) * 0.02
    rare = rng.normal(size=(40, 12)).astype(np.float32) * 3.0 + 5.0
    picked = select_diverse(np.concatenate([common, rare]), 150, cells=64)
    assert (picked >= 3000).sum() == 40
    assert 100 <= len(picked) <= 150
    assert (np.diff(picked) > 0).all()


def test_selection_is_reproducible_and_returns_all_when_there_are_few():
    features = np.random.default_rng(1).normal(size=(500, 6)).astype(np.float32)
    assert np.array_equal(select_diverse(features, 100, cells=32), select_diverse(features, 100, cells=32))
    assert len(select_diverse(features, 900)) == 500


def test_centres_cover_the_set():
    points = np.random.default_rng(2).uniform(size=(800, 2)).astype(np.float32)
    centres = points[k_centres(points, 60, np.random.default_rng(3))]
    distance = np.linalg.norm(points[:, None] - centres[None], axis=-1).min(axis=1)
    assert distance.max() < 0.15


def test_cap_fills_the_target_without_passing_it():
    counts = np.array([1000, 10, 3, 0])
    assert frames_per_cell(counts, 50) == 37
    assert frames_per_cell(counts, 2) == 1


def test_features_ignore_heading_and_see_turned_hands():
    body = role_offsets(builtin_rig("humanoid"))
    D = smooth_rotations(np.random.default_rng(4), 5)
    turned = quat_mul(rotvec_to_quat([0.0, 1.3, 0.0]), D)
    assert np.allclose(pose_features(D, body), pose_features(turned, body), atol=1e-5)
    bent = D.copy()
    bent[:, 20] = quat_mul(bent[:, 20], rotvec_to_quat([0.0, 0.0, 1.0]))
    assert np.abs(pose_features(bent, body) - pose_features(D, body)).max() > 0.03
