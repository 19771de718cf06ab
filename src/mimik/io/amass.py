"""AMASS and other npz files of the SMPL family: axis-angle `poses`, `trans`, `betas`, frame rate in both spellings.

AMASS is Z up; that is recognised from the pelvis, as are the Y up and Y down of video methods. Without the body model
(licensed apart) a figure of our own stands in for the person's: rotations are exact, places good to centimetres.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, MimikError, OptionError, one_of
from mimik.io._amass_body import JOINT_NAMES, Body, mean_pelvis, model_body, own_body
from mimik.io._bvh_axes import UP_AXES, up_turn
from mimik.io.files import atomic_write, open_npz
from mimik.motion.clip import Clip
from mimik.rig.rest import with_habits
from mimik.rig.rig import Rig
from mimik.rig.role_space import rig_to_role_rotations
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE
from mimik.rotation import (
    identity_quat,
    matrix_to_quat,
    quat_apply,
    quat_inv,
    quat_mul,
    quat_to_rotvec,
    rotvec_to_quat,
)

Arrays = dict[str, np.ndarray[Any, Any]]
SmplKind = Literal["smpl", "smplh", "smplx"]

_RATES = ("mocap_frame_rate", "mocap_framerate", "frame_rate", "framerate", "fps")
_TRANSLATIONS = ("trans", "transl", "translation")
_WIDTHS = {66: "smplh", 72: "smpl", 156: "smplh", 165: "smplx"}
# the parts newer files split `poses` into, with their widths
_PARTS = (("root_orient", "global_orient"), 3), (("pose_body", "body_pose"), 63)
_FACE_AND_HANDS = (("pose_jaw", "jaw_pose"), 3), (("pose_eye", "eye_pose"), 6), (("pose_hand", "hand_pose"), 90)


def sniff(path: Path) -> bool:
    """Say whether the archive holds poses of the SMPL family."""
    try:
        with zipfile.ZipFile(path) as archive:
            keys = {name.removesuffix(".npy") for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False
    return bool(keys & {"poses", *_PARTS[1][0]}) or {"betas", "gender"} <= keys


def read_clip(
    path: Path,
    *,
    up: str = "auto",
    fps: float | None = None,
    height: float = 1.75,
    model: str | Path | None = None,
) -> Clip:
    """Read an AMASS-like npz. Metres, Y up.

    up      axis of the file that points up ("z" in AMASS); "auto" from the pelvis' own axis
    fps     frames a second instead of the file's
    height  of the stand-in figure, metres
    model   npz file of the user's SMPL, SMPL-H or SMPL-X model, for the person's true joints

    Raises FileError that names what is missing.
    """
    arrays = open_npz(path)
    rotvecs, kind = _poses(arrays, path)
    trans = _translation(arrays, path, len(rotvecs))
    notes: list[str] = []
    betas = _betas(arrays)
    body = _body(kind, height, model, betas, notes)
    rotations = rotvec_to_quat(rotvecs)
    turn = up_turn(_up_axis(rotations[:, 0], notes) if up == "auto" else up)
    rotations[:, 0] = quat_mul(matrix_to_quat(turn), rotations[:, 0])
    root = (trans + body.pelvis) @ turn.T
    rate = _rate(arrays, notes) if fps is None else fps
    try:
        rig = with_habits(body.rig, (rotations, root, None))
        return Clip(rig, rotations, root, rate, path.stem, None, tuple(notes))
    except MimikError as error:
        raise FileError(path, str(error)) from None


def read_rig(path: Path, *, height: float = 1.75, model: str | Path | None = None) -> Rig:
    """Read the body of an AMASS-like npz; options as for `read_clip`."""
    return read_clip(path, height=height, model=model).rig


def write_clip(clip: Clip, path: Path, *, kind: SmplKind = "smplh", up: str = "z") -> list[str]:
    """Write a clip of any rig as an AMASS npz and return what it cannot hold.

    kind  "smplh" (52 joints, 156 numbers, as AMASS), "smplx" (55, 165) or "smpl" (24, 72)
    up    axis that points up in the file, "z" in AMASS

    Raises OptionError for an option that is none, RigError for a rig without a pelvis.
    """
    if kind not in JOINT_NAMES:
        raise OptionError(one_of("kind of SMPL body", kind, JOINT_NAMES))
    turn = up_turn(up)
    names = JOINT_NAMES[kind]
    notes = ["the body's shape is not written: betas are zero, trans is that of the mean body"]
    rotations, root = _smpl_rotations(clip, names, notes)
    rotations[:, 0] = quat_mul(matrix_to_quat(turn.T), rotations[:, 0])
    trans = root @ turn - mean_pelvis(kind)
    arrays = {
        "poses": quat_to_rotvec(rotations).reshape(len(rotations), 3 * len(names)),
        "trans": trans,
        "betas": np.zeros(16),
        "gender": np.array("neutral"),
        "mocap_framerate": np.array(clip.fps),
        "mocap_frame_rate": np.array(clip.fps),
        "surface_model_type": np.array(kind),
    }
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]
    return notes


def _poses(arrays: Arrays, path: Path) -> tuple[Array, str]:
    """Return rotation vectors (T, J, 3) and which model they are for."""
    if "poses" in arrays:
        poses = _numbers(arrays, "poses", path)
        if poses.ndim == 3 and poses.shape[2] == 3:
            poses = poses.reshape(len(poses), -1)
    else:
        poses = _joined_parts(arrays, path)
    if poses.ndim != 2 or poses.shape[1] not in _WIDTHS:
        raise FileError(path, f"poses have shape {poses.shape}; expected (frames, 72), (frames, 156) or (frames, 165)")
    bad = np.flatnonzero(~np.isfinite(poses).all(axis=1) | (np.abs(poses) > 1e4).any(axis=1))
    if len(bad):
        raise FileError(path, "poses are not finite angles", frame=int(bad[0]))
    kind = _WIDTHS[poses.shape[1]]
    joints = len(JOINT_NAMES[kind])
    full = np.zeros((len(poses), 3 * joints))
    full[:, : poses.shape[1]] = poses
    return full.reshape(len(poses), joints, 3), kind


def _joined_parts(arrays: Arrays, path: Path) -> Array:
    """Put the poses of files that split them together: root and body, then face and hands where there are any."""
    found = {keys[0]: next((k for k in keys if k in arrays), "") for keys, _ in (*_PARTS, *_FACE_AND_HANDS)}
    missing = [keys[0] for keys, _ in _PARTS if not found[keys[0]]]
    if missing:
        there = ", ".join(arrays) or "nothing"
        raise FileError(path, f"has no poses (nor {' and '.join(missing)}); a motion needs them; there is {there}")
    parts = [_part(arrays, found[keys[0]], width, path) for keys, width in _PARTS]
    if any(found[keys[0]] for keys, _ in _FACE_AND_HANDS):
        for keys, width in _FACE_AND_HANDS:
            key = found[keys[0]]
            parts.append(_part(arrays, key, width, path) if key else np.zeros((len(parts[0]), width)))
    if len({len(part) for part in parts}) > 1:
        raise FileError(path, f"the parts of the pose have different lengths: {[len(part) for part in parts]}")
    return np.concatenate(parts, axis=1)


def _part(arrays: Arrays, key: str, width: int, path: Path) -> Array:
    part = _numbers(arrays, key, path)
    part = part.reshape(len(part), -1) if part.ndim > 1 and len(part) else part
    if part.ndim != 2 or part.shape[1] != width:
        raise FileError(path, f"{key} has shape {arrays[key].shape}; expected (frames, {width})")
    return part


def _translation(arrays: Arrays, path: Path, frames: int) -> Array:
    key = next((k for k in _TRANSLATIONS if k in arrays), None)
    if key is None:
        raise FileError(path, f"has no trans (the body's path); there is {', '.join(arrays)}")
    trans = _numbers(arrays, key, path)
    if trans.shape != (frames, 3):
        raise FileError(path, f"{key} has shape {trans.shape}; {frames} frames of poses need ({frames}, 3)")
    bad = np.flatnonzero(~(np.abs(trans) < 1e6).all(axis=1))
    if len(bad):
        raise FileError(path, f"{key} is not a place in metres", frame=int(bad[0]))
    return trans


def _numbers(arrays: Arrays, key: str, path: Path) -> Array:
    if arrays[key].dtype.kind not in "fiu":
        raise FileError(path, f"{key} holds {arrays[key].dtype}, not numbers")
    return np.asarray(arrays[key], dtype=np.float64)


def _betas(arrays: Arrays) -> Array:
    betas = arrays.get("betas", np.zeros(0))
    if betas.dtype.kind not in "fiu" or not np.isfinite(betas).all():
        return np.zeros(0)
    return np.asarray(betas if betas.ndim < 2 else betas[:1], dtype=np.float64).reshape(-1)[:300]


def _body(kind: str, height: float, model: str | Path | None, betas: Array, notes: list[str]) -> Body:
    if model is not None:
        return model_body(Path(model), kind, betas)
    if betas.any():
        notes.append("betas shape the body only with its model file (model=); a figure of our own stands in")
    return own_body(kind, height)


def _up_axis(q_root: Array, notes: list[str]) -> str:
    """Return the file axis along which the pelvis' own up axis mostly points."""
    if not len(q_root):
        return "z"
    mean = quat_apply(q_root, np.array([0.0, 1.0, 0.0])).mean(axis=0)
    axis = int(np.argmax(np.abs(mean)))
    up = ("-" if mean[axis] < 0 else "") + "xyz"[axis]
    if abs(mean[axis]) < 0.7 or up not in ("y", "z", "-y"):
        notes.append("up axis not clear from the motion: Z taken as up, as in AMASS (up= settles it)")
        return "z"
    assert up in UP_AXES
    notes.append(f"{up.upper()} up in the file" + ("" if up == "y" else ": turned to Y up"))
    return up


def _rate(arrays: Arrays, notes: list[str]) -> float:
    for key in _RATES:
        if key in arrays and arrays[key].size == 1 and arrays[key].dtype.kind in "fiu":
            rate = float(arrays[key].reshape(()))
            if 0.0 < rate < 1e6:
                return rate
    notes.append("no frame rate in the file: 30 frames a second taken (fps= settles it)")
    return 30.0


def _smpl_rotations(clip: Clip, names: tuple[str, ...], notes: list[str]) -> tuple[Array, Array]:
    """Return local rotations (T, J, 4) of SMPL's joints and the pelvis' path (T, 3)."""
    rig = clip.rig
    if rig.names[: len(BODY_ROLES)] == BODY_ROLES and np.array_equal(rig.skeleton.rest, _identities(rig)):
        return _by_name(clip, names, notes), np.array(clip.root)
    D_world, pelvis = rig_to_role_rotations(rig, clip.pose())
    q_world = clip.world().rotations
    D_joint = dict(zip(BODY_ROLES, np.moveaxis(D_world, -2, 0)))
    for name in names[len(BODY_ROLES) :]:
        joint = rig.roles.get(name)
        parent = PARENT_ROLE.get(name) or name.replace("_hand", "_wrist")
        if joint is None:
            D_joint[name] = D_joint[parent]
        else:
            D_joint[name] = quat_mul(q_world[:, joint], quat_inv(rig.q_world_tpose[joint]))
    local = identity_quat(clip.frame_count, len(names))
    for j, name in enumerate(names):
        parent = PARENT_ROLE.get(name, name.replace("_hand", "_wrist"))
        local[:, j] = quat_mul(quat_inv(D_joint[parent]), D_joint[name]) if parent else D_joint[name]
    notes.append("rotations are told from the T-pose; SMPL's own rest differs from it by a few degrees")
    return local, np.array(pelvis)


def _by_name(clip: Clip, names: tuple[str, ...], notes: list[str]) -> Array:
    local = identity_quat(clip.frame_count, len(names))
    for j, name in enumerate(names):
        if name in clip.rig.names:
            local[:, j] = clip.rotations[:, clip.rig.skeleton.index(name)]
    lost = [name for name in clip.rig.names if name not in names]
    if lost:
        notes.append(f"{len(lost)} joints have no place in the file: {', '.join(lost[:5])}")
    return local


def _identities(rig: Rig) -> Array:
    return identity_quat(rig.joint_count)
