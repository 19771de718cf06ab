"""What the solver promises: goals met, limits never exceeded, the constrained optimum, smooth and repeatable."""

import numpy as np
import pytest

from mimik.goals.targets import (
    AboveGround,
    CentreOfMass,
    Direction,
    Distance,
    LookAt,
    NearPose,
    Orientation,
    Pole,
    Position,
)
from mimik.rig.limits import JointRange, Limits
from mimik.rig.limits_human import human_limits
from mimik.rotation import geodesic, quat_apply
from mimik.solve.projected.solver import Options, Solver, pose
from mimik.solve.projected.values import limit_excess
from tests.builders import SEED
from tests.solve_projected.figures import arm, every_goal, every_joint, person

SIX = ("left_hand", "right_hand", "left_ankle", "right_ankle", "pelvis", "head")


def tracker(rig, **options):
    at = rig.tpose().positions()
    solver = Solver(rig, [Position(n, at[rig.joint(n)]) for n in SIX], **options)
    return solver, np.array([at[rig.joint(n)] for n in SIX])


def test_every_kind_of_goal_is_met_at_once():
    rig = person()
    at = rig.tpose().positions()
    goals = [
        Position("left_hand", (0.3, 1.2, 0.35), pinned=True),
        LookAt("head", (0.0, 1.5, 2.0)),
        Position("left_ankle", at[rig.joint("left_ankle")]),
        Pole("left_elbow", (1.0, 0.0, -1.0)),
        AboveGround("right_foot", 0.1),
        Orientation("right_hand", (0.0, 0.0, 0.0, 1.0)),
        Direction("spine3", (0.0, 1.0, 0.2)),
        CentreOfMass([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]),
        Distance("left_hand", "right_hand", 0.5),
    ]
    solution = pose(rig, goals)
    assert solution.status == ("reached",)
    assert solution.residuals.max() < 1e-4
    world = solution.poses.to_world()
    hands = world.positions[0, [rig.joint("left_hand"), rig.joint("right_hand")]]
    assert np.linalg.norm(hands[0] - hands[1]) == pytest.approx(0.5, abs=1e-4)
    np.testing.assert_allclose(hands[0], [0.3, 1.2, 0.35], atol=1e-4)
    assert world.positions[0, rig.joint("right_foot"), 1] >= 0.1 - 1e-4
    head = rig.joint("head")
    faces = quat_apply(world.rotations[0, head], solver_axis(rig, head))
    way = np.array([0.0, 1.5, 2.0]) - world.positions[0, head]
    np.testing.assert_allclose(faces, way / np.linalg.norm(way), atol=1e-4)


def solver_axis(rig, joint):
    from mimik.rotation import quat_inv

    return quat_apply(quat_inv(rig.q_world_tpose[joint]), np.array([0.0, 0.0, 1.0]))


def test_limits_hold_bit_for_bit_while_goals_pull_everywhere():
    rng = np.random.default_rng(SEED)
    rig = every_joint(rng)
    solver = Solver(rig, list(every_goal(rig, rng).values()), natural=None, options=Options(restarts=3))
    for _ in range(60):
        solver.move({"Position(j4)": rng.normal(size=3) * 3.0})
        values = solver.advance()
        assert limit_excess(solver.model.arrays, values) == 0.0


def test_human_limits_hold_and_the_tpose_keeps_them():
    rig = person()
    limited = rig.with_limits(human_limits(rig))
    solver, at = tracker(limited)
    values, _ = solver.model.pose_to_values(rig.tpose())
    again = solver.model.values_to_pose(values, solver.state.base)
    assert geodesic(again.rotations[1:], rig.tpose().rotations[1:]).max() < 1e-6
    rng = np.random.default_rng(SEED)
    for _ in range(40):
        solver.advance(at + rng.normal(size=at.shape) * 0.3)
        assert limit_excess(solver.model.arrays, solver.values) == 0.0


@pytest.mark.parametrize("method", ["second_order", "published"])
def test_smooth_targets_are_followed(method):
    rig = person()
    steps = Options(iterations=400) if method == "published" else None
    solver, at = tracker(rig, method=method, options=steps)
    worst = 0.0
    for t in np.linspace(0.0, 1.0, 31):
        target = at.copy()
        target[0] += [-0.25 * t, -0.2 * t, 0.25 * t]
        target[4:] += [0.0, -0.1 * t, 0.0]
        worst = max(worst, solver.step(target).residuals.max())
    assert worst < (1e-4 if method == "second_order" else 0.03)


def test_unreachable_goal_ends_at_the_constrained_optimum():
    """The projected gradient vanishes and no random start does better."""
    rig = person()
    limited = rig.with_limits(human_limits(rig))
    solver, at = tracker(limited)
    target = at + 0.1 * (at - at[4])
    solution = solver.step(target)
    assert solution.status[0] in ("limited", "unreachable")
    assert solution.details["projected_gradient"] < 1e-5
    best = solution.details["objective"]
    rng = np.random.default_rng(SEED)
    base = np.repeat(solver.state.base[None], 30, axis=0)
    starts = np.clip(
        solver.values + rng.normal(size=(30, solver.model.value_count)) * 0.3,
        solver.model.arrays.lower,
        solver.model.arrays.upper,
    )
    others = solver.solve_many(np.repeat(target[None], 30, axis=0), start=solver.model.values_to_pose(starts, base))
    assert best <= 0.5 * (others.residuals**2).sum(axis=1).min() * 1.01


def test_full_stretch_does_not_jitter():
    """A hand drawn far out of reach along a circle turns the straight arm smoothly."""
    rig = arm()
    solver = Solver(
        rig, [Position("wrist", (0.7, 0.0, 0.0))], root="fixed", natural=None, joints={"shoulder": JointRange.free()}
    )
    path = [solver.step([[np.cos(a), np.sin(a), 0.0]]).positions()[0, 2] for a in np.linspace(0.0, 2.0, 101)]
    expected = 0.6 * np.stack([np.cos(np.linspace(0, 2, 101)), np.sin(np.linspace(0, 2, 101)), np.zeros(101)], axis=1)
    np.testing.assert_allclose(path, expected, atol=2e-3)
    assert np.linalg.norm(np.diff(path, n=2, axis=0), axis=1).max() < 1e-3


def test_singular_straight_arm_bends():
    """A goal straight down the arm toward the shoulder gives a gradient of zero; the arm bends all the same."""
    rig = arm()
    turns = {"shoulder": JointRange.free()}
    solver = Solver(rig, [Position("wrist", (0.4, 0.0, 0.0))], root="fixed", natural=None, joints=turns)
    assert solver.step().residuals.max() < 1e-4


def test_pinned_goal_comes_first():
    rig = arm()
    goals = [Position("wrist", (0.9, 0.0, 0.0), weight=100.0), Position("elbow", (0.0, 0.3, 0.0), pinned=True)]
    solution = Solver(rig, goals, root="fixed", natural=None, joints={"shoulder": JointRange.free()}).step()
    assert solution.residuals[0, 1] < 1e-4
    assert solution.residuals[0, 0] > 0.2


def test_two_pinned_goals_that_conflict_share():
    goals = [Position("wrist", (0.9, 0.0, 0.0), pinned=True), Position("wrist", (-0.9, 0.3, 0.0), pinned=True)]
    solution = Solver(arm(), goals, natural=None).step()
    assert np.isfinite(solution.residuals).all()
    assert abs(solution.residuals[0, 0] - solution.residuals[0, 1]) < 0.05


def test_weights_decide_between_goals_that_pull_apart():
    near = []
    for weight in (0.1, 1.0, 10.0):
        goals = [Position("wrist", (1.0, 0, 0), weight=weight), Position("wrist", (-1.0, 0.0, 0))]
        at = Solver(arm(), goals, natural=None).step().positions()[0, 2]
        near.append(at[0])
        assert at[0] == pytest.approx((weight - 1.0) / (weight + 1.0), abs=1e-3)
    assert near[0] < near[1] < near[2]


def test_full_weight_matrix_asks_for_a_plane_only():
    goals = [Position("wrist", (0.2, 0.25, 0.3), weight=np.diag([0.0, 1.0, 0.0]))]
    solution = Solver(arm(), goals, root="fixed", natural=None, joints={"shoulder": JointRange.free()}).step()
    assert solution.positions()[0, 2, 1] == pytest.approx(0.25, abs=1e-4)


def test_near_pose_keeps_what_goals_leave_free():
    rig = person()
    rest = rig.tpose()
    solution = pose(rig, [Position("left_hand", (0.5, 1.2, 0.2)), NearPose(rest, weight=1e-4)], natural=None)
    assert solution.residuals.max() < 2e-3
    legs = [rig.joint(n) for n in ("left_hip", "left_knee", "right_hip", "right_knee")]
    assert geodesic(solution.rotations[0, legs], rest.rotations[legs]).max() < 0.05


def test_support_holds_the_centre_of_mass():
    rig = person()
    corners = np.array([[0.05, 0.0], [0.2, 0.0], [0.2, 0.2], [0.05, 0.2]])
    feet = rig.tpose().positions()
    goals = [CentreOfMass(corners), Position("left_ankle", feet[rig.joint("left_ankle")])]
    solution = pose(rig, goals)
    assert solution.residuals.max() < 1e-4


def test_zero_length_bone_is_solved():
    from mimik import Skeleton
    from tests.solve_projected.figures import rig_of

    rig = rig_of(Skeleton.build(["a", "b", "c"], [-1, 0, 1], [[0, 0, 0], [0, 0, 0], [0.3, 0, 0]]))
    assert Solver(rig, [Position("c", (0.0, 0.3, 0.0))], root="fixed", natural=None).step().residuals.max() < 1e-4


def test_same_input_gives_the_same_bits():
    rig = person()
    rng = np.random.default_rng(SEED)
    targets = None
    answers = []
    for _ in range(2):
        solver, at = tracker(rig)
        targets = at + rng.normal(size=at.shape) * 0.1 if targets is None else targets
        answers.append(solver.advance(targets).copy())
    np.testing.assert_array_equal(answers[0], answers[1])


def test_batch_agrees_with_single_solves_and_ignores_threads():
    rig = person()
    rng = np.random.default_rng(SEED)
    solver, at = tracker(rig)
    targets = at + rng.normal(size=(12, *at.shape)) * 0.03
    one, two = solver.solve_many(targets, threads=1), solver.solve_many(targets, threads=2)
    np.testing.assert_array_equal(one.rotations, two.rotations)
    for k in (0, 7):
        solver.reset()
        np.testing.assert_allclose(solver.step(targets[k]).rotations[0], one.rotations[k], atol=1e-9)


def test_large_jumps_are_followed():
    rig = person()
    solver, at = tracker(rig)
    crouch = at.copy()
    crouch[:2] = [[0.3, 0.2, 0.3], [-0.3, 0.2, 0.3]]
    crouch[4], crouch[5] = [0.0, 0.45, -0.1], [0.0, 0.85, 0.2]
    for k in range(4):
        assert solver.step(crouch if k % 2 == 0 else at).residuals.max() < 1e-4


def test_sliding_joint_moves_along_its_axes_only():
    rig = arm(
        Limits(
            {
                "elbow": JointRange.slide([1.0, 0.0, 0.0], -0.1, 0.2),
                "shoulder": JointRange.fixed(),
                "wrist": JointRange.fixed(),
            }
        )
    )
    solution = Solver(rig, [Position("wrist", (1.0, 0.5, 0.0))], root="fixed", natural=None).step()
    np.testing.assert_allclose(solution.positions()[0, 1], [0.5, 0.0, 0.0], atol=1e-9)
    assert solution.status == ("limited",)
