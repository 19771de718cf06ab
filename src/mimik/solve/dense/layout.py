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
"""Noise in metres from which pelvis and chest are turned by wide, far joints rather than by their own children; up to
SETTLE_FULL by these alone."""

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

UNTRUSTED_LEAVES = ((0.0, 0.0, 0.0, 1.0),) * 5
"""Leaves on rigs of other habits than the training motion's: they stay as they rest on their parents."""

DOUBT_WORLD = (
    0.098, 0.089, 0.089, 0.072, 0.089, 0.089, 0.058, 0.135, 0.135, 0.051, 0.301, 0.301, 0.179, 0.051, 0.051, 0.502,
    0.079, 0.079, 0.082, 0.082, 0.723, 0.723,
)  # fmt: skip
DOUBT_LOCAL = (
    0.073, 0.107, 0.107, 0.100, 0.023, 0.023, 0.030, 0.113, 0.113, 0.063, 0.188, 0.188, 0.146, 0.020, 0.020, 0.363,
    0.072, 0.072, 0.031, 0.031, 0.545, 0.545,
)  # fmt: skip
"""How far off the network is in noise of DOUBT_LEVEL, radians by role: in the world, and against the parent.

Measured on `val`, then scaled by what weighing it against the positions did best with there.
"""

DOUBT_LEVEL, DOUBT_POWER = 0.005, 0.35
"""The noise in metres of those figures, and the power of the noise with which they grow."""

MARK_NOISE = 0.008
"""How far landmarks of people lie from where the mean body has them, metres."""

WEIGH_ROUNDS = 2
"""Gauss-Newton steps that weigh the network against noisy positions; a third changes nothing that counts."""

GAP_ROUNDS = 12
"""The most of them where joints were not seen, so that bones beyond a gap meet what was seen of them, or where
landmarks were, which may turn a head round."""

GUESS_NOISE = 2.0
"""How noisy the places found for unseen joints count beside those seen, when a frame is looked at again."""

BRIDGE_FAR = 0.3
"""Metres by which the end of a limb whose middle was not seen may miss before it is bent there outright."""

HINGE_SINE = 0.02
"""Sine of the bend at which a clean hinge counts as much as the network for the turn of the limb above."""

HINGE_NOISE = 3.0
"""The same for noisy positions, as a multiple of noise over the shorter bone."""

FOOT_SHARE = 0.5
"""How much of a foot's heading a knee that turns about all axes takes, the ankle having the rest."""

ARM_SHARE = 0.2
"""How much of an upper arm's twist its elbow has instead, on bodies whose knees turn about all axes."""

PLAIN = (3, 6, 7, 8, 9, 12, 13, 14)
"""Spine, neck, collars, ankles: on rigs of other habits the network has nothing to add to where their bones lie."""
