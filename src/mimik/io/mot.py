"""OpenSim motion files (.mot), write only: joint angles in degrees under the coordinate names of the Rajagopal models.

Ground is X forward, Y up, Z right. Every ball joint is split into intrinsic turns about Z, X, Y, as the models do:

    pelvis    tilt (Z, back), list (X, to the right), rotation (Y, to the left), tx ty tz of the pelvis joint in metres
    hip       flexion (Z), adduction (X right, -X left), rotation inward (Y right, -Y left), in the pelvis
    knee      flexion (-Z), in the thigh                ankle  dorsiflexion (Z), subtalar inversion (X, -X), in the shin
    mtp       toes up (Z), in the foot                  lumbar extension (Z), bending to the right (X), rotation (Y)
    arm       flex (Z), add (X, -X), rot inward (Y, -Y), upper arm in the thorax, zero with arms hanging, palms inward
    elbow     flex (Z); pro_sup (Y, -Y) sums the turns of forearm and hand about the forearm
    wrist     flex (X, -X) towards the palm, dev (Z) towards the thumb

Turns that these coordinates leave out (knee and elbow off their hinge, spine bends between pelvis and chest, collars,
neck, head, fingers) are lost, and the notes say how large they were. A model's own pelvis frame may lie elsewhere.
"""

import os

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, RigError
from mimik.io.files import atomic_write
from mimik.motion.clip import Clip
from mimik.rig.role_space import ROLE_INDEX, rig_to_role_rotations
from mimik.rotation import quat_inv, quat_mul, quat_to_euler

_NEEDED = ("pelvis", *(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle")))
_HALF = np.sqrt(0.5)
# T-pose arm to hanging arm, in ground axes: a quarter turn about X (forward)
_HANG = {"right": np.array([_HALF, 0.0, 0.0, _HALF]), "left": np.array([-_HALF, 0.0, 0.0, _HALF])}


def write_clip(clip: Clip, path: str | os.PathLike[str]) -> list[str]:
    """Write a clip's joint angles. Returns what the file cannot hold.

    Raises FileError for a clip without frames and RigError for a rig without pelvis or legs.
    """
    if clip.frame_count == 0:
        raise FileError(path, "a clip without frames cannot be written as .mot")
    lacking = [role for role in _NEEDED if role not in clip.rig.roles]
    if lacking:
        raise RigError(f"OpenSim coordinates need joints with the roles {', '.join(lacking)}")
    columns, notes = coordinates(clip)
    names = list(columns)
    table = np.column_stack([np.arange(clip.frame_count) / clip.fps, *columns.values()])
    row = "\t".join(["%.8f"] * table.shape[1])
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        out.write(
            f"Coordinates\nversion=1\nnRows={len(table)}\nnColumns={table.shape[1]}\ninDegrees=yes\n\nendheader\n"
        )
        out.write("\t".join(["time", *names]) + "\n")
        out.writelines(row % tuple(values) + "\n" for values in table)
    return notes


def coordinates(clip: Clip) -> tuple[dict[str, Array], list[str]]:
    """Return coordinate name -> (T,) degrees (metres for pelvis_tx, _ty, _tz), and notes on what is left out."""
    D, pelvis = rig_to_role_rotations(clip.rig, clip.pose())
    R = {role: _to_ground(D[:, k]) for role, k in ROLE_INDEX.items()}  # (T, 4) each, x forward, y up, z right
    out: dict[str, Array] = {}
    lost: dict[str, float] = {}
    out["pelvis_tilt"], out["pelvis_list"], out["pelvis_rotation"] = _turns(R["pelvis"], "ZXY")
    out["pelvis_tx"], out["pelvis_ty"], out["pelvis_tz"] = pelvis[:, 2], pelvis[:, 1], -pelvis[:, 0]
    for side, letter, sign in (("right", "r", 1.0), ("left", "l", -1.0)):
        _leg(out, lost, R, side, letter, sign)
    extension, bending, rotation = _turns(_between(R["pelvis"], R["spine3"]), "ZXY")
    out["lumbar_extension"], out["lumbar_bending"], out["lumbar_rotation"] = extension, bending, rotation
    for side, letter, sign in (("right", "r", 1.0), ("left", "l", -1.0)):
        if f"{side}_shoulder" in clip.rig.roles:
            _arm(out, lost, R, side, letter, sign)
    notes = [f"{part}: up to {angle:.1f} degrees off the hinge are lost" for part, angle in lost.items() if angle > 0.5]
    notes.append(".mot holds no collars, neck, head, fingers or single spine joints, and no skeleton")
    return out, notes


def _leg(
    out: dict[str, Array], lost: dict[str, float], R: dict[str, Array], side: str, letter: str, sign: float
) -> None:
    flexion, adduction, rotation = _turns(_between(R["pelvis"], R[f"{side}_hip"]), "ZXY")
    out[f"hip_flexion_{letter}"] = flexion
    out[f"hip_adduction_{letter}"] = sign * adduction
    out[f"hip_rotation_{letter}"] = sign * rotation
    knee, *off = _turns(_between(R[f"{side}_hip"], R[f"{side}_knee"]), "ZXY")
    out[f"knee_angle_{letter}"] = -knee
    lost[f"{side} knee"] = float(np.abs(off).max())
    ankle, subtalar, turn = _turns(_between(R[f"{side}_knee"], R[f"{side}_ankle"]), "ZXY")
    out[f"ankle_angle_{letter}"], out[f"subtalar_angle_{letter}"] = ankle, sign * subtalar
    lost[f"{side} ankle"] = float(np.abs(turn).max())
    toes, *off = _turns(_between(R[f"{side}_ankle"], R[f"{side}_foot"]), "ZXY")
    out[f"mtp_angle_{letter}"] = toes
    lost[f"{side} toes"] = float(np.abs(off).max())


def _arm(
    out: dict[str, Array], lost: dict[str, float], R: dict[str, Array], side: str, letter: str, sign: float
) -> None:
    hang = _HANG[side]
    upper = quat_mul(_between(R["spine3"], R[f"{side}_shoulder"]), quat_inv(hang))
    flex, add, rot = _turns(upper, "ZXY")
    out[f"arm_flex_{letter}"], out[f"arm_add_{letter}"], out[f"arm_rot_{letter}"] = flex, sign * add, sign * rot
    elbow, off, forearm = _turns(_hung(_between(R[f"{side}_shoulder"], R[f"{side}_elbow"]), hang), "ZXY")
    out[f"elbow_flex_{letter}"] = elbow
    lost[f"{side} elbow"] = float(np.abs(off).max())
    hand, wrist, deviation = _turns(_hung(_between(R[f"{side}_elbow"], R[f"{side}_wrist"]), hang), "YXZ")
    out[f"pro_sup_{letter}"] = sign * (forearm + hand)
    out[f"wrist_flex_{letter}"], out[f"wrist_dev_{letter}"] = sign * wrist, deviation


def _to_ground(q: Array) -> Array:
    """Turn rotations (T, 4) of our axes into ground axes: x = our z, y = our y, z = minus our x."""
    return np.stack([q[:, 2], q[:, 1], -q[:, 0], q[:, 3]], axis=1)


def _between(q_world_parent: Array, q_world_child: Array) -> Array:
    return quat_mul(quat_inv(q_world_parent), q_world_child)


def _hung(q: Array, hang: Array) -> Array:
    """Express a T-pose-relative rotation in the axes of the hanging arm."""
    return quat_mul(quat_mul(hang, q), quat_inv(hang))


def _turns(q: Array, order: str) -> tuple[Array, Array, Array]:
    """Return three angles (T,) in degrees, continuous in time: of the two equal answers the one nearer the last."""
    angles = quat_to_euler(q, order)
    other = angles * [1.0, -1.0, 1.0] + np.pi
    turn = 2.0 * np.pi
    last = np.zeros(3)
    for t in range(len(angles)):
        a = angles[t] + turn * np.round((last - angles[t]) / turn)
        b = other[t] + turn * np.round((last - other[t]) / turn)
        last = a if np.abs(a - last).sum() <= np.abs(b - last).sum() else b
        angles[t] = last
    degrees = np.rad2deg(angles)
    return degrees[:, 0], degrees[:, 1], degrees[:, 2]
