"""mimik's own format: an npz archive that holds a rig, a clip or keypoints without any loss.

Arrays are stored as they are; what is no array (names, roles, limits) is JSON text in `header`. No pickles.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, MimikError
from mimik.goals.keypoints import Keypoints
from mimik.io.files import atomic_write, open_npz
from mimik.motion.clip import Clip
from mimik.rig.limits import JointRange, Limits
from mimik.rig.rig import Rig
from mimik.rig.skeleton import Skeleton
from mimik.rig.skin import Skin

Arrays = dict[str, np.ndarray[Any, Any]]

_VERSION = 1
_MARK = "mimik_format"
_SKIN_ARRAYS = ("vertices", "faces", "joints", "weights", "inverse_bind", "colours")
_SKELETON_ARRAYS = ("parents", "offsets", "rest", "tips")


def sniff(path: Path) -> bool:
    """Say whether the archive is one of mimik's own."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_MARK}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def read_clip(path: Path) -> Clip:
    """Read a clip with its rig; raises FileError when the archive is broken or holds none."""
    arrays, header = _open(path, "clip")
    info = _section(path, header, "clip")
    try:
        return Clip(
            _rig(arrays, header, path),
            _floats(arrays, "rotations"),
            _floats(arrays, "root"),
            float(info["fps"]),
            str(info.get("name", "")),
            _floats(arrays, "translations") if "translations" in arrays else None,
            tuple(str(note) for note in info.get("notes", ())),
        )
    except _BROKEN as error:
        raise _broken(path, error) from None


def read_rig(path: Path) -> Rig:
    """Read the rig of a rig or clip archive; raises FileError when it is broken or holds none."""
    arrays, header = _open(path, "rig")
    try:
        return _rig(arrays, header, path)
    except _BROKEN as error:
        raise _broken(path, error) from None


def read_keypoints(path: Path) -> Keypoints:
    """Read keypoints; raises FileError when the archive is broken or holds none."""
    arrays, header = _open(path, "keypoints")
    info = _section(path, header, "keypoints")
    try:
        return Keypoints(
            tuple(str(name) for name in info["names"]),
            _floats(arrays, "positions"),
            float(info["fps"]),
            _floats(arrays, "confidence") if "confidence" in arrays else None,
            str(info.get("layout", "")),
            tuple(str(note) for note in info.get("notes", ())),
        )
    except _BROKEN as error:
        raise _broken(path, error) from None


def write_clip(clip: Clip, path: Path) -> list[str]:
    """Write a clip with its whole rig; nothing is lost but how a solver found it, which the notes say."""
    arrays, header = _rig_arrays(clip.rig)
    arrays.update(rotations=clip.rotations, root=clip.root)
    if clip.translations is not None:
        arrays["translations"] = clip.translations
    header["clip"] = {"fps": clip.fps, "name": clip.name, "notes": list(clip.notes)}
    _write(path, arrays, header)
    return ["the solver's report is not stored"] if clip.solution is not None else []


def write_rig(rig: Rig, path: Path) -> list[str]:
    """Write a rig: skeleton, T-pose, roles, limits and skin. Nothing is lost."""
    arrays, header = _rig_arrays(rig)
    _write(path, arrays, header)
    return []


def write_keypoints(keypoints: Keypoints, path: Path) -> list[str]:
    """Write keypoints. Nothing is lost."""
    arrays: Arrays = {"positions": keypoints.positions}
    if keypoints.confidence is not None:
        arrays["confidence"] = keypoints.confidence
    info = {"names": list(keypoints.names), "fps": keypoints.fps, "layout": keypoints.layout}
    _write(path, arrays, {"keypoints": {**info, "notes": list(keypoints.notes)}})
    return []


_BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, MimikError)


def _broken(path: Path, error: Exception) -> FileError:
    message = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
    return FileError(path, f"is not a whole mimik archive: {message}")


def _open(path: Path, wanted: str) -> tuple[Arrays, dict[str, Any]]:
    arrays = open_npz(path)
    if _MARK not in arrays or "header" not in arrays:
        raise FileError(path, f"is not a mimik archive; its arrays are: {', '.join(arrays) or 'none'}")
    try:
        version = int(arrays[_MARK])
        header = json.loads(arrays["header"].tobytes().decode())
    except (ValueError, TypeError, RecursionError) as error:
        raise _broken(path, error) from None
    if not isinstance(header, dict):
        raise FileError(path, "is not a whole mimik archive: its header is no table")
    if version > _VERSION:
        raise FileError(path, f"has version {version} of mimik's format; this mimik reads up to {_VERSION}")
    if wanted not in header:
        raise FileError(path, f"holds {' and '.join(header) or 'nothing'}, no {wanted}")
    return arrays, header


def _section(path: Path, header: dict[str, Any], name: str) -> dict[str, Any]:
    section = header[name]
    if not isinstance(section, dict):
        raise FileError(path, f"is not a whole mimik archive: {name!r} is no table")
    return section


def _floats(arrays: Arrays, key: str) -> Array:
    array = arrays[key]
    if array.dtype.kind not in "fiu":
        raise TypeError(f"array {key!r} holds {array.dtype}, not numbers")
    return np.asarray(array, dtype=np.float64)


def _integers(arrays: Arrays, key: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    array = arrays[key]
    if array.dtype.kind not in "iu":
        raise TypeError(f"array {key!r} holds {array.dtype}, not whole numbers")
    return np.asarray(array, dtype=np.int64)


def _rig_arrays(rig: Rig) -> tuple[Arrays, dict[str, Any]]:
    arrays: Arrays = {key: getattr(rig.skeleton, key) for key in _SKELETON_ARRAYS}
    arrays["q_world_tpose"] = rig.q_world_tpose
    info: dict[str, Any] = {
        "joint_names": list(rig.names),
        "roles": dict(rig.roles),
        "name": rig.name,
        "rest_kind": rig.rest_kind,
        "hinge_turns": dict(rig.hinge_turns),
        "loose_hinges": sorted(rig.loose_hinges),
        "notes": list(rig.notes),
    }
    if rig.limits is not None:
        info["limits"] = {
            "source": rig.limits.source,
            "joints": {name: _range_to_json(rig.limits[name]) for name in rig.limits},
        }
    if rig.skin is not None:
        info["skin"] = {"name": rig.skin.name}
        for key in _SKIN_ARRAYS:
            if getattr(rig.skin, key) is not None:
                arrays[f"skin_{key}"] = getattr(rig.skin, key)
    return arrays, {"rig": info}


def _rig(arrays: Arrays, header: dict[str, Any], path: Path) -> Rig:
    info = _section(path, header, "rig")
    names = tuple(str(name) for name in info["joint_names"])
    skeleton = Skeleton(names, _integers(arrays, "parents"), *(_floats(arrays, key) for key in _SKELETON_ARRAYS[1:]))
    if info["rest_kind"] not in ("T", "A", "arbitrary"):
        raise ValueError(f"rest kind {info['rest_kind']!r} is none of T, A, arbitrary")
    limits = info.get("limits")
    turns = {str(role): float(turn) for role, turn in info.get("hinge_turns", {}).items()}
    if not np.isfinite(list(turns.values())).all():
        raise ValueError("hinge_turns are not finite")
    rig = Rig(
        skeleton,
        _floats(arrays, "q_world_tpose"),
        roles={str(role): int(joint) for role, joint in info["roles"].items()},
        name=str(info["name"]),
        rest_kind=info["rest_kind"],
        source=path,
        hinge_turns=turns,
        loose_hinges=frozenset(str(role) for role in info.get("loose_hinges", ())),
        notes=tuple(str(note) for note in info.get("notes", ())),
    )
    if limits is not None:
        ranges = {str(name): _range_from_json(values) for name, values in limits["joints"].items()}
        rig = rig.with_limits(Limits(ranges, str(limits["source"])))
    return replace(rig, skin=_skin(arrays, str(info["skin"]["name"]), len(names))) if "skin" in info else rig


def _skin(arrays: Arrays, name: str, joint_count: int) -> Skin:
    bind = _floats(arrays, "skin_inverse_bind")
    if len(bind) != joint_count:
        raise ValueError(f"the skin is bound to {len(bind)} joints, the rig has {joint_count}")
    return Skin(
        _floats(arrays, "skin_vertices"),
        _integers(arrays, "skin_faces"),
        _integers(arrays, "skin_joints"),
        _floats(arrays, "skin_weights"),
        bind,
        _floats(arrays, "skin_colours") if "skin_colours" in arrays else None,
        name,
    )


def _range_to_json(joint: JointRange) -> dict[str, Any]:
    """Store a joint's range; infinite limits become null."""
    return {
        "kind": joint.kind,
        "axes": joint.axes.tolist(),
        "lower": [None if np.isinf(v) else v for v in joint.lower.tolist()],
        "upper": [None if np.isinf(v) else v for v in joint.upper.tolist()],
        "cone": None if np.isinf(joint.cone) else joint.cone,
        "centre": joint.centre.tolist(),
    }


def _range_from_json(values: dict[str, Any]) -> JointRange:
    axes = np.array(values["axes"], dtype=np.float64).reshape(-1, 3)
    lower = np.array([-np.inf if v is None else float(v) for v in values["lower"]])
    upper = np.array([np.inf if v is None else float(v) for v in values["upper"]])
    if not len(lower) == len(upper) == len(axes):
        raise ValueError("a joint has limits and axes of different number")
    cone = np.inf if values["cone"] is None else float(values["cone"])
    centre = np.array(values["centre"], dtype=np.float64).reshape(4)
    return JointRange(values["kind"], axes, lower, upper, cone, centre)


def _write(path: Path, arrays: Arrays, header: dict[str, Any]) -> None:
    text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8)
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{_MARK: np.int64(_VERSION), "header": text, **arrays})  # type: ignore[arg-type]
