"""Peers, each an optional install: Pinocchio, mink (MuJoCo), pink, placo; Newton and Blender in files of their own.

Every loop stops as soon as the worst effector is within a tenth of a millimetre (Pinocchio: a millimetre, for its
speed), or after 100 iterations.
"""

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.projected.blender import Blender, ITasc
from benchmarks.projected.data import EFFECTORS, Figure
from benchmarks.projected.methods import Method, Stand
from benchmarks.projected.newton_ik import Newton
from benchmarks.projected.robots import hinge_names, limits, mjcf, urdf

from mimik._types import Array
from mimik.rig.rig import Rig

ITERATIONS, CLOSE, LM = 100, 1e-4, 1.0
DAMP, DAMP_QP = 1e-3, 1e-6
"""Dampings chosen once, by trial on this experiment, so that each peer does well within and out of reach."""


class Pinocchio(Method):
    """Damped least squares on Pinocchio's Jacobians, angles clamped after each step."""

    name = "Pinocchio, damped + clamp"

    def __init__(self, rig: Rig, figure: Figure, close: float = 1e-3) -> None:
        super().__init__(rig, figure)
        import pinocchio as pin

        self.pin, self.close = pin, close
        self.model = pin.buildModelFromXML(urdf(rig, figure), pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.low, self.high = limits(figure)
        order = [self.model.joints[self.model.getJointId(f"{n}_hinge")].idx_q for n in hinge_names(rig)]
        self.at = np.array(order)
        self.low_q, self.high_q = np.full(self.model.nq, -np.inf), np.full(self.model.nq, np.inf)
        self.low_q[self.at], self.high_q[self.at] = self.low, self.high
        self.ids = [self.model.getJointId("root_joint" if n == "Hips" else f"{n}_2_hinge") for n in EFFECTORS]
        self.q = pin.neutral(self.model)

    def reset(self, stand: Stand) -> None:
        self.q = self.pin.neutral(self.model)
        self.q[:3], self.q[3:7] = stand.root, stand.turn
        self.q[self.at] = np.clip(stand.hinges, self.low, self.high)

    def solve(self, targets: Array) -> None:
        pin, model, data, q = self.pin, self.model, self.data, self.q
        jacobian, damp = np.zeros((18, model.nv)), DAMP * np.eye(18)
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for _ in range(ITERATIONS):
            pin.computeJointJacobians(model, data, q)
            error = np.concatenate([targets[i] - data.oMi[k].translation for i, k in enumerate(self.ids)])
            if np.abs(error).max() < self.close:
                break
            for i, k in enumerate(self.ids):
                jacobian[3 * i : 3 * i + 3] = pin.getJointJacobian(model, data, k, frame)[:3]
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damp, error)
            step *= min(1.0, 0.5 / max(np.abs(step).max(), 1e-9))
            q = np.clip(pin.integrate(model, q, step), self.low_q, self.high_q)
        self.q = q

    def stand(self) -> Stand:
        return Stand(self.q[:3].copy(), self.q[3:7].copy(), self.q[self.at])


class Mink(Method):
    """mink: MuJoCo kinematics, a quadratic program with limits each iteration."""

    name = "mink"

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure)
        import mink
        import mujoco

        self.mink = mink
        self.model = mujoco.MjModel.from_xml_string(mjcf(rig, figure))
        self.configuration = mink.Configuration(self.model)
        self.tasks = [
            mink.FrameTask(n, "body", position_cost=1.0, orientation_cost=0.0, lm_damping=LM) for n in EFFECTORS
        ]
        self.limits = [mink.ConfigurationLimit(self.model)]
        self.bodies = [self.model.body(n).id for n in EFFECTORS]
        self.low, self.high = limits(figure)

    def reset(self, stand: Stand) -> None:
        q = np.concatenate([stand.root, stand.turn[[3, 0, 1, 2]], np.clip(stand.hinges, self.low, self.high)])
        self.configuration.update(q)

    def solve(self, targets: Array) -> None:
        mink, configuration = self.mink, self.configuration
        for task, target in zip(self.tasks, targets, strict=True):
            task.set_target(mink.SE3.from_translation(target))
        for _ in range(ITERATIONS):
            if np.abs(targets - configuration.data.xpos[self.bodies]).max() < CLOSE:
                break
            velocity = mink.solve_ik(configuration, self.tasks, 1.0, "daqp", damping=DAMP_QP, limits=self.limits)
            configuration.integrate_inplace(velocity, 1.0)

    def stand(self) -> Stand:
        q = self.configuration.q
        return Stand(q[:3].copy(), q[[4, 5, 6, 3]], q[7:].copy())


class Pink(Pinocchio):
    """pink: Pinocchio kinematics, a quadratic program with limits each iteration."""

    name = "pink"

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure)
        import pink

        self.pink = pink
        self.configuration = pink.Configuration(self.model, self.data, self.q)
        self.tasks = [
            pink.tasks.FrameTask(n if n == "Hips" else f"{n}_2", position_cost=1.0, orientation_cost=0.0, lm_damping=LM)
            for n in EFFECTORS
        ]
        self.limits = [pink.limits.ConfigurationLimit(self.model)]

    def reset(self, stand: Stand) -> None:
        super().reset(stand)
        self.configuration.update(self.q)

    def solve(self, targets: Array) -> None:
        pin, pink, configuration = self.pin, self.pink, self.configuration
        for task, target in zip(self.tasks, targets, strict=True):
            task.set_target(pin.SE3(np.eye(3), target))
        for _ in range(ITERATIONS):
            at = np.array([configuration.data.oMi[k].translation for k in self.ids])
            if np.abs(targets - at).max() < CLOSE:
                break
            step = pink.solve_ik(
                configuration, self.tasks, 1.0, solver="daqp", damping=DAMP_QP, limits=self.limits, safety_break=False
            )
            configuration.update(np.clip(pin.integrate(self.model, configuration.q, step), self.low_q, self.high_q))
        self.q = np.array(configuration.q)


class Placo(Method):
    """placo: a quadratic program with limits each iteration."""

    name = "placo"

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure)
        import placo

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(urdf(rig, figure), encoding="utf-8")
            self.robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.links = [n if n == "Hips" else f"{n}_2" for n in EFFECTORS]
        self.tasks = [self.solver.add_position_task(n, np.zeros(3)) for n in self.links]
        for task, link in zip(self.tasks, self.links, strict=True):
            task.configure(link, "soft", 1.0)
        self.solver.add_regularization_task(DAMP)
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(False)
        self.names = [f"{n}_hinge" for n in hinge_names(rig)]
        self.low, self.high = limits(figure)

    def reset(self, stand: Stand) -> None:
        transform = np.eye(4)
        from mimik.rotation import quat_to_matrix

        transform[:3, :3], transform[:3, 3] = quat_to_matrix(stand.turn), stand.root
        self.robot.set_T_world_fbase(transform)
        for name, angle in zip(self.names, np.clip(stand.hinges, self.low, self.high), strict=True):
            self.robot.set_joint(name, float(angle))
        self.robot.update_kinematics()

    def solve(self, targets: Array) -> None:
        for task, target in zip(self.tasks, targets, strict=True):
            task.target_world = target
        for _ in range(ITERATIONS):
            at = np.array([self.robot.get_T_world_frame(n)[:3, 3] for n in self.links])
            if np.abs(targets - at).max() < CLOSE:
                break
            self.solver.solve(True)
            self.robot.update_kinematics()

    def stand(self) -> Stand:
        from mimik.rotation import matrix_to_quat

        transform = self.robot.get_T_world_fbase()
        hinges = np.array([self.robot.get_joint(n) for n in self.names])
        return Stand(transform[:3, 3].copy(), matrix_to_quat(transform[:3, :3]), hinges)


_NEEDS: dict[str, tuple[str, Callable[..., Any]]] = {
    Pinocchio.name: ("pinocchio", Pinocchio),
    Mink.name: ("mink", Mink),
    Pink.name: ("pink", Pink),
    Placo.name: ("placo", Placo),
    Newton.name: ("newton", Newton),
    Blender.name: ("bpy", Blender),
    ITasc.name: ("bpy", ITasc),
}


def peers() -> tuple[dict[str, Callable[[Rig, Figure], Method]], list[str]]:
    """Peers that are installed and load, and the names of those that do not."""
    found = {name: make for name, (module, make) in _NEEDS.items() if _loads(module)}
    return found, [name for name in _NEEDS if name not in found]


def _loads(module: str) -> bool:
    """Say whether a module is there; one built for another release of a library it shares does not load."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
