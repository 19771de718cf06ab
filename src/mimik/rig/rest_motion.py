"""The canonical T-pose of a bind that is no pose, learned from motion.

Game skeletons lay every bone along one local axis; their zero pose is no person. What the motion shows instead: which
way bones lead, in which plane knees and elbows bend, what is up while a foot stands, how joints are turned on average.
Riggers choose round angles: where the estimate comes near axes at right angles, it is rounded to them, so that every
file of one skeleton gives the same answer.
"""

from collections.abc import Mapping

import numpy as np

from mimik._types import Array, BoolArray
from mimik.rig.hands import hand_direction, knuckle_line, unit_or_none
from mimik.rig.hinges import SIDES, measure_hinges, robust_direction, usual_hinge
from mimik.rig.skeleton import Skeleton
from mimik.rig.standing import RIGHT_ANGLES, palm_turn
from mimik.rotation import (
    geodesic,
    matrix_to_quat,
    quat_apply,
    quat_between,
    quat_inv,
    quat_mean,
    quat_mul,
    quat_to_matrix,
)

_UP = np.array([0.0, 1.0, 0.0])
_LEFT = np.array([1.0, 0.0, 0.0])
_FORWARD = np.array([0.0, 0.0, 1.0])
_ON_AXIS = np.cos(np.deg2rad(4.0))
_ROUND = np.deg2rad(35.0)
_FLAT = np.deg2rad(7.0)
_TRUE_HINGE = {"knee": np.deg2rad(6.0), "elbow": np.deg2rad(1.5)}  # wander in the lower joint; elbows may pronate
_SAME_AXES = {"knee": np.deg2rad(10.0), "elbow": np.deg2rad(75.0), "wrist": np.deg2rad(75.0)}


class TPoseFromMotion:
    """Estimates the world rotation of every joint in the canonical T-pose, from the pelvis outwards."""

    def __init__(self, skeleton: Skeleton, roles: Mapping[str, int], q_world: Array, p_world: Array) -> None:
        """Keep the motion: world rotations (T, J, 4) and positions (T, J, 3)."""
        self.skeleton, self.roles = skeleton, roles
        self.q, self.p = q_world, p_world
        self.hinges = measure_hinges(q_world, p_world, roles)
        self.known: dict[int, Array] = {}

    def solve(self) -> Array:
        """Return the world rotations (J, 4)."""
        self._pelvis()
        for role in ("spine1", "spine2", "spine3", "neck", "head"):
            self._trunk(role)
        for side, sign in SIDES:
            self._leg(side)
            self._arm(side, sign)
        return self._others()

    def _local(self, joint: int, vectors: Array) -> Array:
        """Return world vectors (T, 3) in a joint's frame."""
        return quat_apply(quat_inv(self.q[:, joint]), vectors)

    def _bone(self, role: str, end: str) -> Array | None:
        """Return the mean unit direction (3,) from a role's joint to another's, in its own frame."""
        if role not in self.roles or end not in self.roles:
            return None
        joint = self.roles[role]
        return unit_or_none(self._local(joint, self.p[:, self.roles[end]] - self.p[:, joint]).mean(axis=0))

    def _across(self, joint: int, part: str) -> Array | None:
        """Return the mean unit direction from a right to a left joint, in the frame of `joint`."""
        pair = [self.roles.get(f"{side}_{part}") for side, _ in SIDES]
        if pair[0] is None or pair[1] is None:
            return None
        return unit_or_none(self._local(joint, self.p[:, pair[0]] - self.p[:, pair[1]]).mean(axis=0))

    def _change(self, joint: int) -> Array:
        """Return the rotations (T, 4) of a solved joint from the T-pose, in world axes."""
        return quat_mul(self.q[:, joint], quat_inv(self.known[joint]))

    def _follow(self, joint: int, leader: int) -> Array:
        """Return the T-pose rotation (4,) in which `joint` turns with `leader` on average."""
        return robust_mean(quat_mul(quat_inv(self._change(leader)), self.q[:, joint]))

    def _pelvis(self) -> None:
        pelvis = self.roles["pelvis"]
        left = self._across(pelvis, "hip")
        upright = robust_direction(self._local(pelvis, np.broadcast_to(_UP, (len(self.q), 3))), np.ones(len(self.q)))
        top = next((r for r in ("spine3", "neck", "head") if r in self.roles), "")
        trunk = self._bone("pelvis", top)
        # a body that swims or lies is upright along its own trunk only
        up = upright if trunk is None else trunk if float(trunk @ upright) < 0.75 else trunk + upright
        if left is None:
            self.known[pelvis] = robust_mean(self.q[:, pelvis])
            return
        self.known[pelvis] = rounded(two_axes(left, _LEFT, up, _UP))

    def _trunk(self, role: str) -> None:
        """Solve a joint of spine, neck or head: turned as the one below on average."""
        if role not in self.roles:
            return
        chain = ("pelvis", "spine1", "spine2", "spine3", "neck", "head")
        joint = self.roles[role]
        below = [self.roles[r] for r in chain[: chain.index(role)] if r in self.roles]
        # heads look about: followed from the trunk as well, the estimate nearest to right angles wins
        leaders = {below[-1], below[0]} if role in ("neck", "head") else {below[-1]}
        q = min((self._follow(joint, b) for b in sorted(leaders)), key=lambda e: nearest_right_angles(e)[1])
        left = (
            self._across(joint, "shoulder" if "left_shoulder" in self.roles else "collar") if role == "spine3" else None
        )
        if left is not None:
            q = quat_mul(quat_between(quat_apply(q, left), _LEFT), q)
        self.known[joint] = rounded(q)

    def _leg(self, side: str) -> None:
        self._two_bones(side, ("hip", "knee", "ankle"))
        self._foot(side)

    def _arm(self, side: str, sign: float) -> None:
        outwards = sign * _LEFT
        collar = self._bone(f"{side}_collar", f"{side}_shoulder")
        if collar is not None:
            joint = self.roles[f"{side}_collar"]
            self.known[joint] = rounded(self._following_bone(joint, collar, outwards))
        self._two_bones(side, ("shoulder", "elbow", "wrist"))
        wrist, elbow = self.roles.get(f"{side}_wrist"), self.roles.get(f"{side}_elbow")
        if wrist is not None and elbow is not None:
            self._like_above(wrist, self._hand(side, wrist, elbow), outwards)
            line = knuckle_line(self.skeleton, self.roles, side)
            if line is not None:
                q = self.known[wrist]
                self.known[wrist] = quat_mul(palm_turn(quat_apply(q, line)), q)

    def _two_bones(self, side: str, parts: tuple[str, str, str]) -> None:
        """Solve a limb: bones in their canonical directions, turned so that it bends as limbs do."""
        upper, lower, end = (f"{side}_{part}" for part in parts)
        target, bend = usual_hinge(lower)
        hinge = self.hinges.get(lower)
        bone = self._bone(upper, lower)
        if bone is not None:
            joint = self.roles[upper]
            if hinge is None:
                self.known[joint] = rounded(self._following_bone(joint, bone, target), (bone, target))
            else:
                q = two_axes(bone, target, hinge.upper, bend)
                self.known[joint] = rounded(q, (bone, target)) if np.abs(hinge.upper).max() > _ON_AXIS else q
        bone = self._bone(lower, end)
        if bone is None:
            return
        if hinge is None or hinge.spread[1] > _TRUE_HINGE[parts[1]]:
            self._like_above(self.roles[lower], bone, target)
            return
        q = two_axes(bone, target, hinge.lower, bend)
        above = self.known.get(self.roles.get(upper, -1), q)
        q = above if self._goes_on(above, bone, target) and geodesic(above, q) < _SAME_AXES[parts[1]] else q
        self.known[self.roles[lower]] = rounded(q, (bone, target)) if np.abs(hinge.lower).max() > _ON_AXIS else q

    def _like_above(self, joint: int, bone: Array, target: Array) -> None:
        """Solve the next bone of a limb: with its parent's axes when both lie along the same one, else as it turns."""
        q = self._following_bone(joint, bone, target)
        above = self.known[self._solved_above(joint)]
        if self._goes_on(above, bone, target) and geodesic(above, q) < _SAME_AXES["wrist"]:
            q = above
        self.known[joint] = rounded(q, (bone, target))

    @staticmethod
    def _goes_on(above: Array, bone: Array, target: Array) -> bool:
        """Say whether a bone lies along the same local axis as the bone before it."""
        return float(quat_apply(above, bone) @ target) > _ON_AXIS

    def _following_bone(self, joint: int, bone: Array, target: Array) -> Array:
        """Return the rotation with the bone along `target` in which `joint` twists as the one above on average."""
        q = quat_mul(quat_inv(self._change(self._solved_above(joint))), self.q[:, joint])
        return robust_mean(quat_mul(quat_between(quat_apply(q, bone), target), q))

    def _hand(self, side: str, wrist: int, elbow: int) -> Array:
        """Return the direction of the hand in the wrist's frame; without fingers the axis that goes on the forearm."""
        bone = hand_direction(self.skeleton, self.roles, side)
        if bone is not None:
            return bone
        mean = self._local(wrist, self.p[:, wrist] - self.p[:, elbow]).mean(axis=0)
        mean = mean / max(float(np.linalg.norm(mean)), 1e-9)
        forearm = self._bone(f"{side}_elbow", f"{side}_wrist")
        return forearm if forearm is not None and float(forearm @ mean) > 0.25 else nearest_axis(mean)

    def _foot(self, side: str) -> None:
        """Solve ankle and toe base: flat while they stand, toes to the front."""
        ankle, toe = self.roles.get(f"{side}_ankle"), self.roles.get(f"{side}_foot")
        if ankle is None:
            return
        if toe is None:
            self.known[ankle] = rounded(self._follow(ankle, self._solved_above(ankle)))
            return
        planted = planted_frames(self.p[:, toe], self.p[:, ankle])
        above = self.p[:, self.roles.get(f"{side}_knee", self.roles["pelvis"])] - self.p[:, ankle]
        front = self._bone(f"{side}_ankle", f"{side}_foot")
        self.known[ankle] = self._sole(ankle, planted, above, _FORWARD if front is None else front, _FLAT)
        change = self._change(ankle)
        lead = self._local(toe, quat_apply(change, _FORWARD))[planted]
        front = robust_direction(lead, np.ones(len(lead)))
        self.known[toe] = self._sole(toe, planted, quat_apply(change, _UP), front, 2 * _FLAT)

    def _sole(self, joint: int, planted: BoolArray, above: Array, front: Array, within: float) -> Array:
        """Return the rotation of a foot's joint: what is up in it while it stands is up, its `front` leads forwards.

        above  (T, 3) world directions that are up on the whole; they count where the foot never stands (swimming)
        """
        world_up = self._local(joint, np.broadcast_to(_UP, (len(self.q), 3)))[planted]
        up = robust_direction(world_up, np.ones(len(world_up)))
        usual = unit_or_none(self._local(joint, above).mean(axis=0))
        if usual is not None and float(up @ usual) < 0.3:
            up = usual
        across = unit_or_none(np.cross(up, front))
        if across is None:
            return rounded(self._follow(joint, self._solved_above(joint)))
        across = nearest_axis(across) if np.abs(across).max() > np.cos(np.deg2rad(20.0)) else across
        return rounded(two_axes(across, _LEFT, up, _UP), within=within)

    def _solved_above(self, joint: int) -> int:
        while joint > 0:
            joint = int(self.skeleton.parents[joint])
            if joint in self.known:
                return joint
        return self.roles["pelvis"]

    def _others(self) -> Array:
        """Fill in the joints without a role: riding on their parents as they do on average."""
        pelvis = self.roles["pelvis"]
        result = np.empty((self.skeleton.joint_count, 4))
        for joint in range(self.skeleton.joint_count):
            if joint not in self.known:
                above = int(self.skeleton.parents[joint])
                if above in self.known and self.skeleton.descends_from(joint, pelvis):
                    self.known[joint] = self._follow(joint, above)
                else:
                    result[joint] = _rest_world(self.skeleton, joint)
                    continue
            result[joint] = self.known[joint]
        return result


def two_axes(first: Array, first_target: Array, second: Array, second_target: Array) -> Array:
    """Return the rotation (4,) that takes `first` onto its target exactly and `second` as near as it can."""
    return quat_mul(quat_inv(_frame(first_target, second_target)), _frame(first, second))


def rounded(q: Array, bone: tuple[Array, Array] | None = None, *, within: float = _ROUND) -> Array:
    """Round a rotation (4,) to right angles when it is `within` (radians); a `bone` then points at its target exactly.

    A bone that lies off every local axis has an angle of its own, and keeps the rotation from being rounded.
    """
    nearest, away = nearest_right_angles(q)
    if away > within or (bone is not None and np.abs(bone[0]).max() < _ON_AXIS):
        return q
    result = nearest
    return result if bone is None else quat_mul(quat_between(quat_apply(result, bone[0]), bone[1]), result)


def nearest_right_angles(q: Array) -> tuple[Array, float]:
    """Return the rotation by right angles nearest to a rotation (4,), and how far away it is in radians."""
    matrix = quat_to_matrix(q)
    nearest = matrix_to_quat(max(RIGHT_ANGLES, key=lambda m: float(np.trace(m.T @ matrix))))
    return nearest, float(geodesic(nearest, q))


def nearest_axis(direction: Array) -> Array:
    """Return the signed coordinate axis nearest to a direction."""
    axis = np.zeros(3)
    k = int(np.argmax(np.abs(direction)))
    axis[k] = np.sign(direction[k])
    return axis


def robust_mean(q: Array) -> Array:
    """Return the rotation (4,) around which rotations (T, 4) gather; outliers lose their weight."""
    mean = quat_mean(q)
    for _ in range(6):
        away = 1.0 - (q @ mean) ** 2
        mean = quat_mean(q, 1.0 / (0.01 + away))
    return mean


def planted_frames(toe: Array, ankle: Array) -> BoolArray:
    """Return a mask (T,) of the frames in which a foot stands: low, slow, and as flat as it gets.

    toe, ankle  (T, 3) places of the toe base and the ankle
    """
    if len(toe) < 2:
        return np.ones(len(toe), dtype=np.bool_)
    speed = np.linalg.norm(np.gradient(toe, axis=0), axis=-1) + np.linalg.norm(np.gradient(ankle, axis=0), axis=-1)
    score = _rank(toe[:, 1]) + _rank(ankle[:, 1]) + _rank(speed)
    return np.asarray(score <= np.quantile(score, 0.15))


def _rank(values: Array) -> Array:
    return np.argsort(np.argsort(values)).astype(np.float64) / max(len(values) - 1, 1)


def _frame(first: Array, second: Array) -> Array:
    """Return the rotation (4,) that takes `first` to x and `second` into the x-y plane."""
    x = first / np.linalg.norm(first)
    y = second - (second @ x) * x
    if np.linalg.norm(y) < 1e-6:
        y = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    y = y / np.linalg.norm(y)
    return matrix_to_quat(np.stack([x, y, np.cross(x, y)]))


def _rest_world(skeleton: Skeleton, joint: int) -> Array:
    q = skeleton.rest[joint]
    while skeleton.parents[joint] >= 0:
        joint = int(skeleton.parents[joint])
        q = quat_mul(skeleton.rest[joint], q)
    return q
