"""What a body does that is asked for little: it stands on its feet where it stood, and an idle arm hangs.

A hand's goal alone says nothing of the legs, and the natural-pose network needs to know where some joints are. Here the
missing ones are assumed: each foot stays where it is, or is put under the body where a goal lies out of its reach. What
is assumed steers the start of a solve only; the goals alone decide where it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.goals.targets import Goal, Position
from mimik.rig.kinematics import world_to_local
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import quat_apply, quat_between, quat_inv, quat_mul, quat_slerp, rotvec_to_quat
from mimik.solve.projected.arrays import POSITION
from mimik.solve.projected.model import Model
from mimik.solve.projected.problem import Problem

ASSUMED_WEIGHT = 0.05
"""Weight of an assumed place against a goal's."""

HANG, STRAIGHTEN, AT_EASE = 0.7, 0.4, 0.85
"""How far an arm without a goal goes from what the network says toward hanging, the trunk of a reaching arm toward
straight, and all above the legs where no goal speaks of it."""

SPINE = ("spine1", "spine2", "spine3", "neck", "head")

_HANG = {"collar": (0, 0, -2), "shoulder": (0, 0, -72), "elbow": (0, -18, 0)}
_LEGS = {"hip": (-4, 0, 0), "knee": (8, 0, 0), "ankle": (-4, 0, 0)}
"""Role of the left side -> turn from the T-pose in world axes, carried along by the parent, degrees."""

_REACH = {"wrist": 0.45, "elbow": 0.3, "pelvis": 0.12, "ankle": 0.4, "foot": 0.4, "knee": 0.3}
"""Role -> metres, for a body of 1.7 m, by which a goal may lie aside of where the joint stands before the feet go."""


def _part(role: str) -> tuple[str, float]:
    """Role without its side, and -1 for the right side."""
    return role.removeprefix("left_").removeprefix("right_"), -1.0 if role.startswith("right_") else 1.0


def relaxed_pose(rig: Rig) -> LocalPose:
    """Return how a rig stands at ease: the T-pose with its arms let down and a little give in elbows and knees."""
    role_of = {joint: role for role, joint in rig.roles.items()}
    turns = np.zeros((rig.joint_count, 4))
    turns[:, 3] = 1.0
    for j, parent in enumerate(rig.parents):
        part, side = _part(role_of.get(j, ""))
        turn = np.deg2rad(np.array({**_HANG, **_LEGS}.get(part, (0, 0, 0)), dtype=float) * [1.0, side, side])
        turns[j] = quat_mul(turns[parent] if parent >= 0 else turns[j], rotvec_to_quat(turn))
    tpose = rig.tpose()
    local = world_to_local(rig.parents, quat_mul(turns, rig.q_world_tpose))
    root = np.array(tpose.root)
    feet = [rig.roles[role] for role in ("left_ankle", "right_ankle") if role in rig.roles]
    if feet:
        stood = LocalPose(rig.skeleton, local, root).positions()
        root += (tpose.positions()[feet] - stood[feet]).mean(axis=0)
    return LocalPose(rig.skeleton, local, root)


@dataclass(frozen=True, slots=True, eq=False)
class Stance:
    """Assumptions for one problem.

    goals    assumed places: of ankles, and of the pelvis last where no goal speaks of the trunk or the arms
    feet     (2,) goal row an ankle's place is read from, -1 where it is assumed to stand
    ankles   (2, 3) where each ankle stands, or its place against the point it is read from
    assumed  which ankles are among the goals; pelvis: whether the pelvis is
    rows     (M,) rows of the position goals that may move the feet
    around   (M, 3) where their points stand at ease; reach (M,) metres
    hip      (3,) pelvis against the middle of the ankles
    idle     joints no goal speaks of; share (J,) how far they go to the pose at ease
    tops     first joints of idle limbs, which hang by their weight however the trunk leans
    relaxed  the pose at ease
    """

    goals: tuple[Goal, ...]
    feet: IntArray
    ankles: Array
    assumed: tuple[int, ...]
    pelvis: bool
    rows: IntArray
    around: Array
    reach: Array
    hip: Array
    idle: IntArray
    share: Array
    tops: tuple[int, ...]
    relaxed: LocalPose

    def targets(self, rows: Array) -> Array:
        """Return the assumed places (..., A, 3) for goal targets (..., G, 3 or more)."""
        aside = rows[..., self.rows, :3] - self.around  # (..., M, 3)
        aside[..., 1] = 0.0
        far = np.linalg.norm(aside, axis=-1)
        step = aside * (np.maximum(0.0, far - self.reach) / np.maximum(far, 1e-9))[..., None]
        share = np.linalg.norm(step, axis=-1)[..., None]
        travel = (share * step).sum(axis=-2) / np.maximum(share.sum(axis=-2), 1e-9)  # (..., 3)
        ankles = self.ankles + np.where(
            (self.feet >= 0)[:, None], rows[..., self.feet, :3], travel[..., None, :]
        )  # (..., 2, 3)
        found = [ankles[..., k, :] for k in self.assumed]
        if self.pelvis:
            found.append(self._over(ankles))
        return np.stack(found, axis=-2) if found else np.zeros((*rows.shape[:-2], 0, 3))

    def _over(self, ankles: Array) -> Array:
        """Where the pelvis (..., 3) rests on two legs: over the feet that stand, as high as the wider one lets it."""
        lift = ankles[..., 1] - ankles[..., 1].min(axis=-1, keepdims=True)
        load = np.clip(1.0 - lift / (0.3 * self.hip[1]), 1e-6, 1.0)
        centre = (load[..., None] * ankles).sum(axis=-2) / load.sum(axis=-1)[..., None]
        wide = np.linalg.norm((ankles - centre[..., None, :])[..., [0, 2]], axis=-1)
        height = np.sqrt(np.maximum(self.hip[1] ** 2 - wide**2, 0.2 * self.hip[1] ** 2))
        at = centre + self.hip
        at[..., 1] = (ankles[..., 1] + height).min(axis=-1)
        return np.asarray(at)

    def relax(self, model: Model, values: Array, base: Array) -> tuple[Array, Array]:
        """Let what no goal speaks of hang and straighten: values (..., N) and base frames (..., J, 4) within limits."""
        if not len(self.idle):
            return values, base
        pose, rig = model.values_to_pose(values, base), model.rig
        world, rotations = pose.to_world().rotations, np.array(pose.rotations)
        eased = np.broadcast_to(self.relaxed.rotations, rotations.shape).copy()
        for top in self.tops:
            above = int(rig.parents[top])
            trunk = quat_mul(world[..., above, :], quat_inv(rig.q_world_tpose[above]))
            up = quat_apply(trunk, np.array([0.0, 1.0, 0.0]))
            plumb = quat_between(up, np.broadcast_to([0.0, 1.0, 0.0], up.shape))
            plumbed = quat_mul(plumb, quat_mul(world[..., above, :], eased[..., top, :]))
            eased[..., top, :] = quat_mul(quat_inv(world[..., above, :]), plumbed)
        share = self.share[self.idle]
        rotations[..., self.idle, :] = quat_slerp(rotations[..., self.idle, :], eased[..., self.idle, :], share)
        return model.pose_to_values(LocalPose(pose.skeleton, rotations, pose.root, pose.translations))


def assume(problem: Problem) -> Stance | None:
    """Return what to assume beside the goals; None where they say enough or the rig has no legs to stand on."""
    rig = problem.model.rig
    needed = ("pelvis", "left_hip", "right_hip", "left_ankle", "right_ankle")
    movable = problem.model.arrays.slides[problem.model.arrays.owner == 0].sum() == 3
    if not problem.rows or not movable or any(role not in rig.roles for role in needed):
        return None
    asked, relaxed = _asked(problem), relaxed_pose(rig)
    at = relaxed.positions()
    size = float(at[rig.roles.get("head", 0), 1]) / 1.5
    feet, ankles = [], []
    for side in ("left", "right"):
        row, toe = asked.get(f"{side}_ankle", -1), asked.get(f"{side}_foot", -1)
        stands = at[rig.roles[f"{side}_ankle"]]
        feet.append(row if row >= 0 else toe)
        ankles.append(np.zeros(3) if row >= 0 else stands - at[rig.roles[f"{side}_foot"]] if toe >= 0 else stands)
    assumed = tuple(k for k, side in enumerate(("left", "right")) if f"{side}_ankle" not in asked)
    pelvis = not any(_part(role)[0] not in _LEGS and _part(role)[0] != "foot" for role in asked)
    share, tops = _idle(problem, asked, trunk=pelvis)
    if not assumed and not pelvis and not share.any():
        return None
    names = [("left_ankle", "right_ankle")[k] for k in assumed] + ["pelvis"] * pelvis
    movers = [(role, row) for role, row in asked.items() if np.any(problem.arrays.weight[row])]
    middle = 0.5 * (at[rig.roles["left_ankle"]] + at[rig.roles["right_ankle"]])
    return Stance(
        goals=tuple(Position(name, at[rig.roles[name]], weight=ASSUMED_WEIGHT) for name in names),
        feet=np.array(feet, dtype=np.int64),
        ankles=np.array(ankles),
        assumed=assumed,
        pelvis=pelvis,
        rows=np.array([row for _, row in movers], dtype=np.int64),
        around=np.array([at[rig.roles[role]] for role, _ in movers]).reshape(-1, 3),
        reach=size * np.array([_REACH.get(_part(role)[0], 0.25) for role, _ in movers]),
        hip=at[rig.roles["pelvis"]] - middle,
        idle=np.flatnonzero(share),
        share=share,
        tops=tops,
        relaxed=relaxed,
    )


def _asked(problem: Problem) -> dict[str, int]:
    """Body role -> row of its position goal; another joint speaks for the nearest one above it."""
    rig = problem.model.rig
    role_of = {joint: role for role, joint in rig.roles.items() if role in BODY_ROLES}
    asked: dict[str, int] = {}
    for row, (kind, joints) in enumerate(zip(problem.arrays.kind, problem.arrays.joints, strict=True)):
        joint = int(joints[0]) if kind == POSITION else -1
        while joint >= 0 and joint not in role_of:
            joint = int(rig.parents[joint])
        if joint >= 0:
            asked.setdefault(role_of[joint], row)
    return asked


def _idle(problem: Problem, asked: dict[str, int], *, trunk: bool) -> tuple[Array, tuple[int, ...]]:
    """How far each joint (J,) goes to the pose at ease, and the first joints of idle limbs.

    Where one arm has a goal the other hangs and the trunk straightens by half; where no goal places anything above the
    legs (`trunk`) all of it is at ease.
    """
    rig = problem.model.rig
    used, share = set(problem.arrays.joints.ravel().tolist()) - {-1}, np.zeros(rig.joint_count)

    def below(role: str) -> list[int]:
        top = rig.roles.get(role, -1)
        return [j for j in range(rig.joint_count) if top >= 0 and rig.skeleton.descends_from(j, top)]

    spine = [rig.roles[role] for role in SPINE if role in rig.roles]
    if trunk and spine:
        share[[j for j in range(rig.joint_count) if rig.skeleton.descends_from(j, spine[0])]] = AT_EASE
        return share, (spine[0],)
    arms = [below(f"{side}_shoulder") for side in ("left", "right")]
    free = [arm for arm in arms if arm and not used & set(arm)]
    if len(free) != 1 or {"pelvis", *SPINE} & set(asked):
        return share, ()
    share[spine] = STRAIGHTEN
    share[free[0]] = HANG
    return share, (free[0][0],)
