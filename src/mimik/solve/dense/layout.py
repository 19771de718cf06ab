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

SHORT_NECK = 0.02
"""Distance of chest and neck, metres, below which the neck says nothing of how the chest is turned."""

SETTLE_FULL, SETTLE_NONE = 0.001, 0.004
"""Noise in metres up to which the observed bones are met exactly, and from which the network alone decides."""


def settle_share(noise: Any) -> Any:
    """Return how far the last step follows the observed bones, 0 to 1, for noise in metres (array or tensor)."""
    return ((SETTLE_NONE - noise) / (SETTLE_NONE - SETTLE_FULL)).clip(0.0, 1.0)


LEAVES = (15, 20, 21, 10, 11)
"""Head, wrists and toes: joints of which positions of joints say nothing."""

USUAL_LEAVES = (
    (-0.1134, 0.0000, 0.0000, 0.9936),
    (-0.0296, 0.0820, 0.1328, 0.9873),
    (-0.0296, -0.0820, -0.1328, 0.9873),
    (-0.0334, 0.0006, 0.0000, 0.9994),
    (-0.0334, -0.0006, -0.0000, 0.9994),
)
"""Mean rotation of each leaf against its parent in the training motion, x y z w."""

LEAF_TRUST = (0.95, 0.5, 0.5, 0.7, 0.7)
"""How far the network's answer for a leaf without landmarks is followed from the usual one; chosen on validation."""
