"""What the natural-pose network sees, shared by training and use: joints by role, pairs that tell the heading."""

from mimik.rig.roles import BODY_ROLES


def _pair(role: str, share: float) -> tuple[int, int, float]:
    return BODY_ROLES.index(f"left_{role}"), BODY_ROLES.index(f"right_{role}"), share


PAIRS = (
    _pair("hip", 4.0),
    _pair("shoulder", 3.0),
    _pair("collar", 2.0),
    _pair("ankle", 1.0),
    _pair("foot", 1.0),
    _pair("knee", 1.0),
    _pair("wrist", 0.5),
    _pair("elbow", 0.7),
)
"""Left and right joints whose difference tells where the body's left is, and how much each counts."""

SIX = tuple(
    BODY_ROLES.index(role) for role in ("pelvis", "head", "left_ankle", "right_ankle", "left_wrist", "right_wrist")
)
"""The joints most often known: hands, feet, pelvis, head."""
