"""The body a network sees: 22 role joints and 22 landmarks in the canonical T-pose, whatever the rig lacks filled in.

A rig without toes, collars or some spine joints gets virtual ones, so that arrays always have the same shape; the
`present` mask says which joints are real.
"""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, BoolArray, frozen_array
from mimik.errors import RigError
from mimik.rig.hinges import usual_hinge
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES

ROLE_INDEX = {role: i for i, role in enumerate(BODY_ROLES)}

CHILD = np.full(22, -1, dtype=np.int64)
"""(22,) the child whose place fixes a joint's swing; -1 for leaves. Of spine3 it is the neck, of the pelvis spine1."""
for _joint in range(21, 0, -1):
    CHILD[BODY_PARENTS[_joint]] = _joint
CHILD[0], CHILD[9] = 3, 12

# landmark -> (the joint it moves with, its place from that joint in the T-pose of a 1.75 m body; left side, metres)
_LEFT_LANDMARKS = {
    "left_eye": ("head", (0.032, 0.075, 0.100)),
    "left_ear": ("head", (0.073, 0.055, 0.012)),
    "left_index_knuckle": ("left_wrist", (0.092, -0.004, 0.027)),
    "left_middle_knuckle": ("left_wrist", (0.092, -0.002, 0.006)),
    "left_pinky_knuckle": ("left_wrist", (0.079, -0.008, -0.033)),
    "left_thumb_knuckle": ("left_wrist", (0.058, -0.020, 0.054)),
    "left_hand_tip": ("left_wrist", (0.178, -0.010, 0.004)),
    "left_heel": ("left_ankle", (0.000, -0.065, -0.045)),
    "left_big_toe": ("left_foot", (-0.020, -0.008, 0.068)),
    "left_small_toe": ("left_foot", (0.042, -0.010, 0.030)),
}
_MIDDLE_LANDMARKS = {"nose": ("head", (0.0, 0.045, 0.122)), "head_top": ("head", (0.0, 0.175, 0.010))}


def _landmark_table() -> tuple[tuple[str, ...], Array, Array]:
    names, joints, places = [], [], []
    for name, (joint, place) in {**_MIDDLE_LANDMARKS, **_LEFT_LANDMARKS}.items():
        names.append(name)
        joints.append(ROLE_INDEX[joint])
        places.append(place)
        if name.startswith("left_"):
            names.append("right_" + name[5:])
            joints.append(ROLE_INDEX[joint.replace("left_", "right_")])
            places.append((-place[0], place[1], place[2]))
    return tuple(names), np.array(joints, dtype=np.int64), np.array(places)


LANDMARKS, LANDMARK_JOINT, LANDMARK_OFFSET = _landmark_table()
"""Names (22,), joint each moves with (22,), and place from that joint at 1.75 m stature (22, 3)."""

# elbow and knee axes in the T-pose, the turn that bends the limb being positive: those features are measured from
HINGE_JOINTS = np.array([16, 17, 1, 2])
HINGE_AXES = np.array([[0.0, -0.864, 0.504], [0.0, 0.864, -0.504], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])

CORPUS_AXES = np.array(
    [[-0.1207, -0.8585, 0.4984], [-0.1207, 0.8585, -0.4984], [0.9998, -0.0175, 0.0], [0.9998, 0.0175, 0.0]]
)
"""The hinges as the training corpus has them, elbows not square to the arm. Rigs whose motion showed none get these."""

FAMILIAR_TURN = np.deg2rad(10.0)
"""A rig whose measured hinges lie within this of the usual, and are hinges, has the habits of the training motion."""

STATURE_OFFSETS = 4.48
"""Sum of the bone lengths along both legs, the spine and both arms of a body of stature 1.75 m, roughly, metres."""


@dataclass(frozen=True, slots=True, eq=False)
class RoleBody:
    """A body in the canonical T-pose, by role. Metres, world axes of the T-pose.

    offsets    (22, 3) from the nearest real ancestor's role joint, virtual joints included
    present    (22,) which joints the rig has
    landmarks  (22, 3) places of the landmarks from their joints
    hinges     (4, 3) axes of HINGE_JOINTS, zero where knees turn about all axes
    loose      (2,) such knees, left and right
    familiar   whether joints turn as in the training motion, so that what was learned of heads and hands holds
    """

    offsets: Array
    present: BoolArray
    landmarks: Array
    hinges: Array
    loose: BoolArray
    familiar: bool

    @property
    def size(self) -> float:
        """Sum of all bone lengths, metres."""
        return float(np.linalg.norm(self.offsets[1:], axis=1).sum())


def role_body(rig: Rig) -> RoleBody:
    """Return the role body of a rig; raises RigError when it has no pelvis, hips or shoulders to start from."""
    tpose = rig.tpose().to_world()
    places = np.full((22, 3), np.nan)
    for i, role in enumerate(BODY_ROLES):
        if role in rig.roles:
            places[i] = tpose.positions[rig.roles[role]]
    present = np.isfinite(places).all(axis=1)
    if not present[[0, 1, 2]].all() or not (present[16:18].any() or present[12] or present[15]):
        missing = [r for r, p in zip(BODY_ROLES, present) if not p]
        raise RigError(
            f"rig {rig.name!r} lacks what a body needs (pelvis, both hips, an upper body); missing: {missing}"
        )
    _fill_virtual(places, present)
    offsets = places - places[np.maximum(BODY_PARENTS, 0)]
    scale = np.linalg.norm(offsets[1:], axis=1).sum() / STATURE_OFFSETS
    marks = frozen_array(LANDMARK_OFFSET * scale)
    loose = np.array([f"{side}_knee" in rig.loose_hinges for side in ("left", "right")])
    familiar = not loose.any() and all(abs(turn) < FAMILIAR_TURN for turn in rig.hinge_turns.values())
    return RoleBody(frozen_array(offsets), present, marks, frozen_array(_hinges(rig)), loose, familiar)


def _hinges(rig: Rig) -> Array:
    """Return the hinges (4, 3) of a rig after `with_usual_hinges`: the usual where measured, else the corpus' own."""
    axes = np.array(CORPUS_AXES)
    for row, joint in enumerate(HINGE_JOINTS):
        role = BODY_ROLES[joint]
        lower = role.replace("hip", "knee").replace("shoulder", "elbow")
        if lower in rig.loose_hinges:
            axes[row] = 0.0
        elif role in rig.hinge_turns:
            axes[row] = usual_hinge(lower)[1]
    return axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-9)


def _fill_virtual(places: Array, present: BoolArray) -> None:
    """Give missing joints a place: between their neighbours, or where the average body has them."""
    i = ROLE_INDEX
    if not present[i["neck"]]:
        shoulders = [k for k in (13, 14, 16, 17) if present[k]]
        below = places[shoulders].mean(axis=0) if shoulders else places[i["head"]]
        places[i["neck"]] = 0.4 * places[i["head"]] + 0.6 * below if present[i["head"]] else below
    chain = [0, i["spine1"], i["spine2"], i["spine3"], i["neck"]]
    known = [k for k, joint in enumerate(chain) if present[joint] or k == len(chain) - 1]
    for k, joint in enumerate(chain):
        if k not in known:
            low, high = max(n for n in known if n < k), min(n for n in known if n > k)
            share = (k - low) / (high - low)
            places[joint] = (1.0 - share) * places[chain[low]] + share * places[chain[high]]
    if not present[i["head"]]:
        places[i["head"]] = places[i["neck"]] + 0.25 * (places[i["neck"]] - places[i["spine3"]])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _fill_limbs(places, present, side, sign)


def _fill_limbs(places: Array, present: BoolArray, side: str, sign: float) -> None:
    i = ROLE_INDEX
    leg = float(np.linalg.norm(places[i["neck"]] - places[0])) * 0.9
    chest, neck = places[i["spine3"]], places[i["neck"]]
    guesses = (
        ("shoulder", "collar", neck + np.array([0.36 * leg * sign, -0.05 * leg, 0.0])),
        ("elbow", "shoulder", np.array([0.60 * leg * sign, 0.0, 0.0])),
        ("wrist", "elbow", np.array([0.55 * leg * sign, 0.0, 0.0])),
        ("knee", "hip", np.array([0.0, -0.85 * leg, 0.0])),
        ("ankle", "knee", np.array([0.0, -0.85 * leg, 0.0])),
        ("foot", "ankle", np.array([0.0, -0.10 * leg, 0.28 * leg])),
    )
    for name, base, guess in guesses:
        k = i[f"{side}_{name}"]
        if not present[k]:
            places[k] = guess if name == "shoulder" else places[i[f"{side}_{base}"]] + guess
    k = i[f"{side}_collar"]
    if not present[k]:
        places[k] = chest + 0.75 * (neck - chest) + 0.08 * (places[i[f"{side}_shoulder"]] - neck)
