"""Numbers the compiled and the training side of the dense solver share: feature layout and small weights."""

from typing import Any

SWING_JOINTS = (0, 3, 6, 9, 12, 13, 14, 16, 17, 18, 19, 1, 2, 4, 5, 7, 8)
"""Joints whose swing one child fixes, as features and as the last step see them."""

HINGE_PRIOR = 0.05
"""How much a limb's least-twist hinge axis counts beside the bend seen (a sine): they are even at 3 degrees of bend."""

LANDMARK_PRIOR = 0.02
"""How much the base rotation counts beside landmarks."""

# places, seen, present, swings, trunk, bend normals, length ratios, landmark residuals, landmarks seen, noise, up
FEATURE_PARTS = (66, 22, 22, 4 * len(SWING_JOINTS), 12, 12, 21, 66, 22, 22, 3)
FEATURE_WIDTH = sum(FEATURE_PARTS)
OUTPUT_WIDTH = 2 * 22 * 6
"""Two answers for every joint: a correction of its base rotation, and its rotation in the body's own frame."""

NOISE_EVEN = 0.002
"""Noise in metres at which the two answers count alike; the less noise, the more the first."""

NOISE_WIDE = 0.003
"""Noise in metres from which pelvis and chest are turned by wide, far joints rather than by their own children."""

SETTLE_FULL, SETTLE_NONE = 0.001, 0.004
"""Noise in metres up to which the observed bones are met exactly, and from which the network alone decides."""


def settle_share(noise: Any) -> Any:
    """Return how far the last step follows the observed bones, 0 to 1, for noise in metres (array or tensor)."""
    return ((SETTLE_NONE - noise) / (SETTLE_NONE - SETTLE_FULL)).clip(0.0, 1.0)
