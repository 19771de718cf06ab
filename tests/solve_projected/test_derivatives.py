"""Gradient (26) and Jacobian (appendix A) of every joint and goal kind, three ways: kernel, differences, autograd."""

import numpy as np
import pytest

from mimik.rotation import quat_mul, rotvec_to_quat
from mimik.solve.projected import twin
from mimik.solve.projected.arrays import GOAL_ROWS
from mimik.solve.projected.solver import Options, Solver
from mimik.solve.projected.values import limit_values, values_to_pose
from tests.builders import SEED
from tests.solve_projected.figures import every_goal, every_joint

GOALS = ["position", "orientation", "direction", "look_at", "pole", "distance", "above", "centre", "near"]


def make(goal: str, seed: int = SEED):
    rng = np.random.default_rng(seed)
    rig = every_joint(rng)
    goals = every_goal(rig, rng)
    solver = Solver(
        rig, [goals[goal]] if goal != "all" else list(goals.values()), natural=None, options=Options(pull=0.0)
    )
    m = solver.model.arrays
    values = limit_values(m, rng.uniform(-0.6, 0.6, solver.model.value_count))
    base = np.tile([0.0, 0.0, 0.0, 1.0], (rig.joint_count, 1))
    base[8] = rotvec_to_quat(rng.normal(size=3))
    return solver, unrotated(m, values), base


def unrotated(m, values):
    """Put the swing of cone joints on its first axis, where along and across are the model's own axes."""
    values = values.copy()
    for j in np.flatnonzero(np.isfinite(m.cone)):
        v = m.first[j]
        values[v], values[v + 1] = np.hypot(values[v], values[v + 1]), 0.0
    return values


def flat(parts):
    return np.concatenate([np.array([float(x) for x in r]) for r in parts]) if parts else np.zeros(0)


@pytest.mark.parametrize("goal", [*GOALS, "all"])
def test_kernel_agrees_with_readable_twin(goal):
    """Residuals and objective of the kernel are those of the twin."""
    solver, values, base = make(goal)
    m, g = solver.model.arrays, solver.problem.arrays
    f, r, _, _ = solver.derivatives(values, base)
    expected = twin.residuals(m, g, values, base)
    for i, rows in enumerate(expected):
        np.testing.assert_allclose(r[i, : len(rows)], [float(x) for x in rows], atol=1e-12)
    assert f == pytest.approx(float(twin.objective(m, g, values, base)), rel=1e-12)


@pytest.mark.parametrize("goal", [*GOALS, "all"])
def test_jacobian_agrees_with_central_differences(goal):
    solver, values, base = make(goal)
    m, g = solver.model.arrays, solver.problem.arrays
    _, _, jacobian, gradient = solver.derivatives(values, base)
    step = 1e-6
    for v in range(len(values)):
        up, down = values.copy(), values.copy()
        up[v] += step
        down[v] -= step
        slope = (float(twin.objective(m, g, up, base)) - float(twin.objective(m, g, down, base))) / (2 * step)
        assert gradient[v] == pytest.approx(slope, abs=2e-7)
        change = (flat(twin.residuals(m, g, up, base)) - flat(twin.residuals(m, g, down, base))) / (2 * step)
        column = np.concatenate([jacobian[i, : GOAL_ROWS[k], v] for i, k in enumerate(g.kind)] or [np.zeros(0)])
        np.testing.assert_allclose(column, change, atol=5e-8)


@pytest.mark.parametrize("goal", [*GOALS, "all"])
def test_gradient_agrees_with_automatic_differentiation(goal):
    torch = pytest.importorskip("torch")
    solver, values, base = make(goal)
    theta = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    f = twin.objective(solver.model.arrays, solver.problem.arrays, theta, base, torch)
    (expected,) = torch.autograd.grad(f, theta)
    np.testing.assert_allclose(solver.derivatives(values, base)[3], expected.numpy(), atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_a_cone_joint_is_measured_along_and_across_its_swing(seed):
    """Away from the first axis the two swing entries are the gradient turned into the swing's direction."""
    solver, values, base = make("all", seed)
    m, g = solver.model.arrays, solver.problem.arrays
    j = int(np.flatnonzero(np.isfinite(m.cone))[0])
    v = int(m.first[j])
    values[v : v + 2] = [0.3, -0.4]
    gradient, step = solver.derivatives(values, base)[3], 1e-6
    for k, way in enumerate(([0.6, -0.8], [0.8, 0.6])):
        up, down = values.copy(), values.copy()
        up[v : v + 2] += step * np.array(way)
        down[v : v + 2] -= step * np.array(way)
        slope = (float(twin.objective(m, g, up, base)) - float(twin.objective(m, g, down, base))) / (2 * step)
        assert gradient[v + k] == pytest.approx(slope, abs=1e-7)


def test_local_poses_agree_with_their_twin():
    solver, values, base = make("all")
    pose = solver.model.values_to_pose(values, base)
    rotations, places = values_to_pose(solver.model.arrays, values, base)
    np.testing.assert_allclose(pose.rotations, rotations, atol=1e-13)
    world, at = twin.place(solver.model.arrays, values, base)
    np.testing.assert_allclose(pose.to_world().positions, np.array(at, dtype=float), atol=1e-12)
    np.testing.assert_allclose(pose.to_world().rotations, np.array(world, dtype=float), atol=1e-12)
    assert places.shape == (9, 3)


def test_values_of_a_pose_come_back():
    solver, values, base = make("all")
    again, frames = solver.model.pose_to_values(solver.model.values_to_pose(values, base))
    m = solver.model.arrays
    free = np.isin(m.owner, np.flatnonzero(m.kind == 2)) & (m.slides == 0)
    np.testing.assert_allclose(again[~free], values[~free], atol=1e-9)
    for j in np.flatnonzero(m.kind == 2):
        span = slice(m.first[j] + m.value_count[j] - 3, m.first[j] + m.value_count[j])
        whole = quat_mul(base[j], rotvec_to_quat(values[span] @ m.axes[span]))
        assert abs(float(whole @ frames[j])) == pytest.approx(1.0, abs=1e-12)
