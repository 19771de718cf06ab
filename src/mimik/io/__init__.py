"""Files in and out: one module a format, chosen by suffix and, where a suffix says little, by content."""

from __future__ import annotations

import importlib
import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mimik.errors import FileError, OptionError, one_of

if TYPE_CHECKING:
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip
    from mimik.rig.rig import Rig

# suffix -> modules of mimik.io that may hold it, the likeliest first
FORMATS: dict[str, tuple[str, ...]] = {
    ".bvh": ("bvh",),
    ".glb": ("gltf",),
    ".gltf": ("gltf",),
    ".vrm": ("vrm",),
    ".vrma": ("vrma",),
    ".npz": ("npz", "amass", "mediapipe", "human36m", "smpl_joints"),
    ".npy": ("human36m", "smpl_joints"),
    ".trc": ("trc",),
    ".c3d": ("c3d",),
    ".csv": ("mediapipe", "csv"),
    ".json": ("openpose", "mediapipe", "panoptic", "json3d"),
    ".mot": ("mot",),
}
FOLDER_FORMATS = ("openpose", "panoptic", "json3d")


def load_clip(path: str | os.PathLike[str], **options: Any) -> Clip:
    """Read motion on a rig from .bvh, .glb/.gltf, .vrm, .vrma or .npz. Metres, Y up."""
    clip: Clip = _call(path, "read_clip", "motion on a rig", options)
    return clip


def load_rig_file(path: str | os.PathLike[str], **options: Any) -> Rig:
    """Read the rig of a file; its motion, if any, only serves to find the T-pose."""
    rig: Rig = _call(path, "read_rig", "a rig", options)
    return rig


def load_keypoints(path: str | os.PathLike[str], **options: Any) -> Keypoints:
    """Read 3D keypoints from .trc, .c3d, .csv, .json, .npz, .npy or a folder of JSON frames. Metres, Y up."""
    keypoints: Keypoints = _call(path, "read_keypoints", "3D keypoints", options)
    return keypoints


def save_clip(clip: Clip, path: str | os.PathLike[str], **options: Any) -> list[str]:
    """Write a clip in the format its suffix names; return what the format could not hold."""
    notes: list[str] = _call(path, "write_clip", "motion", options, clip)
    return notes


def save_keypoints(keypoints: Keypoints, path: str | os.PathLike[str], **options: Any) -> list[str]:
    """Write keypoints in the format the suffix names; return what the format could not hold."""
    notes: list[str] = _call(path, "write_keypoints", "keypoints", options, keypoints)
    return notes


def can(path: str | os.PathLike[str], function: str) -> bool:
    """Say whether some format of this suffix offers `function` (read_clip, read_rig, read_keypoints, write_clip)."""
    return any(hasattr(module, function) for module in _modules(path))


def _modules(path: str | os.PathLike[str]) -> list[Any]:
    path = Path(path)
    if path.is_dir():
        if path.suffix.lower() in FORMATS and path.suffix.lower() != ".json":
            raise FileError(path, f"is a folder, not a {path.suffix.lower()} file")
        return [importlib.import_module(f"mimik.io.{name}") for name in FOLDER_FORMATS]
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise FileError(path, f"no format has the suffix {suffix!r}; known: {' '.join(FORMATS)}")
    return [importlib.import_module(f"mimik.io.{name}") for name in FORMATS[suffix]]


def _call(path: str | os.PathLike[str], function: str, what: str, options: dict[str, Any], *subject: Any) -> Any:
    """Call the first module of the suffix that offers `function` and, for reading, whose `sniff` accepts the file.

    The option `format` names the module instead, where several share a suffix.
    """
    modules = [m for m in _modules(path) if hasattr(m, function)]
    if not modules:
        verb = "written to" if function.startswith("write") else "read from"
        raise FileError(path, f"{what} cannot be {verb} {Path(path).suffix or 'a folder'}")
    if (wanted := options.pop("format", None)) is not None:
        names = [m.__name__.rpartition(".")[2] for m in modules]
        if wanted not in names:
            raise OptionError(one_of(f"format of {Path(path).suffix or 'a folder'} for {what}", wanted, names))
        modules = [modules[names.index(wanted)]]
    if len(modules) > 1 and function.startswith("read"):
        accepting = [m for m in modules if m.sniff(Path(path))]
        modules = accepting or modules[-1:]
    chosen = getattr(modules[0], function)
    _check_options(chosen, modules[0].__name__.rpartition(".")[2], options)
    return chosen(*subject, Path(path), **options)


def _check_options(chosen: Any, module: str, options: dict[str, Any]) -> None:
    parameters = inspect.signature(chosen).parameters.values()
    valid = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    unknown = [name for name in options if name not in valid]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise OptionError(one_of(f"option of {module} files", unknown[0], valid))
