"""The rest of the Unreal mannequin: an A-pose whose joints have their X axis along the bone.

As in the engine's own rig the left arm and the spine point along +X and the left leg along -X; the right side is the
mirror image with all axes negated. Elbows, knees and fingers bend about Z.
"""

import numpy as np

from mimik._types import Array
from mimik.rotation import matrix_to_quat, quat_apply, quat_mul, rotvec_to_quat

_ARM_DOWN = np.deg2rad(48.0)
_ELBOW_BEND = np.deg2rad(12.0)
_LEG_OUT = np.deg2rad(4.0)

# columns: the joint's X, Y, Z in the T-pose, left side
_AXES = {
    "trunk": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).T,
    "arm": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]).T,
    "leg": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).T,
    "ball": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).T,
}


def ue5_rest(names: list[str], parents: list[int], places: Array, ends: Array) -> tuple[Array, Array, Array]:
    """Pose the T-pose figure (J, 3) as the mannequin rests; return world rotations, positions and bone ends there."""
    turn = np.tile([0.0, 0.0, 0.0, 1.0], (len(names), 1))  # (J, 4) from the T-pose to the rest, world axes
    p_rest, end_rest = places.copy(), ends.copy()
    q_rest = np.empty((len(names), 4))
    for j, (name, parent) in enumerate(zip(names, parents)):
        side = -1.0 if name.endswith("_r") else 1.0
        if parent >= 0:
            turn[j] = turn[parent]
            p_rest[j] = p_rest[parent] + quat_apply(turn[parent], places[j] - places[parent])
        turn[j] = quat_mul(turn[j], _own_turn(name, side))
        if name.startswith("foot_"):
            turn[j] = [0.0, 0.0, 0.0, 1.0]
        end_rest[j] = p_rest[j] + quat_apply(turn[j], ends[j] - places[j])
        q_rest[j] = quat_mul(turn[j], matrix_to_quat(_axes(name, side)))
    ankle = names.index("foot_l")
    lift = np.array([0.0, places[ankle, 1] - p_rest[ankle, 1], 0.0])
    moved = np.array([name != "root" for name in names])[:, None] * lift
    return q_rest, p_rest + moved, end_rest + moved


def _own_turn(name: str, side: float) -> Array:
    """Return how a joint turns against its parent from the T-pose to the A-pose."""
    if name.startswith("upperarm_") and "twist" not in name:
        return rotvec_to_quat(np.array([0.0, 0.0, -side * _ARM_DOWN]))
    if name.startswith("lowerarm_") and "twist" not in name:
        return rotvec_to_quat(np.array([0.0, -side * _ELBOW_BEND, 0.0]))
    if name.startswith("thigh_") and "twist" not in name:
        return rotvec_to_quat(np.array([0.0, 0.0, side * _LEG_OUT]))
    return np.array([0.0, 0.0, 0.0, 1.0])


def _axes(name: str, side: float) -> Array:
    """Return a joint's axes (3, 3) in the T-pose, as columns."""
    if name == "root":
        return np.eye(3)
    if not name.endswith(("_l", "_r")):
        return _AXES["trunk"]
    kind = "ball" if name.startswith("ball") else "leg" if name.startswith(("thigh", "calf", "foot")) else "arm"
    axes = _AXES[kind]
    return axes if side > 0.0 else -(np.diag([-1.0, 1.0, 1.0]) @ axes)
