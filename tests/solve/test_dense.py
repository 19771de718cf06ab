import numpy as np
import pytest

from mimik.errors import FileError, GoalError
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.mirror import mirror_roles
from mimik.rig.role_space import rig_to_role_rotations
from mimik.rig.roles import BODY_MIRROR, BODY_PARENTS, BODY_ROLES
from mimik.rotation import geodesic, quat_apply, quat_inv, quat_mul, rotvec_to_quat
from mimik.solve.dense.layout import LEAVES
from mimik.solve.dense.solver import DenseSolver, dense_session
from tests.solve.dense_bodies import lacking, landmarks, motion, seen

HUMAN = builtin_rig("humanoid")
LEAF_ROLES = [BODY_ROLES[j] for j in LEAVES]
FEWER = {
    "collars": ("left_collar", "right_collar"),
    "toes": ("left_foot", "right_foot"),
    "one spine joint": ("spine2",),
    "head": ("head",),
    "collars, toes and a spine joint": ("left_collar", "right_collar", "left_foot", "right_foot", "spine2"),
}


@pytest.fixture(scope="module")
def solver():
    return DenseSolver(HUMAN)


@pytest.fixture(scope="module")
def walk():
    return motion(HUMAN)


def local(D_world):
    """Rotations against the parent role, (T, 22, 4)."""
    out = D_world.copy()
    out[:, 1:] = quat_mul(quat_inv(D_world[:, BODY_PARENTS[1:]]), D_world[:, 1:])
    return out


def degrees_apart(a, b):
    return np.rad2deg(geodesic(a, b))


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_clean_joints_are_met_on_every_rig(name):
    rig = builtin_rig(name)
    found = DenseSolver(rig).solve(seen(rig, motion(rig)))
    assert found.residuals.max() < 1e-4
    assert set(found.goal_names) == {role for role in BODY_ROLES if role in rig.roles}


@pytest.mark.parametrize("kind", FEWER)
def test_clean_joints_are_met_by_rigs_with_fewer_joints(kind):
    rig = lacking(HUMAN, *FEWER[kind])
    assert DenseSolver(rig).solve(seen(rig, motion(rig))).residuals.max() < 1e-4


def test_rotations_that_positions_determine_are_found(solver, walk):
    D_world, _ = rig_to_role_rotations(HUMAN, walk)
    error = degrees_apart(local(solver.rotations(seen(HUMAN, walk))[0]), local(D_world)).mean(axis=0)
    sure = [BODY_ROLES.index(r) for r in ("pelvis", "spine3", "left_collar", "left_hip", "right_knee", "spine2")]
    assert (error[sure] < 3.0).all(), dict(zip(BODY_ROLES, error.round(2)))


def test_landmarks_settle_head_hands_and_feet(solver, walk):
    D_world, _ = rig_to_role_rotations(HUMAN, walk)
    points = seen(HUMAN, walk)
    without = degrees_apart(solver.rotations(points)[0], D_world)[:, list(LEAVES)]
    with_marks = degrees_apart(solver.rotations(points, landmarks=landmarks(HUMAN, walk))[0], D_world)[:, list(LEAVES)]
    assert (with_marks.mean(axis=0) < 3.0).all(), dict(zip(LEAF_ROLES, with_marks.mean(axis=0)))
    assert with_marks.mean() < 0.5 * without.mean()


def test_hidden_landmarks_are_as_none(solver, walk):
    points = seen(HUMAN, walk)[:5]
    hidden = solver.rotations(points, landmarks=np.full((5, 22, 3), np.nan))[0]
    assert degrees_apart(hidden, solver.rotations(points)[0]).max() < 1e-9


def test_turning_and_moving_the_person_changes_nothing(solver, walk):
    points = seen(HUMAN, walk)
    turn = rotvec_to_quat(np.array([0.0, 2.0, 0.0]))
    usual = solver.rotations(points)[0]
    moved = solver.rotations(quat_apply(turn, points) + np.array([3.0, 0.5, -7.0]))[0]
    assert degrees_apart(quat_mul(turn, usual), moved).max() < 0.01


def test_any_turn_changes_nothing_when_up_is_not_known(solver, walk):
    points = seen(HUMAN, walk)
    turn = rotvec_to_quat(np.array([1.0, -0.7, 2.0]))
    usual = solver.rotations(points, up=None)[0]
    assert degrees_apart(quat_mul(turn, usual), solver.rotations(quat_apply(turn, points), up=None)[0]).max() < 0.01


def test_mirrored_people_get_nearly_mirrored_rotations(solver, walk):
    """Geometry mirrors exactly; the network learnt from mirrored poses too, so it does so within degrees."""
    points = seen(HUMAN, walk)
    usual = solver.rotations(points)[0]
    mirrored = solver.rotations(points[:, BODY_MIRROR] * [-1.0, 1.0, 1.0])[0]
    apart = degrees_apart(mirror_roles(usual, points[:, 0])[0], mirrored)
    assert apart[:, [0, 9]].max() < 1e-3
    assert np.median(apart) < 0.5
    allowed = np.full(22, 2.0)
    allowed[list(LEAVES)] = 10.0
    assert (apart.mean(axis=0) < allowed).all(), dict(zip(BODY_ROLES, apart.mean(axis=0).round(2)))


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.02])
def test_small_changes_of_positions_change_rotations_little(solver, walk, noise):
    points, rng = seen(HUMAN, walk), np.random.default_rng(3)
    nudged = points + rng.uniform(-1e-4, 1e-4, points.shape)
    moved = degrees_apart(solver.rotations(points, noise=noise)[0], solver.rotations(nudged, noise=noise)[0])
    assert np.quantile(moved, 0.99) < 2.0
    assert moved.max() < 20.0  # an arm stretched to 0.1 mm says nothing of its twist


def test_frames_do_not_depend_on_their_neighbours(solver, walk):
    points = seen(HUMAN, walk)
    many = solver.rotations(np.concatenate([points, points]))[0]
    one = np.concatenate([solver.rotations(points[[k]])[0] for k in (0, 7, 70)])
    assert degrees_apart(one, many[[0, 7, 70]]).max() < 0.02  # the network sums in another order
    assert degrees_apart(many[: len(points)], many[len(points) :]).max() < 0.02


def test_every_single_joint_may_be_missing(solver, walk):
    points = seen(HUMAN, walk)[::8]
    whole = solver.rotations(points)[0]
    for joint in range(22):
        poor = points.copy()
        poor[:, joint] = np.nan
        found = solver.solve(poor)
        rest = [k for k in range(22) if k != joint]
        assert np.isfinite(found.residuals[:, rest]).all()
        assert np.mean(found.residuals[:, rest]) < 0.06, BODY_ROLES[joint]
        apart = degrees_apart(solver.rotations(poor)[0], whole)
        assert np.median(apart) < 5.0, BODY_ROLES[joint]


@pytest.mark.parametrize("missing", ["left_elbow", "right_knee", "left_ankle", "pelvis", "right_hip", "spine1", "neck"])
def test_what_is_seen_beyond_a_missing_joint_is_met(solver, walk, missing):
    points = seen(HUMAN, walk)
    points[:, BODY_ROLES.index(missing)] = np.nan
    found = solver.solve(points)
    assert np.nanmax(found.residuals) < 1e-3, missing


def test_a_whole_arm_and_both_feet_may_be_missing(solver, walk):
    points = seen(HUMAN, walk)
    points[:, [13, 16, 18, 20, 7, 8, 10, 11]] = np.nan
    found = solver.solve(points)
    assert np.isfinite(found.poses.rotations).all()
    right = [found.goal_names.index(r) for r in ("right_shoulder", "right_elbow", "right_wrist", "right_knee", "head")]
    assert found.residuals[:, right].mean() < 0.03


def test_straight_folded_and_coinciding_joints_give_rotations(solver):
    tpose = HUMAN.tpose().positions()[[HUMAN.roles[r] for r in BODY_ROLES]]
    folded = tpose.copy()
    for a, b, c in ((16, 18, 20), (2, 5, 8)):  # the hand back to the shoulder, the ankle to the hip
        back = (tpose[a] - tpose[b]) / np.linalg.norm(tpose[a] - tpose[b])
        folded[c] = tpose[b] + back * np.linalg.norm(tpose[c] - tpose[b])
    together = tpose.copy()
    together[[12, 15]] = tpose[9]  # neck and head in the chest
    point = np.zeros_like(tpose)
    line = np.linspace(0.0, 1.0, 22)[:, None] * np.array([0.3, 1.0, 0.2])
    found = solver.rotations(np.stack([tpose, folded, together, point, line]))[0]
    assert np.allclose(np.linalg.norm(found, axis=2), 1.0)
    assert solver.solve(folded[None]).residuals[0, [20, 8]].max() < 1e-4
    assert degrees_apart(found[0], [0.0, 0.0, 0.0, 1.0])[[0, 3, 6, 9, 18, 4, 5]].max() < 12.0


def test_noise_is_met_half_way(solver, walk):
    """What is told as noise is not followed: bones keep their place better than the points themselves."""
    truth, rng = seen(HUMAN, walk), np.random.default_rng(4)
    D_world = local(rig_to_role_rotations(HUMAN, walk)[0])
    noisy = truth + 0.03 * rng.standard_normal(truth.shape)
    told = degrees_apart(local(solver.rotations(noisy, noise=0.03)[0]), D_world).mean()
    untold = degrees_apart(local(solver.rotations(noisy)[0]), D_world).mean()
    assert told < untold
    each = np.full((len(truth), 22), 0.03)
    same = solver.rotations(noisy, noise=each)[0]
    assert degrees_apart(same, solver.rotations(noisy, noise=0.03)[0]).max() < 1e-6


def test_bad_input_is_refused_by_name(solver, walk):
    points = seen(HUMAN, walk)[:3]
    poor = points.copy()
    poor[1, [0, 1, 2, 3, 6, 9, 12, 13, 14]] = np.nan
    with pytest.raises(GoalError, match="frame 1 shows 2 joints of the trunk"):
        solver.rotations(poor)
    with pytest.raises(GoalError, match="noise"):
        solver.rotations(points, noise=-0.001)
    with pytest.raises(GoalError, match="noise"):
        solver.rotations(points, noise=np.nan)
    with pytest.raises(GoalError, match=r"\(3, 21, 3\)"):
        solver.rotations(points[:, 1:])
    with pytest.raises(GoalError, match="landmarks"):
        solver.rotations(points, landmarks=np.zeros((3, 4, 3)))
    assert len(solver.rotations(np.zeros((0, 22, 3)))[0]) == 0


def test_broken_weights_are_refused(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"no network")
    with pytest.raises(FileError, match=r"broken\.onnx"):
        dense_session(tmp_path / "broken.onnx")
    with pytest.raises(FileError):
        DenseSolver(HUMAN, path=tmp_path / "absent.onnx")
