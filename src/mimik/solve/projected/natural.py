"""The natural pose: where the goals leave room, prefer what people do.

A small network, trained on motion capture in role space, says from the places of a few joints how a body probably
stands. It works on any rig whose joints have roles, and on any choice of position goals that has a left and a right.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError
from mimik.goals.targets import Position
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.solve.projected.natural_features import PAIRS
from mimik.solve.projected.problem import Problem

OFFSET_REACH = 0.05
"""Metres a goal's point may lie off its joint and still tell where the joint is."""


class NaturalPose:
    """What to prefer: a fixed pose, or what the network says of the goals; as buffers the live kernel cuts up.

    pulls  whether the preference moves the figure where the goals leave room, or only serves as another start
    """

    def __init__(self, problem: Problem, values: Array, base: Array, parts: dict[str, Any] | None, pulls: bool) -> None:
        self.pulls, self.learned = pulls, parts is not None
        joints, count = problem.model.rig.joint_count, problem.model.value_count
        parts = parts or _nothing(joints)
        units, known, pairs, out = len(parts["b0"]), len(parts["goal"]), len(parts["share"]), len(parts["b2"])
        self.sizes = (units, known, pairs, out, joints, count)
        weights = [parts[k].ravel() for k in ("w0", "b0", "w1", "b1", "w2", "b2")]
        self.singles = np.concatenate([*weights, np.zeros(3 * known + 2 * units + out)]).astype(np.float32)
        self.ints: IntArray = np.concatenate([parts["goal"], parts["pairs"].ravel(), parts["role"]]).astype(np.int64)
        given = (parts["share"], parts["size"], parts["tpose"], np.zeros((joints, 4)), values, base)
        self.floats: Array = np.concatenate([np.ravel(a) for a in given])

    def set_pose(self, values: Array, base: Array) -> None:
        """Prefer another pose: values (N,) and base frames (J, 4). A network writes its own over it."""
        self.floats[-base.size :] = base.ravel()
        self.floats[-base.size - values.size : -base.size] = values

    @classmethod
    def for_problem(
        cls, problem: Problem, option: Literal["motion"] | LocalPose | None, start: tuple[Array, Array]
    ) -> NaturalPose:
        """Choose the preference: a pose given, the network where rig and goals allow, else the start as a fallback."""
        if isinstance(option, LocalPose):
            return cls(problem, *problem.model.pose_to_values(option), None, pulls=True)
        if option not in (None, "motion"):
            raise OptionError(f"natural is 'motion', a LocalPose or None, not {option!r}")
        parts = narrow(problem) if option == "motion" else None
        return cls(problem, *start, parts, pulls=parts is not None)


def _nothing(joints: int) -> dict[str, Any]:
    """Parts of a network that knows nothing and is never asked."""
    none = {name: np.zeros(0) for name in ("w0", "b0", "w1", "b1", "w2", "b2", "share", "pairs", "goal")}
    return {**none, "size": np.ones(1), "role": np.full(joints, -1), "tpose": np.zeros((joints, 4))}


@cache
def _weights() -> dict[str, Any]:
    path = files("mimik") / "weights" / "natural.npz"
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as d:
        return {k: np.asarray(d[k], dtype=np.float32) for k in d.files if k != "card"}


def body_shape(rig: Rig) -> tuple[Array, float]:
    """Return the T-pose (22, 3) of a rig's roles against its pelvis, over its size, and that size in metres.

    The size runs from the ankles to the head joint; missing roles stand where their parents do.
    """
    at = rig.tpose().positions()
    shape = np.zeros((len(BODY_ROLES), 3))
    for r, role in enumerate(BODY_ROLES):
        shape[r] = at[rig.roles[role]] if role in rig.roles else shape[max(0, BODY_PARENTS[r])]
    head, left, right = (BODY_ROLES.index(n) for n in ("head", "left_ankle", "right_ankle"))
    size = float(shape[head, 1] - 0.5 * (shape[left, 1] + shape[right, 1]))
    return (shape - shape[0]) / max(size, 1e-6), size


def narrow(problem: Problem) -> dict[str, Any] | None:
    """Fold body and mask into the first layer and keep the inputs of known joints; None where too little is known."""
    rig = problem.model.rig
    of_joint = {joint: BODY_ROLES.index(role) for role, joint in rig.roles.items() if role in BODY_ROLES}
    known: dict[int, int] = {}
    for i, goal in enumerate(problem.rows):
        role = of_joint.get(int(problem.arrays.joints[i, 0]), -1)
        near = isinstance(goal, Position) and float(np.linalg.norm(goal.offset)) < OFFSET_REACH
        if near and role >= 0 and np.any(problem.arrays.weight[i] > 0.0):
            known.setdefault(role, i)
    roles = sorted(known)
    pairs = [(roles.index(a), roles.index(b), share) for a, b, share in PAIRS if a in known and b in known]
    shape, size = body_shape(rig)
    if len(roles) < 3 or not pairs or "pelvis" not in rig.roles or size < 0.05:
        return None
    w, count = _weights(), len(BODY_ROLES)
    mask = np.zeros(count, dtype=np.float32)
    mask[roles] = 1.0
    constant = np.concatenate([np.zeros(3 * count), mask, shape.ravel()]).astype(np.float32)
    columns = np.array([3 * r + k for r in roles for k in range(3)])
    role_of = np.full(rig.joint_count, -1, dtype=np.int64)
    for joint, role in of_joint.items():
        role_of[joint] = role
    return {
        "w0": w["w0"][:, columns].T,
        "b0": w["b0"] + w["w0"] @ constant,
        "w1": w["w1"].T,
        "b1": w["b1"],
        "w2": w["w2"].T,
        "b2": w["b2"],
        "goal": np.array([known[r] for r in roles], dtype=np.int64),
        "pairs": np.array([(a, b) for a, b, _ in pairs], dtype=np.int64).reshape(-1, 2),
        "share": np.array([share for *_, share in pairs], dtype=np.float64),
        "size": np.array([size]),
        "role": role_of,
        "tpose": np.array(rig.q_world_tpose),
    }
