"""The last steps of the dense solver: compiled and readable twin agree, and each does what it is for."""

import numpy as np
import pytest

from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_PARENTS
from mimik.rotation import geodesic, identity_quat, quat_apply, quat_mul, rotvec_to_quat
from mimik.solve.dense import finish_kernels, finish_twin
from mimik.solve.dense.body import CORPUS_AXES, LANDMARK_JOINT, role_body
from mimik.solve.dense.layout import GAP_ROUNDS, WEIGH_ROUNDS
from tests.learn.motions import smooth_rotations

COUNT = 30
BODY = role_body(builtin_rig("humanoid"))
AXES = CORPUS_AXES / np.linalg.norm(CORPUS_AXES, axis=1, keepdims=True)


def scene(seed, noise):
    """Return rotations as a network might give them, noisy places of the true ones, what is seen, and the noise."""
    rng = np.random.default_rng(seed)
    true = np.ascontiguousarray(smooth_rotations(rng, COUNT))
    answer = quat_mul(rotvec_to_quat(rng.normal(0.0, 0.1, (COUNT, 22, 3))), true)
    root = rng.normal(0.0, 0.5, (COUNT, 3))
    places = np.stack([finish_twin.reach(q, r, BODY.offsets) for q, r in zip(true, root)])
    spread = np.full((COUNT, 22), noise)
    spread[COUNT // 2 :] *= rng.uniform(0.2, 2.0, (COUNT - COUNT // 2, 22))
    seen = rng.random((COUNT, 22)) < 0.85
    seen[:, [0, 1, 2]] = True
    return true, answer, places + noise * rng.standard_normal(places.shape), seen, spread


def marks_of(true, root, noise, rng):
    """Return where landmarks are, noisy, and which are seen: of every other frame some."""
    places = np.stack([finish_twin.reach(q, r, BODY.offsets) for q, r in zip(true, root)])[:, LANDMARK_JOINT]
    places = places + quat_apply(true[:, LANDMARK_JOINT], BODY.landmarks)
    shown = (rng.random((COUNT, 22)) < 0.7) & (np.arange(COUNT) % 2 == 0)[:, None]
    return np.where(shown[..., None], places + noise * rng.standard_normal(places.shape), 0.0), shown


def weighed(q, p, seen, spread, marks=None, shown=None, *, present=BODY.present):
    marks, shown = (np.zeros((COUNT, 22, 3)), np.zeros((COUNT, 22), bool)) if marks is None else (marks, shown)
    got, root = q.copy(), np.empty((COUNT, 3))
    finish_kernels.weigh(
        got, p, seen, marks, shown, present, spread, BODY.offsets, BODY.landmarks, root, WEIGH_ROUNDS, GAP_ROUNDS
    )
    return got, root


@pytest.mark.parametrize("noise", [0.0, 0.0003, 0.005, 0.04])
def test_noise_is_weighed_alike(noise):
    true, q, p, seen, spread = scene(1, noise)
    marks, shown = marks_of(true, p[:, 0], noise, np.random.default_rng(7))
    got, root = weighed(q, p, seen, spread, marks, shown)
    for n in range(COUNT):
        expected, there = finish_twin.weigh(
            q[n], p[n], seen[n], marks[n], shown[n], BODY.present, spread[n], BODY.offsets, BODY.landmarks,
            WEIGH_ROUNDS, GAP_ROUNDS,
        )  # fmt: skip
        assert geodesic(got[n], expected).max() < 1e-6
        assert np.abs(root[n] - there).max() < 1e-7


def test_weighing_brings_bones_nearer_to_where_they_are():
    true, q, p, seen, spread = scene(2, 0.01)
    seen[:] = True
    inner = [1, 2, 4, 5, 16, 17, 18, 19]  # with a bone beyond them
    found = weighed(q, p, seen, spread)[0]
    assert geodesic(found, true)[:, inner].mean() < 0.8 * geodesic(q, true)[:, inner].mean()


def test_a_face_turns_the_head_though_its_middle_is_only_near():
    true, q, p, seen, spread = scene(8, 0.005)
    seen[:], spread[:, [12, 15]] = True, 0.02
    q[:, 15] = quat_mul(rotvec_to_quat([0.0, 1.0, 0.0]), true[:, 15])
    marks, shown = marks_of(true, p[:, 0], 0.005, np.random.default_rng(9))
    face = np.flatnonzero((LANDMARK_JOINT == 15) & (np.arange(22) != 1))
    shown[:] = False
    assert np.degrees(geodesic(weighed(q, p, seen, spread, marks, shown)[0], true))[::2, 15].mean() > 30.0
    shown[::2, face] = marks[::2][:, face].any(axis=2)
    enough = shown.sum(axis=1) >= 3
    assert enough.sum() > 5
    assert np.degrees(geodesic(weighed(q, p, seen, spread, marks, shown)[0], true))[enough, 15].mean() < 10.0


@pytest.mark.parametrize("noise", [0.0, 0.002])
def test_hinges_are_met_alike(noise):
    _, q, p, seen, spread = scene(3, noise)
    got = q.copy()
    finish_kernels.hinge(got, p, seen, spread, BODY.offsets, AXES)
    for n in range(COUNT):
        assert geodesic(got[n], finish_twin.hinge(q[n], p[n], seen[n], spread[n], BODY.offsets, AXES)).max() < 1e-6
    assert geodesic(got, q)[:, [16, 1, 17, 2]].max() > 0.01


def test_a_bent_hinge_tells_how_the_limb_above_is_turned():
    """A limb posed by its hinge alone is found again, whatever twist it was thought to have."""
    rng = np.random.default_rng(4)
    q = np.tile(identity_quat(), (COUNT, 22, 1))
    bend = rng.uniform(0.4, 2.0, COUNT)
    turn = rotvec_to_quat(rng.normal(0.0, 0.6, (COUNT, 3)))
    q[:, 16], q[:, 18] = turn, quat_mul(turn, rotvec_to_quat(AXES[0] * bend[:, None]))
    q[:, 20] = q[:, 18]
    p = np.stack([finish_twin.reach(each, np.zeros(3), BODY.offsets) for each in q])
    bone = BODY.offsets[18] / np.linalg.norm(BODY.offsets[18])
    thought = q.copy()
    thought[:, 16] = quat_mul(q[:, 16], rotvec_to_quat(bone * rng.uniform(-0.3, 0.3, (COUNT, 1))))
    finish_kernels.hinge(thought, p, np.ones((COUNT, 22), dtype=bool), np.zeros((COUNT, 22)), BODY.offsets, AXES)
    assert np.degrees(geodesic(thought[:, [16, 18]], q[:, [16, 18]])).max() < 0.5


def test_straight_and_folded_limbs_stay_as_they_were():
    q = np.tile(identity_quat(), (3, 22, 1))
    q[1, [4, 7, 10]] = rotvec_to_quat(np.array([np.pi, 0.0, 0.0]))
    q[2, [18, 20]] = rotvec_to_quat(np.array([0.0, 0.0, np.pi]))
    p = np.stack([finish_twin.reach(each, np.zeros(3), BODY.offsets) for each in q])
    p[2, 16:] = 0.0  # both bones of no length
    got = q.copy()
    finish_kernels.hinge(got, p, np.ones((3, 22), dtype=bool), np.zeros((3, 22)), BODY.offsets, AXES)
    assert np.isfinite(got).all() and np.allclose(np.linalg.norm(got, axis=2), 1.0)
    assert np.degrees(geodesic(got[0], q[0])).max() < 0.5


def test_limbs_of_loose_bodies_are_posed_alike_and_point_where_they_did():
    rng = np.random.default_rng(5)
    q = np.ascontiguousarray(smooth_rotations(rng, COUNT))
    marks = np.zeros((COUNT, 22), dtype=bool)
    marks[::3] = rng.random((len(marks[::3]), 22)) < 0.5
    for loose in (np.array([True, True]), np.array([False, True])):
        got = q.copy()
        finish_kernels.loosen(got, marks, BODY.offsets, loose)
        for n in range(COUNT):
            assert geodesic(got[n], finish_twin.loosen(q[n], marks[n], BODY.offsets, loose)).max() < 1e-6
        lower = [7, 8] if loose.all() else [8]
        for ankle in lower:
            toes = ankle + 3
            before, after = quat_apply(q[:, ankle], BODY.offsets[toes]), quat_apply(got[:, ankle], BODY.offsets[toes])
            unmarked = ~marks[:, np.flatnonzero(ankle == LANDMARK_JOINT)].any(axis=1)
            assert np.abs(before - after)[unmarked].max() < 1e-6  # the foot still points where it did
            elbow, arm = BODY.offsets[ankle + 11], ankle + 9
            assert np.abs(quat_apply(q[:, arm], elbow) - quat_apply(got[:, arm], elbow)).max() < 1e-6  # and the arm
        untouched = [j for j in range(22) if j not in (1, 2, 4, 5, 7, 8, 16, 17)]
        untouched += [] if loose.all() else [1, 4, 7, 16]
        assert np.array_equal(got[:, untouched], q[:, untouched])


def test_leaves_follow_their_parents_as_far_as_they_are_not_trusted():
    q = np.ascontiguousarray(smooth_rotations(np.random.default_rng(6), COUNT))
    got = q.copy()
    usual = np.tile(identity_quat(), (5, 1))
    none, every = np.zeros((COUNT, 22), dtype=bool), np.ones((COUNT, 22), dtype=bool)
    finish_kernels.temper(got, every, none, usual, np.zeros(5))
    for leaf in (15, 20, 21, 10, 11):
        assert geodesic(got[:, leaf], q[:, BODY_PARENTS[leaf]]).max() < 1e-6
    kept = q.copy()
    finish_kernels.temper(kept, every, none, usual, np.ones(5))
    assert geodesic(kept, q).max() < 1e-6
    finish_kernels.temper(kept, none, none, usual, np.ones(5))  # not seen, not trusted
    assert geodesic(kept, got)[:, [15, 20, 21, 10, 11]].max() < 1e-6


@pytest.mark.parametrize("most", [0.0, 0.3])
def test_limbs_are_bridged_alike(most):
    _, q, p, seen, _ = scene(7, 0.0)
    seen[:, [18, 5, 8]] = False
    seen[::2, 8] = True
    got = q.copy()
    finish_kernels.bridge(got, p, seen, BODY.offsets, most)
    for n in range(COUNT):
        assert geodesic(got[n], finish_twin.bridge(q[n], p[n], seen[n], BODY.offsets, most)).max() < 1e-6


@pytest.mark.parametrize("joint", [18, 19, 4, 8])
def test_a_bridged_limb_ends_where_it_was_seen(joint):
    _, q, p, seen, _ = scene(8, 0.0)
    seen[:], seen[:, joint] = True, False
    finish_kernels.bridge(q, p, seen, BODY.offsets, 0.0)
    above = BODY_PARENTS[joint]
    beyond = int(np.flatnonzero(joint == BODY_PARENTS)[0])
    reached = p[:, above] + quat_apply(q[:, above], BODY.offsets[joint]) + quat_apply(q[:, joint], BODY.offsets[beyond])
    assert np.abs(reached - p[:, beyond]).max() < 1e-6


def test_joints_a_body_lacks_keep_to_their_parents():
    _, q, p, seen, spread = scene(9, 0.01)
    present = np.ones(22, dtype=bool)
    present[[3, 13]] = False
    seen &= present
    found, _ = weighed(q, p, seen, spread, present=present)
    assert geodesic(found[:, 3], found[:, 0]).max() < 1e-3
    assert geodesic(found[:, 13], found[:, 9]).max() < 1e-3
