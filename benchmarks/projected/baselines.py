"""Baselines of the paper and of general optimisation, on the same model and the same analytic Jacobian."""

from collections.abc import Callable

import numpy as np
from benchmarks.projected.data import Figure
from benchmarks.projected.methods import Method, Ours, Stand
from scipy.optimize import least_squares, minimize

from mimik._types import Array
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_between, quat_inv, quat_mul, rotvec_to_quat
from mimik.solve.projected.solver import Options

CLOSE = 1e-4


class OnModel(Ours):
    """A method that works on mimik's model: values (72,), clamped to their limits."""

    iterations = 100

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure, type(self).name, options=Options(pull=0.0, restarts=0), natural=None)
        self.low, self.high = self.solver.model.arrays.lower, self.solver.model.arrays.upper

    def linear(self, values: Array) -> tuple[float, Array, Array, Array]:
        """Objective, residual (18,), Jacobian (18, 72), gradient (72,)."""
        f, r, j, g = self.solver.derivatives(values)
        return f, r.ravel(), j.reshape(-1, j.shape[2]), g

    def solve(self, targets: Array) -> None:
        self.solver.move(targets)
        values = self.follow(self.solver.state.values.copy())
        base = self.solver.state.base[0]
        base[:] = quat_mul(base, rotvec_to_quat(values[3:6]))
        base /= np.linalg.norm(base)
        values[3:6] = 0.0
        self.solver.state.values[:] = np.clip(values, self.low, self.high)

    def follow(self, values: Array) -> Array:
        """Return better values."""
        for _ in range(self.iterations):
            _, r, j, _ = self.linear(values)
            if np.abs(r).max() < CLOSE:
                break
            values = np.clip(values + self.step(r, j), self.low, self.high)
        return values

    def step(self, r: Array, j: Array) -> Array:
        """One step of the method."""
        raise NotImplementedError


class TransposeFixed(OnModel):
    """Jacobian transpose with the fixed step 0.005 of the paper, in its units of centimetres turned to metres."""

    name = "Jacobian transpose, fixed 0.005"
    iterations = 500

    def step(self, r: Array, j: Array) -> Array:
        return -0.005 * (j.T @ r)


class TransposeStep(OnModel):
    """Jacobian transpose with the step of equation 28: <e, JJ'e> / <JJ'e, JJ'e>."""

    name = "Jacobian transpose, eq. 28"
    iterations = 200

    def step(self, r: Array, j: Array) -> Array:
        along = j.T @ r
        moved = j @ along
        return -(r @ moved) / max(moved @ moved, 1e-300) * along


class DampedSvd(OnModel):
    """Damped least squares by singular values, then clamping, as Blender does."""

    name = "damped least squares, SVD"

    def step(self, r: Array, j: Array) -> Array:
        u, s, vt = np.linalg.svd(j, full_matrices=False)
        return -(vt.T * (s / (s * s + 1e-4))) @ (u.T @ r)


class Trf(OnModel):
    """SciPy's trust-region reflective least squares."""

    name = "SciPy trf"

    def follow(self, values: Array) -> Array:
        wide = np.where(self.high > self.low, 0.0, 1e-9)
        low, high = self.low - wide, self.high + wide
        inside = np.clip(values, low + 1e-10, high - 1e-10)
        answer = least_squares(
            lambda v: self.linear(v)[1],
            inside,
            lambda v: self.linear(v)[2],
            bounds=(low, high),
            max_nfev=100,
            method="trf",
        )
        return np.asarray(answer.x)


class Lbfgsb(OnModel):
    """SciPy's L-BFGS-B with the analytic gradient."""

    name = "SciPy L-BFGS-B"

    def follow(self, values: Array) -> Array:
        def both(v: Array) -> tuple[float, Array]:
            f, _, _, g = self.linear(v)
            return 1e4 * f, 1e4 * g

        bounds = list(zip(self.low, self.high, strict=True))
        answer = minimize(both, values, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 1000})
        return np.asarray(answer.x)


class Ccd(OnModel):
    """Cyclic coordinate descent: each value in turn, from the tip, to its best for all goals below it."""

    name = "CCD"
    iterations = 30

    def follow(self, values: Array) -> Array:
        for _ in range(self.iterations):
            for v in range(len(values) - 1, -1, -1):
                if self.low[v] == self.high[v]:
                    continue
                _, r, j, _ = self.linear(values)
                column = j[:, v]
                square = column @ column
                if square > 1e-12:
                    values[v] = np.clip(values[v] - (column @ r) / square, self.low[v], self.high[v])
            if np.abs(self.linear(values)[1]).max() < CLOSE:
                break
        return values


class Fabrik(OnModel):
    """FABRIK on the tree of joint places, rotations fitted to the bones afterwards and clamped."""

    name = "FABRIK"
    iterations = 20

    def solve(self, targets: Array) -> None:
        s, rig = self.solver, self.rig
        pose = s.model.values_to_pose(s.state.values, s.state.base)
        at = pose.positions()
        parents, lengths = rig.parents, np.linalg.norm(rig.offsets, axis=1)
        goal = dict(zip(self.joints, targets, strict=True))
        for _ in range(self.iterations):
            pull: dict[int, list[Array]] = {}
            for j in range(len(parents) - 1, -1, -1):
                if j in goal:
                    at[j] = goal[j]
                elif j in pull:
                    at[j] = np.mean(pull[j], axis=0)
                p = int(parents[j])
                if p >= 0 and (j in goal or j in pull):
                    way = at[p] - at[j]
                    pull.setdefault(p, []).append(at[j] + way * lengths[j] / max(np.linalg.norm(way), 1e-9))
            for j in range(1, len(parents)):
                way = at[j] - at[parents[j]]
                at[j] = at[parents[j]] + way * lengths[j] / max(np.linalg.norm(way), 1e-9)
            if max(np.linalg.norm(at[j] - g) for j, g in goal.items()) < CLOSE:
                break
        self._fit(pose, at)

    def _fit(self, pose: LocalPose, at: Array) -> None:
        rig = self.rig
        local, world = np.array(pose.rotations), np.array(pose.to_world().rotations)
        for j in range(rig.joint_count):
            parent = int(rig.parents[j])
            if parent >= 0:
                world[j] = quat_mul(world[parent], local[j])
            children = [c for c in rig.skeleton.children(j) if np.linalg.norm(rig.offsets[c]) > 1e-6]
            if children:
                now = quat_apply(world[j], rig.offsets[children]).sum(axis=0)
                world[j] = quat_mul(quat_between(now, (at[children] - at[j]).sum(axis=0)), world[j])
                local[j] = world[j] if parent < 0 else quat_mul(quat_inv(world[parent]), world[j])
        values, base = self.solver.model.pose_to_values(LocalPose(rig.skeleton, local, at[0]))
        self.solver.state.values[:], self.solver.state.base[:] = values, base


def baselines() -> dict[str, Callable[[Rig, Figure], Method]]:
    """Baselines by name."""
    kinds = (TransposeFixed, TransposeStep, DampedSvd, Ccd, Fabrik, Trf, Lbfgsb)
    return {kind.name: kind for kind in kinds}


__all__ = ["Stand", "baselines"]
