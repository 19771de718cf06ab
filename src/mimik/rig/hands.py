"""Which way a hand points and how its palm lies, from the joints beyond the wrist."""

from collections.abc import Mapping

import numpy as np

from mimik._types import Array
from mimik.rig.roles import FINGERS
from mimik.rig.skeleton import Skeleton
from mimik.rotation import quat_apply


def hand_direction(skeleton: Skeleton, roles: Mapping[str, int], side: str) -> Array | None:
    """Return the unit direction of the hand in the wrist's own frame, or None when nothing lies beyond the wrist."""
    wrist = roles.get(f"{side}_wrist")
    if wrist is None:
        return None
    knuckles = [roles[r] for f in ("middle", "index", "ring", "pinky") if (r := f"{side}_{f}1") in roles]
    if f"{side}_middle1" in roles:
        return unit_or_none(offset_from(skeleton, wrist, knuckles[0]))
    if knuckles:
        return unit_or_none(np.mean([offset_from(skeleton, wrist, k) for k in knuckles], axis=0))
    if np.isfinite(skeleton.tips[wrist]).all():
        return unit_or_none(skeleton.tips[wrist])
    thumbs = {roles[r] for f in FINGERS if (r := f"{side}_{f}1") in roles}
    children = [c for c in skeleton.children(wrist) if c not in thumbs and np.linalg.norm(skeleton.offsets[c]) > 0.03]
    return unit_or_none(skeleton.offsets[children].mean(axis=0)) if children else None


def offset_from(skeleton: Skeleton, ancestor: int, joint: int) -> Array:
    """Return where `joint` stands at rest in the frame of its `ancestor` (3,), metres."""
    place = np.zeros(3)
    while joint != ancestor:
        place = skeleton.offsets[joint] + quat_apply(skeleton.rest[joint], place)
        joint = int(skeleton.parents[joint])
    return place


def knuckle_line(skeleton: Skeleton, roles: Mapping[str, int], side: str) -> Array | None:
    """Return the unit direction across the knuckles, little finger to index, in the wrist's own frame."""
    wrist, index = roles.get(f"{side}_wrist"), roles.get(f"{side}_index1")
    outer = next((roles[r] for f in ("pinky", "ring") if (r := f"{side}_{f}1") in roles), None)
    if wrist is None or index is None or outer is None:
        return None
    return unit_or_none(offset_from(skeleton, wrist, index) - offset_from(skeleton, wrist, outer))


def unit_or_none(vector: Array) -> Array | None:
    """Scale to unit length; None for a vector shorter than a tenth of a millimetre."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-4 else None
