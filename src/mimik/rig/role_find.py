"""Find the roles of a skeleton: what the user says, then names, then shape, each checked against the hierarchy."""

from collections.abc import Mapping

from mimik._types import Array
from mimik.rig.joint_words import read_names
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.rest import Motion
from mimik.rig.role_names import Found, face_and_fingers, roles_from_names
from mimik.rig.role_shape import roles_from_shape
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE, ROLES, mirror_role
from mimik.rig.skeleton import Skeleton

_LIMBS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "shoulder", "elbow"))
_TOLD_BY_NAME = tuple(role for role in BODY_ROLES if "spine" not in role and role != "neck")
_CLEAR = {"foot": "toe", "ankle": "ankle", "knee": "shin", "elbow": "forearm", "shoulder": "upperarm", "hip": "thigh"}
"""Part of a limb -> the word that can mean nothing else."""
_FRAMES = 200
_MOST_JOINTS = 4000


def find_roles(
    skeleton: Skeleton, *, given: Mapping[str, int] | None = None, motion: Motion | None = None
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return role -> joint in the order of ROLES, and notes on what was guessed.

    `given` roles are kept as they are; a joint of -1 there takes the role away. Shape is asked when names and `given`
    leave roles out: for the joints whose names say nothing where names and shape agree on the rest, for the whole body
    where names leave out whole limbs.
    """
    given = given or {}
    if skeleton.joint_count > _MOST_JOINTS:
        return {r: j for r, j in given.items() if j >= 0}, (
            f"{skeleton.joint_count} joints: roles are looked for among at most {_MOST_JOINTS}",
        )
    named = consistent_roles(skeleton, {**roles_from_names(skeleton), **given}, kept=given)
    notes: tuple[str, ...] = ()
    if any(role not in named for role in _TOLD_BY_NAME):
        shaped, said = roles_from_shape(skeleton, _poses(skeleton, motion))
        shaped = _sides_as_named(shaped, named)
        if _agree(shaped, named):
            named, notes = _completed(skeleton, named, shaped, given)
        elif sum(role in named for role in _LIMBS) < len(_LIMBS) - 2 and (shaped or not named):
            notes = said
            kept = {r: j for r, j in named.items() if r not in BODY_ROLES or r in given}
            named = consistent_roles(skeleton, {**kept, **shaped, **given}, kept=given)
    return {role: named[role] for role in ROLES if role in named}, notes


def _sides_as_named(shaped: Found, named: Mapping[str, int]) -> Found:
    """Return the roles of the shape, left and right exchanged where that agrees better with the names."""
    other = {mirror_role(role): joint for role, joint in shaped.items()}
    return other if _same(other, named) > _same(shaped, named) else shaped


def _same(shaped: Mapping[str, int], named: Mapping[str, int]) -> int:
    return sum(shaped.get(role) == joint for role, joint in named.items())


def _agree(shaped: Mapping[str, int], named: Mapping[str, int]) -> bool:
    """Say whether names and shape tell of the same body: most of what both know is the same."""
    both = sum(role in shaped for role in named)
    return both >= 4 and _same(shaped, named) > 0.6 * both


def _completed(
    skeleton: Skeleton, named: Found, shaped: Mapping[str, int], given: Mapping[str, int]
) -> tuple[Found, tuple[str, ...]]:
    """Give joints whose names say nothing of the body the roles their shape says."""
    words = read_names(skeleton.names)
    clear = {r: j for r, j in named.items() if words[j].part == _CLEAR.get(r.rpartition("_")[2], "-")}
    # a limb in parts, thigh.L above thigh.L.001: the upper one may be the one whose name says nothing
    sure = {r for r, j in clear.items() if r not in shaped or not skeleton.descends_from(j, shaped[r])}
    mute = {r: j for r, j in shaped.items() if not words[j].part and named.get(r) != j and r not in {*given, *sure}}
    if not mute:
        return named, ()
    body = consistent_roles(skeleton, {**named, **mute}, kept={**given, **mute})
    # a joint with a telling name moves up or down the limb when its neighbour is known: LeftShoulder, a collar now
    free = {r: j for r, j in shaped.items() if r not in body and j not in body.values() and words[j].part}
    body = consistent_roles(skeleton, {**free, **body}, kept={**given, **mute})
    body = consistent_roles(skeleton, {**face_and_fingers(skeleton, words, body), **body}, kept={**given, **mute})
    told = ", ".join(f"{role} = {skeleton.names[joint]}" for role, joint in mute.items())
    return body, (f"names say nothing of {told}: found from the skeleton's shape",)


def consistent_roles(skeleton: Skeleton, roles: Mapping[str, int], *, kept: Mapping[str, int]) -> dict[str, int]:
    """Drop roles that do not descend from the nearest role above them, or share a joint with one; `kept` ones stay."""
    good: dict[str, int] = {}
    for role in ROLES:
        joint = roles.get(role, -1)
        if joint < 0:
            continue
        above = PARENT_ROLE[role]
        while above and above not in good:
            above = PARENT_ROLE[above]
        fits = not above or (joint != good[above] and skeleton.descends_from(joint, good[above]))
        if role in kept or (fits and joint not in good.values()):
            good[role] = joint
    return good


def _poses(skeleton: Skeleton, motion: Motion | None) -> Array | None:
    """Return joint positions (T, J, 3) of some frames, None without motion."""
    if motion is None or len(motion[0]) == 0:
        return None
    rotations, root, translations = motion
    step = max(1, len(rotations) // _FRAMES)
    moves = None if translations is None else translations[::step]
    _, places = forward_kinematics(skeleton.parents, skeleton.offsets, rotations[::step], root[::step], moves)
    return places
