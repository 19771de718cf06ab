"""Newton's inverse kinematics on the CPU: Levenberg-Marquardt in Warp, limits as a penalty, single precision."""

import numpy as np
from benchmarks.projected.data import EFFECTORS, Figure
from benchmarks.projected.methods import Method, Stand
from benchmarks.projected.robots import hinge_names, limits, urdf

from mimik._types import Array
from mimik.rig.rig import Rig

ITERATIONS, CHUNK, CLOSE = 100, 10, 1e-4
DAMPING, LIMIT_WEIGHT = 0.1, 1.0
"""Chosen by trial on this experiment: stiffer limits or less damping get stuck, softer limits are left by degrees."""


class Newton(Method):
    """Newton's `IKSolver`. It has no stopping test: it is asked for a few iterations at a time until goals are met."""

    name = "Newton, CPU"

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure)
        import newton
        import warp as wp
        from newton import ik

        wp.config.quiet = True
        self.wp = wp
        self.device = wp.get_device("cpu")
        with wp.ScopedDevice(self.device):
            builder = newton.ModelBuilder()
            builder.add_urdf(urdf(rig, figure), floating=True, enable_self_collisions=False)
            self.model = builder.finalize()
            links = [label.rsplit("/", maxsplit=1)[-1] for label in self.model.body_label]
            joints = [label.rsplit("/", maxsplit=1)[-1] for label in self.model.joint_label]
            starts = self.model.joint_q_start.numpy()
            self.at = np.array([starts[joints.index(f"{n}_hinge")] for n in hinge_names(rig)])
            self.ends = [links.index(n if n == "Hips" else f"{n}_2") for n in EFFECTORS]
            self.goals = [
                ik.IKObjectivePosition(k, wp.vec3(0.0, 0.0, 0.0), wp.array([wp.vec3(0.0, 0.0, 0.0)], dtype=wp.vec3))
                for k in self.ends
            ]
            fence = ik.IKObjectiveJointLimit(
                self.model.joint_limit_lower, self.model.joint_limit_upper, weight=LIMIT_WEIGHT
            )
            self.solver = ik.IKSolver(
                self.model, 1, [*self.goals, fence], lambda_initial=DAMPING, jacobian_mode=ik.IKJacobianType.ANALYTIC
            )
            self.q = self.model.joint_q.reshape((1, self.model.joint_coord_count))
        self.low, self.high = limits(figure)

    def reset(self, stand: Stand) -> None:
        q = np.zeros((1, self.model.joint_coord_count), dtype=np.float32)
        q[0, :3], q[0, 3:7] = stand.root, stand.turn
        q[0, self.at] = np.clip(stand.hinges, self.low, self.high)
        self.q.assign(q)

    def solve(self, targets: Array) -> None:
        for goal, target in zip(self.goals, targets, strict=True):
            goal.set_target_position(0, self.wp.vec3(*(float(x) for x in target)))
        for _ in range(ITERATIONS // CHUNK):
            self.solver.step(self.q, self.q, iterations=CHUNK)
            if self.solver.costs.numpy()[0] < CLOSE * CLOSE:
                break

    def stand(self) -> Stand:
        q = self.q.numpy()[0].astype(np.float64)
        return Stand(q[:3], q[3:7] / np.linalg.norm(q[3:7]), q[self.at])
