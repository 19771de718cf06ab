"""Bodies of the SMPL family: joint names by number of joints, our own figure, or the user's model file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import FileError
from mimik.io.files import open_npz
from mimik.rig.build import build_rig
from mimik.rig.figure import figure_points
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE
from mimik.rig.skeleton import Skeleton
from mimik.rotation import identity_quat

_FINGERS = tuple(
    f"{side}_{finger}{k}"
    for side in ("left", "right")
    for finger in ("index", "middle", "pinky", "ring", "thumb")
    for k in (1, 2, 3)
)
JOINT_NAMES = MappingProxyType(
    {
        "smpl": (*BODY_ROLES, "left_hand", "right_hand"),
        "smplh": (*BODY_ROLES, *_FINGERS),
        "smplx": (*BODY_ROLES, "jaw", "left_eye", "right_eye", *_FINGERS),
    }
)
"""Kind of model -> joint names in its own order; all but SMPL's two hands are roles."""

_ENDS = {"head": "head_top", "left_foot": "left_toe_tip", "right_foot": "right_toe_tip"}
_PELVIS = {"smpl": (0.0, -0.22, 0.03), "smplh": (0.0, -0.22, 0.03), "smplx": (0.0, -0.35, 0.01)}


@dataclass(frozen=True, slots=True)
class Body:
    """A rig in T-pose with identity rest, and where its pelvis lies from the origin that `trans` moves (3,)."""

    rig: Rig
    pelvis: Array


def mean_pelvis(kind: str) -> Array:
    """Return where the mean body's pelvis joint lies from the model's origin (3,), metres, to about two centimetres."""
    return np.array(_PELVIS[kind])


def own_body(kind: str, height: float) -> Body:
    """Return our own figure under the joint names of a kind of model."""
    points = dict(figure_points(height))
    for side in ("left", "right"):
        points[f"{side}_hand"] = points[f"{side}_middle1"]
    names = JOINT_NAMES[kind]
    parents = [names.index(_parent(name)) if name != "pelvis" else -1 for name in names]
    places = np.array([points[name] for name in names])
    tips = np.full_like(places, np.nan)
    for name, end in _ends(names).items():
        tips[names.index(name)] = points[end] - points[name]
    rig = build_rig(_standing(names, parents, places, tips), name=kind, roles=_roles(names))
    return Body(rig, mean_pelvis(kind))


def model_body(path: Path, kind: str, betas: Array) -> Body:
    """Return the body of the user's own model file (npz with v_template, shapedirs, J_regressor) for a shape.

    Raises FileError when the file is none or has fewer joints than the motion.
    """
    arrays = open_npz(path)
    needed = ("v_template", "shapedirs", "J_regressor", "kintree_table")
    missing = [key for key in needed if key not in arrays]
    if missing:
        raise FileError(
            path, f"is no SMPL model in npz form: {', '.join(missing)} missing; there are {', '.join(arrays)}"
        )
    names = JOINT_NAMES[kind]
    try:
        vertices, regressor = (np.asarray(arrays[key], dtype=np.float64) for key in ("v_template", "J_regressor"))
        directions = np.asarray(arrays["shapedirs"], dtype=np.float64)[:, :, : len(betas)]
        places = regressor @ (vertices + directions @ betas[: directions.shape[2]])
        parents = np.asarray(arrays["kintree_table"], dtype=np.int64)[0].copy()
        parents[0] = -1
        places, parents = places[: len(names)], parents[: len(names)]
        skeleton = _standing(names, parents.tolist(), places, np.full_like(places, np.nan))
        rig = build_rig(skeleton, name=kind, roles=_roles(names))
    except (ValueError, IndexError, TypeError) as error:
        raise FileError(path, f"is no SMPL model for {len(names)} joints: {error}") from None
    return Body(rig, places[0])


def _standing(names: tuple[str, ...], parents: list[int], places: Array, tips: Array) -> Skeleton:
    up = np.array(parents)
    offsets = np.where(up[:, None] >= 0, places - places[up], places)
    return Skeleton.build(names, up, offsets, rest=identity_quat(len(names)), tips=tips)


def _parent(name: str) -> str:
    return f"{name.split('_', maxsplit=1)[0]}_wrist" if name.endswith("_hand") else PARENT_ROLE[name]


def _roles(names: tuple[str, ...]) -> Mapping[str, Any]:
    return {name: name for name in names if not name.endswith("_hand")}


def _ends(names: tuple[str, ...]) -> dict[str, str]:
    """Return leaf -> the figure's point at the end of its bone."""
    ends = dict(_ENDS)
    for name in names:
        side, _, part = name.partition("_")
        if part == "hand":
            ends[name] = f"{side}_hand_tip"
        elif part.endswith("3") and part[:-1] in ("index", "middle", "ring", "pinky", "thumb"):
            ends[name] = f"{side}_{part[:-1]}_tip"
    return ends
