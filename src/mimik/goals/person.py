"""The person on a rig: bone lengths from a take, and the trunk from hips and shoulders where a layout has no spine."""

import numpy as np

from mimik._types import Array
from mimik.goals.forks import fork_bones
from mimik.goals.layouts import RolePoints
from mimik.goals.proportions import BoneFit
from mimik.rig.proportions import bone_lengths, parent_role, with_bone_lengths, with_bones
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE

_SAME_LENGTH = 0.005  # relative difference of bones below which the rig has the person's proportions
_BENT_LENGTH = 0.1  # the same where further joints between two roles bend
_CLEAN = 1e-3  # metres of noise up to which left and right of a body differ because they do
_SHORT = 1e-3  # metres; a bone below has no length to fit
_UPRIGHT = 75.0  # percentile of the trunk's length over a take: bending shortens it
_QUARTILE = 0.6745  # of a normal distribution, in standard deviations
_CORNERS = ("left_hip", "right_hip", "left_shoulder", "right_shoulder")
_HIPS, _SHOULDERS = ("left_hip", "right_hip"), ("left_shoulder", "right_shoulder")
_SPINE = ("spine1", "spine2", "spine3", "neck", "left_collar", "right_collar")


def person_rig(rig: Rig, points: RolePoints, fit: BoneFit, noise: float) -> Rig:
    """Return the rig with the person's bones; the rig itself where they are alike as far as the take can tell.

    Bones whose ends are joint centres take the fitted lengths, others the person's usual ratio to the rig; where
    several leave one joint, they leave it as they do in the take. Where the spine has no joints but hips and shoulders
    are seen, the trunk gets the height and widths these have.
    """
    now = bone_lengths(rig)
    rows = {role: i for i, role in enumerate(BODY_ROLES) if np.isfinite(fit.lengths[i])}
    rows = {r: i for r, i in rows.items() if now.get(r, 0.0) > _SHORT and _has_own_parent(rig, r)}
    trunk = _trunk_size(points, noise) if not any(role in rows for role in _SPINE[:4]) else None
    lengths = fit.lengths if noise > _CLEAN else fit.left_right
    forks = fork_bones(rig, points, lengths, noise, symmetric=noise > _CLEAN)
    if not rows or (trunk is None and not forks and _alike(rig, fit, rows, now, noise)):
        return rig
    ratios = {role: lengths[i] / now[role] for role, i in rows.items()}
    usual = float(np.median(list(ratios.values())))
    wanted = {role: now[role] * usual for role in now if role in BODY_ROLES and now[role] > _SHORT}
    wanted |= {role: now[role] * float(np.clip(q, 0.4 * usual, 2.5 * usual)) for role, q in ratios.items()}
    if trunk is not None:
        wanted = _with_trunk(rig, wanted, trunk, {r for r in (*_HIPS, *_SHOULDERS, *_SPINE) if r not in rows})
    return with_bones(with_bone_lengths(rig, wanted, symmetric=noise > _CLEAN), forks)


def _alike(rig: Rig, fit: BoneFit, rows: dict[str, int], now: dict[str, float], noise: float) -> bool:
    known = np.array(list(rows.values()))
    own = np.array([now[role] for role in rows])
    stiff = np.array([rig.parents[rig.roles[r]] == rig.roles.get(parent_role(rig, r) or "") for r in rows])
    doubt = np.where(stiff, _SAME_LENGTH, _BENT_LENGTH) * own
    doubt += 3.0 * noise / np.sqrt(np.clip(fit.frames[known], 1.0, 100.0))
    return bool((np.abs(fit.left_right[known] - own) < doubt).all())


def _has_own_parent(rig: Rig, role: str) -> bool:
    """Say whether the rig has the joint above `role`, so that a length from it is the length of one bone."""
    return parent_role(rig, role) == PARENT_ROLE[role]


def _trunk_size(points: RolePoints, noise: float) -> Array | None:
    """Return (3,) width of the hips, width of the shoulders, and height between them; None where a corner is unseen."""
    rows = [BODY_ROLES.index(role) for role in _CORNERS]
    corners = points.positions[:, rows]
    whole = np.isfinite(corners).all(axis=(1, 2)) & (points.confidence[:, rows] > 0.0).all(axis=1)
    if (points.trust[rows] <= 0.0).any() or not whole.any():
        return None
    left_hip, right_hip, left_shoulder, right_shoulder = np.moveaxis(corners[whole], 1, 0)
    tall = np.linalg.norm(left_shoulder + right_shoulder - left_hip - right_hip, axis=1) / 2.0
    widths = [
        np.median(np.linalg.norm(a - b, axis=1)) for a, b in ((left_hip, right_hip), (left_shoulder, right_shoulder))
    ]
    upright = float(np.percentile(tall, _UPRIGHT))
    return np.array([*widths, upright - min(_QUARTILE * noise, 0.05 * upright)])


def _with_trunk(rig: Rig, wanted: dict[str, float], trunk: Array, free: set[str]) -> dict[str, float]:
    """Return the lengths with those of the trunk in `free` scaled until the T-pose has its widths and height."""
    if any(role not in rig.roles for role in _CORNERS):
        return wanted
    wanted = dict(wanted)
    for _ in range(4):
        places = with_bone_lengths(rig, wanted).tpose().positions()
        left_hip, right_hip, left_shoulder, right_shoulder = (places[rig.roles[role]] for role in _CORNERS)
        tall = (left_shoulder + right_shoulder - left_hip - right_hip) / 2.0
        now = [np.linalg.norm(v) for v in (left_hip - right_hip, left_shoulder - right_shoulder, tall)]
        for roles, change in zip((_HIPS, _SHOULDERS, _SPINE), trunk / np.maximum(now, _SHORT)):
            for role in roles:
                if role in free and role in wanted:
                    wanted[role] *= float(np.clip(change, 0.6, 1.6))
    return wanted
