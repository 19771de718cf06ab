"""Other bodies on the same rig: a person's measured bone lengths, and random people for training."""

from collections.abc import Mapping

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, RigError, one_of
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE, ROLES, canonical_role, mirror_role
from mimik.rotation import quat_apply, quat_inv

_SHORT = 1e-4  # metres; a bone below cannot be scaled
_TRUNK = ("pelvis", "spine1", "spine2", "spine3", "neck", "left_collar", "right_collar")


def parent_role(rig: Rig, role: str) -> str | None:
    """Return the nearest role above `role` that this rig has; None for the topmost."""
    above = PARENT_ROLE[role]
    while above and above not in rig.roles:
        above = PARENT_ROLE[above]
    return above or None


def bone_lengths(rig: Rig) -> dict[str, float]:
    """Return role -> distance in metres from the joint of the role above, in the T-pose; the pelvis has none."""
    places = rig.tpose().positions()
    lengths = {}
    for role, joint in rig.roles.items():
        above = parent_role(rig, role)
        if above is not None:
            lengths[role] = float(np.linalg.norm(places[joint] - places[rig.roles[above]]))
    return lengths


def body_height(rig: Rig) -> float:
    """Return the height in metres of the T-pose, from its lowest to its highest joint or bone end."""
    low, high = _extent(rig, _tpose_steps(rig), quat_apply(rig.q_world_tpose, rig.skeleton.tips))
    return float(high - low)


def with_height(rig: Rig, height: float) -> Rig:
    """Return the rig scaled as a whole to stand `height` metres tall."""
    if not (np.isfinite(height) and height > 0.0):
        raise OptionError(f"height must be a positive number of metres, not {height!r}")
    factor = height / body_height(rig)
    return rig.with_offsets(rig.offsets * factor, rig.skeleton.tips * factor)


def with_bone_lengths(rig: Rig, lengths: Mapping[str, float], *, symmetric: bool = True) -> Rig:
    """Return the rig with a person's bones.

    lengths    role (or alias) -> distance in metres from the joint of the role above it, as `bone_lengths` gives;
               NaN and roles that are not named keep the rig's length
    symmetric  take the mean of left and right

    Joints between the two, and twist bones beside them, move along; hands, feet's ends and head scale with the bone
    before them. Bones of no length stay. Raises RigError for a name that is no role, OptionError for a length that
    is not positive.
    """
    wanted = _checked(lengths)
    if symmetric:
        wanted = {role: _both_sides(wanted, role) for role in {*wanted, *map(mirror_role, wanted)}}
    now = bone_lengths(rig)
    factors = {role: wanted[role] / now[role] for role in now if role in wanted and now[role] > _SHORT}
    scale, tip_scale = _joint_factors(rig, factors)
    return _standing(rig, rig.offsets * scale[:, None], rig.skeleton.tips * tip_scale[:, None])


def with_bones(rig: Rig, bones: Mapping[str, Array]) -> Rig:
    """Return the rig with bones of another length and way: role -> (3,) from its joint's parent, metres.

    They are told in world axes of the T-pose, which stays what it is; all else moves along.
    """
    offsets = np.array(rig.offsets)
    for role, bone in bones.items():
        joint = rig.roles[role]
        offsets[joint] = quat_apply(quat_inv(rig.q_world_tpose[max(int(rig.parents[joint]), 0)]), bone)
    return _standing(rig, offsets, np.array(rig.skeleton.tips))


def _standing(rig: Rig, offsets: Array, tips: Array) -> Rig:
    """Return the rig with other offsets (J, 3) and tips, its pelvis as high over the root as its legs now are long."""
    low, _ = _extent(rig, _tpose_steps(rig), quat_apply(rig.q_world_tpose, rig.skeleton.tips))
    new = rig.with_offsets(offsets, tips)
    new_low, _ = _extent(rig, _tpose_steps(new), quat_apply(rig.q_world_tpose, tips))
    offsets[_to_pelvis(rig)] *= float(new_low / low) if abs(low) > _SHORT else 1.0
    return rig.with_offsets(offsets, tips)


def _tpose_steps(rig: Rig) -> Array:
    """Return the offsets (J, 3) turned to world axes in the T-pose."""
    return quat_apply(rig.q_world_tpose[np.maximum(rig.parents, 0)], rig.offsets)


def _to_pelvis(rig: Rig) -> list[int]:
    """Return the joints from the root to the pelvis."""
    chain = [rig.roles.get("pelvis", 0)]
    while chain[-1] > 0:
        chain.append(int(rig.parents[chain[-1]]))
    return chain


def _extent(rig: Rig, steps: Array, tips: Array) -> tuple[Array, Array]:
    """Return the lowest and highest point (...,) of T-poses, metres above the pelvis.

    steps (..., J, 3) lead from parent to joint in world axes, tips (..., J, 3) to the ends of bones. Joints that do not
    hang from the pelvis (a root on the ground) do not count.
    """
    pelvis = rig.roles.get("pelvis", 0)
    body = [pelvis]
    y = np.zeros(steps.shape[:-1])
    for j in range(pelvis + 1, rig.joint_count):
        if rig.parents[j] in body:
            body.append(j)
            y[..., j] = y[..., rig.parents[j]] + steps[..., j, 1]
    points = np.concatenate([y[..., body], (y + np.nan_to_num(tips[..., 1]))[..., body]], axis=-1)
    return points.min(axis=-1), points.max(axis=-1)


def _checked(lengths: Mapping[str, float]) -> dict[str, float]:
    wanted = {}
    for name, length in lengths.items():
        role = canonical_role(name)
        if role is None:
            raise RigError(one_of("role", name, ROLES))
        if np.isnan(length):
            continue
        if not (np.isfinite(length) and length > 0.0):
            raise OptionError(f"the bone to {name!r} must have a positive length in metres, not {length!r}")
        wanted[role] = float(length)
    return wanted


def _both_sides(wanted: Mapping[str, float], role: str) -> float:
    return float(np.mean([wanted[r] for r in (role, mirror_role(role)) if r in wanted]))


def _joint_factors(rig: Rig, factors: Mapping[str, float]) -> tuple[Array, Array]:
    """Spread factors of role bones over all joints: (J,) for offsets, (J,) for tips."""
    scale = np.full(rig.joint_count, np.nan)
    for role, factor in factors.items():
        above = rig.roles[parent_role(rig, role) or "pelvis"]
        joint = rig.roles[role]
        while joint != above:
            scale[joint] = factor
            joint = int(rig.parents[joint])
    own = {rig.roles[r]: f for r, f in _own_bone_factors(rig, factors).items()}
    roles = set(rig.roles.values())
    tip_scale = np.ones(rig.joint_count)
    carried = np.ones(rig.joint_count)
    for j in range(rig.joint_count):
        parent = int(rig.parents[j])
        carried[j] = own.get(j, 1.0 if j in roles or parent < 0 else carried[parent])
        if np.isnan(scale[j]):
            scale[j] = carried[parent] if parent >= 0 and j not in roles else 1.0
        tip_scale[j] = carried[j]
    fingers = [j for r, j in rig.roles.items() if r not in BODY_ROLES]
    for j in fingers:
        scale[j] = carried[rig.parents[j]] if np.isclose(scale[j], 1.0) else scale[j]
    return scale, tip_scale


def _own_bone_factors(rig: Rig, factors: Mapping[str, float]) -> dict[str, float]:
    """Return role -> factor of the bone that starts there: of a limb its lower end's, of an end the bone before it.

    The head goes with the body as a whole: where in it a head joint lies differs more than heads do.
    """
    own: dict[str, float] = {}
    for role in rig.roles:
        below = [r for r in factors if parent_role(rig, r) == role]
        if role not in _TRUNK and len(below) == 1:
            own[role] = factors[below[0]]
        elif not below and role in factors and role not in _TRUNK:
            own[role] = float(np.median(list(factors.values()))) if role == "head" else factors[role]
    for role in rig.roles:
        if role not in BODY_ROLES and role not in own:
            above = parent_role(rig, role)
            own[role] = own.get(above or "", 1.0)
    return own


def random_body(rig: Rig, rng: np.random.Generator) -> Rig:
    """Return the rig with a random person's proportions, from a child of one metre to a tall adult."""
    offsets, tips = random_bodies(rig, rng, 1)
    return rig.with_offsets(offsets[0], tips[0])


def random_bodies(rig: Rig, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Return offsets (N, J, 3) and tips (N, J, 3) of `count` random people on one rig.

    Stature, limb, trunk and girth ratios vary as people do (children have large heads and short limbs), left and right
    nearly alike; the joints of pelvis, spine, collars and neck are also placed differently within the body, as rigs
    place them. Limb directions in the T-pose, and with them `q_world_tpose`, stay valid.
    """
    segments = _segments(rig)
    q_parent = rig.q_world_tpose[np.maximum(rig.parents, 0)]
    steps = _tpose_steps(rig)
    tips = quat_apply(rig.q_world_tpose, rig.skeleton.tips)
    stature, growth = _statures(rng, count)
    factors = {name: _spread(rng, count, sigma) for name, sigma in _VARIETY.items()}
    for name, child in _CHILD.items():
        factors[name] *= 1.0 + (child - 1.0) * growth
    scale = np.stack([factors[name] for name in segments], axis=1)  # (N, J)
    scale *= _spread(rng, (count, rig.joint_count), 0.006)
    grown = steps * scale[..., None] * _girth(rig, rng, count) + _displacement(rig, rng, count)
    new_tips = tips * scale[..., None]
    low, high = _extent(rig, grown, new_tips)
    factor = (stature / (high - low))[:, None, None]
    grown[:, _to_pelvis(rig)] = steps[_to_pelvis(rig)] * (low / _extent(rig, steps, tips)[0])[:, None, None]
    grown, new_tips = grown * factor, new_tips * factor
    return quat_apply(quat_inv(q_parent), grown), quat_apply(quat_inv(rig.q_world_tpose), new_tips)


# relative standard deviation of each segment's length among people of one stature
_VARIETY = {"trunk": 0.05, "neck": 0.15, "head": 0.06, "hips": 0.12, "collar": 0.10, "shoulder": 0.09,
            "upper_arm": 0.06, "forearm": 0.06, "hand": 0.08, "thigh": 0.06, "shin": 0.06, "foot": 0.08}  # fmt: skip
# factor of each segment in a small child, relative to its stature
_CHILD = {"trunk": 1.12, "neck": 0.9, "head": 1.55, "hips": 0.95, "thigh": 0.82, "shin": 0.85, "upper_arm": 0.9,
          "forearm": 0.88}  # fmt: skip
_SEGMENT = {"hip": "hips", "knee": "thigh", "ankle": "shin", "foot": "foot", "collar": "collar", "shoulder": "shoulder",
            "elbow": "upper_arm", "wrist": "forearm", "neck": "trunk", "head": "neck"}  # fmt: skip
# how far joints within the body are placed differently (standard deviation, metres at 1.75 m; x only apart)
_PLACES = {"hip": (0.0, 0.015, 0.012), "spine1": (0.0, 0.02, 0.010), "spine2": (0.0, 0.02, 0.010),
           "spine3": (0.0, 0.025, 0.010), "neck": (0.0, 0.01, 0.010), "collar": (0.008, 0.02, 0.015),
           "shoulder": (0.0, 0.02, 0.012), "head": (0.0, 0.01, 0.008)}  # fmt: skip


def _segments(rig: Rig) -> list[str]:
    """Return the segment whose length each joint's offset belongs to."""
    segment = ["trunk"] * rig.joint_count
    role_of = {j: r for r, j in rig.roles.items()}
    for j in range(rig.joint_count):
        role = role_of.get(j, "")
        part = role.removeprefix("left_").removeprefix("right_")
        if part in _SEGMENT:
            segment[j] = _SEGMENT[part]
        elif role in BODY_ROLES:
            segment[j] = "trunk"
        elif j:
            segment[j] = _hanging_segment(role_of.get(int(rig.parents[j]), ""), segment[rig.parents[j]])
    return segment


def _hanging_segment(parent_role_name: str, parent_segment: str) -> str:
    """Return the segment of a joint without a body role, from its parent."""
    part = parent_role_name.removeprefix("left_").removeprefix("right_")
    bone = {
        "wrist": "hand",
        "head": "head",
        "shoulder": "upper_arm",
        "elbow": "forearm",
        "hip": "thigh",
        "knee": "shin",
    }
    return bone.get(part, parent_segment)


def _spread(rng: np.random.Generator, shape: int | tuple[int, int], sigma: float) -> Array:
    return np.exp(sigma * np.clip(rng.standard_normal(shape), -2.5, 2.5))


def _statures(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Return heights (N,) in metres and how childlike (N,) each is, 0 to 1."""
    child = rng.random(count) < 0.2
    adult = np.clip(rng.normal(1.70, 0.10, count), 1.40, 2.10)
    height = np.where(child, rng.uniform(1.0, 1.5, count), adult)
    return height, np.clip((1.55 - height) / 0.55, 0.0, 1.0)


def _girth(rig: Rig, rng: np.random.Generator, count: int) -> Array:
    """Return factors (N, J, 3) that vary the depth of joints placed within the trunk."""
    factor = np.ones((count, rig.joint_count, 3))
    inside = [j for r, j in rig.roles.items() if r in _TRUNK or r.endswith("_hip")]
    factor[:, inside, 2] *= _spread(rng, (count, len(inside)), 0.2)
    return factor


def _displacement(rig: Rig, rng: np.random.Generator, count: int) -> Array:
    """Return moves (N, J, 3) of joints within the body, the same on both sides."""
    moves = np.zeros((count, rig.joint_count, 3))
    drawn = {part: np.clip(rng.standard_normal((count, 3)), -2, 2) * sigma for part, sigma in _PLACES.items()}
    for role, joint in rig.roles.items():
        part = role.removeprefix("left_").removeprefix("right_")
        if part in drawn and joint:
            moves[:, joint] = drawn[part] * (-1.0 if role.startswith("right_") else 1.0, 1.0, 1.0)
    # a spine joint that moves takes nothing above it along: the next one gives the difference back
    for role in ("spine1", "spine2", "spine3", "neck"):
        above = parent_role(rig, role) if role in rig.roles else None
        if above in ("spine1", "spine2", "spine3"):
            moves[:, rig.roles[role]] -= drawn[above]
    return moves
