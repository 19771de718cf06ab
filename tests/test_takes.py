"""The whole way of a take: exactness, repair, proportions, noise, layouts, refusals."""

from dataclasses import replace

import numpy as np
import pytest

import mimik
from mimik.errors import GoalError, LayoutError, OptionError
from mimik.goals.layouts import LAYOUTS
from mimik.motion.measures import foot_slide
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.proportions import body_height, bone_lengths
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic
from mimik.takes import TakeOptions, solve_take
from tests.takes import walk_take

RIGS = ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu")


@pytest.fixture(scope="module")
def walk():
    return sample_clip(builtin_rig("humanoid"), "walk", seconds=2.0, fps=30.0, seed=2)


def take_of(clip, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    points = clip.positions()
    return mimik.Keypoints(clip.rig.names, points + rng.normal(0.0, noise, points.shape), clip.fps)


def distances(clip, take):
    joints = [clip.rig.roles[role] for role in BODY_ROLES if role in clip.rig.roles]
    points = [take.names.index(role) for role in BODY_ROLES if role in clip.rig.roles]
    return np.linalg.norm(clip.positions()[:, joints] - take.positions[:, points], axis=2)


def test_clean_joints_are_met_exactly(walk):
    solved = mimik.solve(take_of(walk), walk.rig)
    assert distances(solved, take_of(walk)).max() < 1e-5
    assert solved.rig is walk.rig
    assert np.degrees(geodesic(solved.rotations, walk.rotations)).mean() < 12.0


@pytest.mark.parametrize("name", RIGS)
def test_built_in_rigs_take_the_persons_proportions(walk, name):
    tall = mimik.Keypoints(walk.rig.names, walk.positions() * 1.1, walk.fps)
    solved = mimik.solve(tall, name)
    assert np.median(distances(solved, tall)) < 0.02
    assert body_height(solved.rig) == pytest.approx(1.1 * body_height(builtin_rig(name)), rel=0.04)


def test_a_given_rig_keeps_its_own_proportions(walk):
    rig = builtin_rig("mixamo", height=1.2)
    solved = mimik.solve(take_of(walk), rig)
    assert bone_lengths(solved.rig) == pytest.approx(bone_lengths(rig))
    assert foot_slide(solved) < 5.0


def test_single_poses_stacked_into_one_take_are_not_treated_as_motion(walk):
    rng = np.random.default_rng(3)
    order = rng.permutation(walk.frame_count)
    shuffled = replace(walk, rotations=walk.rotations[order], root=walk.root[order] + rng.normal(0, 2, (len(order), 3)))
    clip, report = solve_take(take_of(shuffled), walk.rig)
    assert not report.frames_are_motion and report.outliers == 0 and report.points_filled == 0
    assert distances(clip, take_of(shuffled)).max() < 1e-5


def test_noise_is_estimated_and_smoothed_away(walk):
    take = take_of(walk, 0.015)
    clip, report = solve_take(take, walk.rig)
    assert report.noise_mm == pytest.approx(15.0, rel=0.35)
    assert report.smoothed_hz is not None
    raw, told = solve_take(take, walk.rig, TakeOptions(smooth_hz=0.0, hold_feet=False, repair=False))
    assert told.smoothed_hz is None
    truth = walk.positions()
    assert np.abs(clip.positions() - truth).mean() < np.abs(raw.positions() - truth).mean()


def test_noise_of_one_frame_shows_in_unlike_sides(walk):
    _, clean = solve_take(take_of(walk[:1]), walk.rig)
    _, noisy = solve_take(take_of(walk[:1], 0.02), walk.rig)
    assert clean.noise_mm < 0.1 and noisy.noise_mm > 5.0


def test_gaps_are_filled_and_said(walk):
    take = take_of(walk)
    points = np.array(take.positions)
    points[np.random.default_rng(1).random(points.shape[:2]) < 0.08] = np.nan
    clip, report = solve_take(take.with_positions(points), walk.rig)
    assert report.points_filled > 50
    assert np.median(distances(clip, take)) < 0.01


def test_never_seen_joints_are_said_and_posed(walk):
    keep = [i for i, name in enumerate(walk.rig.names) if name not in ("left_wrist", "spine2", "right_foot")]
    take = mimik.Keypoints([walk.rig.names[i] for i in keep], walk.positions()[:, keep], walk.fps)
    clip, _ = solve_take(take, walk.rig)
    assert np.isfinite(clip.rotations).all()
    elbow = walk.rig.roles["left_elbow"]
    assert np.linalg.norm(clip.positions()[:, elbow] - walk.positions()[:, elbow], axis=1).max() < 0.01


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n not in ("plug_in_gait", "cmu_markers")])
def test_every_layout_of_joints_becomes_a_person_who_walks(name):
    clip, report = solve_take(walk_take(name), builtin_rig("humanoid"), TakeOptions(proportions="person"))
    assert report.twist_jumps == 0
    assert report.fit_mm_mean is None or report.fit_mm_mean < 15.0
    world = clip.positions()
    role = clip.rig.roles
    assert (world[:, role["head"], 1] > world[:, role["pelvis"], 1] + 0.3).all()
    assert (world[:, role["left_ankle"], 1] < world[:, role["left_knee"], 1]).all()


@pytest.mark.parametrize("method", ["ikgat", "projected"])
def test_methods_can_be_swapped(walk, method):
    clip = mimik.solve(take_of(walk[:12]), walk.rig, method=method)
    assert np.median(distances(clip, take_of(walk[:12]))) < 0.06
    assert clip.solution is not None and len(clip.solution.status) == 12


def test_the_report_reads_well(walk):
    _, report = solve_take(take_of(walk, 0.005), walk.rig)
    words = dict(report.lines())
    assert {"take", "body", "gaps", "noise", "fit", "feet", "joints", "speed"} <= words.keys()
    assert report.as_dict()["frames"] == walk.frame_count


def test_refusals_name_the_offender(walk):
    take = take_of(walk)
    with pytest.raises(OptionError, match="magic"):
        mimik.solve(take, walk.rig, method="magic")
    with pytest.raises(OptionError, match="nois"):
        mimik.solve(take, walk.rig, noises=1.0)
    with pytest.raises(OptionError, match="noise"):
        mimik.solve(take, walk.rig, noise=-1.0)
    with pytest.raises(LayoutError, match="grobnitz"):
        mimik.solve(mimik.Keypoints(["grobnitz", "foo", "bar", "baz", "qux"], np.zeros((3, 5, 3))), walk.rig)
    with pytest.raises(GoalError, match="trunk"):
        mimik.solve(take.with_positions(np.full_like(take.positions, np.nan)), walk.rig)
    with pytest.raises(GoalError, match="no frames"):
        mimik.solve(take[:0], walk.rig)


def test_the_module_of_the_solvers_is_the_public_call(walk):
    import mimik.solve.dense.solver  # makes `mimik.solve` the module

    assert mimik.solve(take_of(walk[:2]), walk.rig).frame_count == 2


@pytest.mark.parametrize("scale", [0.0, 0.001, 1e3, 1e9])
def test_points_no_body_spans_are_refused_with_the_reason(scale):
    take = walk_take("roles")
    with pytest.raises(GoalError, match="units"):
        solve_take(replace(take, positions=scale * take.positions), builtin_rig("humanoid"))
