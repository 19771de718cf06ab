"""Read a standing figure: where it faces, how its limbs hang, and the canonical T-pose its bones swing to.

The canonical T-pose faces +Z, upright; upper arm, forearm and hand along +-X, thigh and shin along -Y. Pelvis, spine,
neck, head and collars (unless raised) stay as they stand; feet keep their soles as they stand and turn their toes to
the front; everything else rides on its parent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mimik._types import Array
from mimik.rig.hands import hand_direction, knuckle_line, unit_or_none
from mimik.rig.skeleton import Skeleton
from mimik.rotation import matrix_to_quat, quat_apply, quat_between, quat_mul, quat_to_matrix, rotvec_to_quat

_DOWN = np.array([0.0, -1.0, 0.0])
_LEFT = np.array([1.0, 0.0, 0.0])
_RAISED = np.deg2rad(8.0)


@dataclass(frozen=True, slots=True)
class Stance:
    """How a figure stands in one pose.

    q_turn      (4,) world rotation that puts the figure upright, facing +Z
    arms_down   mean angle of the upper arms below the horizontal, radians
    crookedness how far limbs and trunk are from a straight stand, radians; small is better
    """

    q_turn: Array
    arms_down: float
    crookedness: float


def read_stance(positions: Array, roles: Mapping[str, int]) -> Stance | None:
    """Return the stance of one pose (J, 3), or None when it is not a person standing with straight legs and trunk."""
    frame = _body_frame(positions, roles)
    if frame is None:
        return None
    left, up, forward = frame
    legs = [
        _bone(positions, roles, f"{s}_{a}", f"{s}_{b}") for s in _SIDES for a, b in (("hip", "knee"), ("knee", "ankle"))
    ]
    lean = [_angle(d, -up) for d in legs if d is not None]
    arms, spread = [], []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for a, b in (("shoulder", "elbow"), ("elbow", "wrist")):
            d = _bone(positions, roles, f"{side}_{a}", f"{side}_{b}")
            if d is not None:
                arms.append(np.arcsin(np.clip(-d @ up, -1.0, 1.0)))
                spread.append(_angle(d - (d @ up) * up, sign * left) if abs(d @ up) < 0.9 else 0.0)
    if (
        not lean
        or max(lean) > np.deg2rad(50)
        or (arms and (min(arms) < np.deg2rad(-40) or max(spread) > np.deg2rad(70)))
    ):
        return None
    crooked = float(np.mean(lean)) + float(np.std(arms) if arms else 0.0)
    return Stance(_upright_turn(left, up, forward), float(np.mean(arms)) if arms else 0.0, crooked)


def tpose_of_stance(
    skeleton: Skeleton, roles: Mapping[str, int], q_world: Array, positions: Array, turn: Array
) -> Array:
    """Swing a standing figure's limbs to the canonical T-pose; return the world rotations (J, 4) there.

    q_world (J, 4) and positions (J, 3) are the pose, `turn` (4,) puts it upright facing +Z. A limb whose bones have no
    length keeps its direction.
    """
    upright = quat_apply(turn, positions)
    targets = _limb_targets(skeleton, roles, upright, quat_mul(turn, q_world))
    feet = _feet(skeleton, roles, upright, quat_mul(turn, q_world))
    lines = {roles.get(f"{side}_wrist", -1): knuckle_line(skeleton, roles, side) for side in _SIDES}
    knuckles = {j: quat_apply(quat_mul(turn, q_world[j]), line) for j, line in lines.items() if line is not None}
    # arms come along with the trunk, not with a collar that is lowered
    arms = {
        roles[f"{s}_shoulder"]: int(skeleton.parents[roles[f"{s}_collar"]])
        for s in _SIDES
        if f"{s}_collar" in roles and f"{s}_shoulder" in roles
    }
    change = np.tile([0.0, 0.0, 0.0, 1.0], (skeleton.joint_count, 1))  # (J, 4) from the upright pose to the T-pose
    for joint in range(1, skeleton.joint_count):
        carried = change[arms.get(joint, skeleton.parents[joint])]
        change[joint] = carried
        if joint in feet:
            change[joint] = feet[joint]
        elif joint in targets:
            direction, wanted = targets[joint]
            change[joint] = quat_mul(quat_between(quat_apply(carried, direction), wanted), carried)
        if joint in knuckles:
            change[joint] = quat_mul(palm_turn(quat_apply(change[joint], knuckles[joint])), change[joint])
    return quat_mul(change, quat_mul(turn, q_world))


def palm_turn(knuckles: Array) -> Array:
    """Return the turn (4,) about the arm in T-pose that brings a palm down, its line of knuckles (3,) to the front.

    The identity where the palm is more than a right angle off: names of fingers are then not to be trusted.
    """
    angle = np.arctan2(knuckles[1], knuckles[2])
    if abs(angle) > 0.5 * np.pi:
        angle = 0.0
    return rotvec_to_quat(np.array([angle, 0.0, 0.0]))


_SIDES = ("left", "right")


def _limb_targets(
    skeleton: Skeleton, roles: Mapping[str, int], positions: Array, q_world: Array
) -> dict[int, tuple[Array, Array]]:
    """Return joint -> (direction of its bone now, canonical direction)."""
    targets: dict[int, tuple[Array, Array]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        bones = (("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"))
        for role, child in bones:
            direction = _bone(positions, roles, f"{side}_{role}", f"{side}_{child}")
            if direction is not None:
                targets[roles[f"{side}_{role}"]] = (direction, sign * _LEFT if role in ("shoulder", "elbow") else _DOWN)
        shrugged = _shrugged_collar(positions, roles, side)
        if shrugged is not None:
            targets[roles[f"{side}_collar"]] = shrugged
        hand = hand_direction(skeleton, roles, side)
        if hand is not None:
            wrist = roles[f"{side}_wrist"]
            targets[wrist] = (quat_apply(q_world[wrist], hand), sign * _LEFT)
    return targets


def _shrugged_collar(positions: Array, roles: Mapping[str, int], side: str) -> tuple[Array, Array] | None:
    """Return direction now and wanted of a collar that rests raised, as SMPL's do in its T-pose; None for others.

    People's collars drop by that angle whenever their arms hang; on a rig that rests level the shoulders would sag.
    Collars that start in the middle of the body slope for other reasons and stay as they are.
    """
    bone = _bone(positions, roles, f"{side}_collar", f"{side}_shoulder")
    if bone is None or "pelvis" not in roles:
        return None
    middle = positions[roles["pelvis"], 0]
    collar, shoulder = (abs(positions[roles[f"{side}_{part}"], 0] - middle) for part in ("collar", "shoulder"))
    across = float(np.hypot(bone[0], bone[2]))
    rise = np.arctan2(bone[1], across)
    if collar < 0.2 * shoulder or rise < _RAISED or across < 0.3:
        return None
    return bone, np.array([bone[0] / across * np.cos(_RAISED), np.sin(_RAISED), bone[2] / across * np.cos(_RAISED)])


def _feet(skeleton: Skeleton, roles: Mapping[str, int], positions: Array, q_world: Array) -> dict[int, Array]:
    """Return ankle -> rotation (4,) of its foot to the T-pose: the sole as it stands, the toes straight to the front.

    Where a splayed leg carries its foot with it (toes exactly in the leg's plane) the foot follows the shin first.
    """
    turns = {}
    for side in _SIDES:
        ankle = roles.get(f"{side}_ankle")
        if ankle is None:
            continue
        foot = _bone(positions, roles, f"{side}_ankle", f"{side}_foot")
        if foot is None and np.isfinite(skeleton.tips[ankle]).all():
            foot = unit_or_none(quat_apply(q_world[ankle], skeleton.tips[ankle]))
        turns[ankle] = _foot_turn(_bone(positions, roles, f"{side}_knee", f"{side}_ankle"), foot)
    return turns


def _foot_turn(shin: Array | None, foot: Array | None) -> Array:
    stay = np.array([0.0, 0.0, 0.0, 1.0])
    if shin is None or foot is None:
        return stay
    swing = quat_between(shin, _DOWN)
    rides = abs(quat_apply(swing, foot)[0]) < 2e-3 and abs(foot[0]) > 2e-2
    change = swing if rides else stay
    toes = quat_apply(change, foot)
    if toes[2] < 0.3:
        return change
    return quat_mul(rotvec_to_quat(np.array([0.0, -np.arctan2(toes[0], toes[2]), 0.0])), change)


def toes_point_back(positions: Array, roles: Mapping[str, int], turn: Array) -> bool:
    """Say whether both feet of a standing pose (J, 3) point backwards: left and right are then named the wrong way."""
    upright = quat_apply(turn, positions)
    feet = [_bone(upright, roles, f"{side}_ankle", f"{side}_foot") for side in _SIDES]
    return all(foot is not None and foot[2] < -0.3 for foot in feet)


def _body_frame(positions: Array, roles: Mapping[str, int]) -> tuple[Array, Array, Array] | None:
    """Return unit left, up and forward of the figure."""
    pairs = [(f"left_{r}", f"right_{r}") for r in ("hip", "shoulder")]
    across = [positions[roles[a]] - positions[roles[b]] for a, b in pairs if a in roles and b in roles]
    top = next((roles[r] for r in ("neck", "spine3", "head") if r in roles), None)
    if not across or top is None or "pelvis" not in roles:
        return None
    low = roles["pelvis"]
    if "left_hip" in roles and "right_hip" in roles:
        base = 0.5 * (positions[roles["left_hip"]] + positions[roles["right_hip"]])
    else:
        base = positions[low]
    up = unit_or_none(positions[top] - base)
    left = unit_or_none(np.mean([a / max(float(np.linalg.norm(a)), 1e-9) for a in across], axis=0))
    if up is None or left is None or any(abs(float(a @ up)) > 0.6 * np.linalg.norm(a) for a in across):
        return None
    left = left - (left @ up) * up
    left = left / np.linalg.norm(left)
    return left, up, np.cross(left, up)


def _upright_turn(left: Array, up: Array, forward: Array) -> Array:
    """Return the rotation that puts the figure upright facing +Z; file axes count before the body's own small lean."""
    to_body = np.stack([left, up, forward])  # rows: what becomes X, Y, Z
    near_axes = _nearest_axes(to_body)
    lean = np.arccos(np.clip((np.trace(near_axes.T @ to_body) - 1.0) / 2.0, -1.0, 1.0))
    if lean < np.deg2rad(25):
        return matrix_to_quat(near_axes)
    if up[1] > np.cos(np.deg2rad(30)):
        return rotvec_to_quat(np.array([0.0, -np.arctan2(forward[0], forward[2]), 0.0]))
    return matrix_to_quat(to_body)


def _nearest_axes(matrix: Array) -> Array:
    """Return the rotation by right angles that is nearest to a rotation matrix."""
    best = max(RIGHT_ANGLES, key=lambda m: float(np.trace(m.T @ matrix)))
    return best


def _right_angles() -> list[Array]:
    turns = [rotvec_to_quat(0.5 * np.pi * k * axis) for axis in np.eye(3) for k in range(4)]
    seen: list[Array] = []
    for a in turns:
        for b in turns:
            for c in turns:
                m = np.round(quat_to_matrix(quat_mul(a, quat_mul(b, c))))
                if not any((m == s).all() for s in seen):
                    seen.append(m)
    return seen


RIGHT_ANGLES = _right_angles()


def _bone(positions: Array, roles: Mapping[str, int], role: str, child: str) -> Array | None:
    if role not in roles or child not in roles:
        return None
    return unit_or_none(positions[roles[child]] - positions[roles[role]])


def _angle(a: Array, b: Array) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
