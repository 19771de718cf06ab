"""Goals for single joints: what one wishes of a body, joint by joint. Metres, radians, world axes, Y up.

A goal is named by its joint: a role ("left_hand"), an alias of one, or the rig's own joint name. Every goal has a
weight: a number, or the symmetric matrix W of the published objective (17). A pinned goal is met before all others.
"""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from mimik._types import Array, ArrayLike, frozen_array
from mimik.errors import GoalError
from mimik.rig.pose import LocalPose
from mimik.rotation import matrix_to_quat, quat_normalize

Weight = float | ArrayLike


def _origin() -> Array:
    return frozen_array(np.zeros(3))


def finite(what: str, values: ArrayLike, *shape: int) -> Array:
    """Return a frozen array of this shape; raises GoalError that names the offender."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GoalError(f"{what} must be numbers, not {values!r}") from error
    if array.shape != shape:
        raise GoalError(f"{what} has shape {array.shape}; it must be {shape}")
    if not np.isfinite(array).all():
        raise GoalError(f"{what} is not finite: {array.tolist()}")
    return frozen_array(array)


def unit(what: str, values: ArrayLike) -> Array:
    """Return a frozen unit vector (3,); raises GoalError for zero."""
    vector = finite(what, values, 3)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise GoalError(f"{what} is zero; a direction is needed")
    return frozen_array(vector / length)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Goal:
    """What all goals share: a weight and whether it is pinned."""

    weight: Weight = 1.0
    pinned: bool = False

    def __post_init__(self) -> None:
        """Check the weight: a number not below zero, or a symmetric matrix without negative eigenvalues."""
        weight = np.asarray(self.weight, dtype=np.float64)
        if not np.isfinite(weight).all():
            raise GoalError(f"the weight of {self.label} is not finite: {weight.tolist()}")
        if weight.ndim == 0 and weight < 0.0:
            raise GoalError(f"the weight of {self.label} is negative: {float(weight):g}")
        if weight.ndim not in (0, 2) or (weight.ndim == 2 and weight.shape not in ((3, 3), (2, 2), (1, 1))):
            raise GoalError(f"the weight of {self.label} must be a number or a matrix, not of shape {weight.shape}")
        if weight.ndim == 2:
            if not np.allclose(weight, weight.T, atol=1e-9) or np.linalg.eigvalsh(weight).min() < -1e-9:
                raise GoalError(f"the weight matrix of {self.label} must be symmetric and not negative")
            object.__setattr__(self, "weight", frozen_array(weight))

    @property
    def label(self) -> str:
        """Kind and joint, for messages and for the columns of a solution's residuals."""
        joint = getattr(self, "joint", "")
        kind = type(self).__name__
        return f"{kind}({joint})" if joint else kind

    @property
    def target_value(self) -> Array:
        """What moves between frames, as an array."""
        raise NotImplementedError

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another target."""
        raise NotImplementedError


def _check_joint(goal: object, joint: object) -> None:
    if not isinstance(joint, str) or not joint:
        raise GoalError(f"a {type(goal).__name__} goal needs the name of a joint, not {joint!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Position(Goal):
    """Bring a point of a joint to a place in the world; `offset` is the point in the joint's frame, metres."""

    joint: str
    target: Array
    offset: Array = field(default_factory=_origin)

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        object.__setattr__(self, "target", finite(f"the target of {self.label}", self.target, 3))
        object.__setattr__(self, "offset", finite(f"the offset of {self.label}", self.offset, 3))

    @property
    def target_value(self) -> Array:
        """The place (3,), metres."""
        return self.target

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another place."""
        return replace(self, target=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class Orientation(Goal):
    """Turn a joint to a world rotation: a quaternion `x y z w` or a matrix (3, 3).

    The residual is the rotation vector between them, at most pi; at exactly half a turn its direction is arbitrary.
    """

    joint: str
    target: Array

    def __post_init__(self) -> None:
        """Check and freeze; a matrix becomes a quaternion."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        given = np.asarray(self.target, dtype=np.float64)
        if given.shape == (3, 3) and np.isfinite(given).all():
            given = matrix_to_quat(given)
        q = finite(f"the rotation of {self.label}", given, 4)
        if float(np.linalg.norm(q)) < 1e-6:
            raise GoalError(f"the rotation of {self.label} is a zero quaternion")
        object.__setattr__(self, "target", frozen_array(quat_normalize(q)))

    @property
    def target_value(self) -> Array:
        """The world quaternion (4,)."""
        return self.target

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another rotation."""
        return replace(self, target=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class Direction(Goal):
    """Point an axis of a joint along a world direction; without `axis` its bone: toward its children or tip.

    Two of them, for the frame's first and second axes, are the paper's i and j vectors: see `axes_goals`.
    """

    joint: str
    target: Array
    axis: Array | None = None

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        object.__setattr__(self, "target", unit(f"the direction of {self.label}", self.target))
        if self.axis is not None:
            object.__setattr__(self, "axis", unit(f"the axis of {self.label}", self.axis))

    @property
    def target_value(self) -> Array:
        """The world direction (3,)."""
        return self.target

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another direction."""
        return replace(self, target=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class LookAt(Goal):
    """Point an axis of a joint at a place in the world; without `axis` the way it faces in the T-pose (+Z there)."""

    joint: str
    target: Array
    axis: Array | None = None
    offset: Array = field(default_factory=_origin)

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        object.__setattr__(self, "target", finite(f"the target of {self.label}", self.target, 3))
        object.__setattr__(self, "offset", finite(f"the offset of {self.label}", self.offset, 3))
        if self.axis is not None:
            object.__setattr__(self, "axis", unit(f"the axis of {self.label}", self.axis))

    @property
    def target_value(self) -> Array:
        """The place (3,), metres."""
        return self.target

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another place."""
        return replace(self, target=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class Pole(Goal):
    """Turn a limb so that its middle joint points to a pole: `Pole("left_elbow", (x, y, z))`, metres.

    The limb runs from the joint's parent to its child on the way to the limb's end. A straight limb satisfies every
    pole.
    """

    joint: str
    target: Array

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        object.__setattr__(self, "target", finite(f"the pole of {self.label}", self.target, 3))

    @property
    def target_value(self) -> Array:
        """The pole (3,), metres."""
        return self.target

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another pole."""
        return replace(self, target=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class Distance(Goal):
    """Keep a point of one joint at a distance from a point of another, metres."""

    joint: str
    other: str
    target: float
    offset: Array = field(default_factory=_origin)
    other_offset: Array = field(default_factory=_origin)

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        _check_joint(self, self.other)
        Goal.__post_init__(self)
        if not np.isfinite(self.target) or self.target < 0.0:
            raise GoalError(f"the distance of {self.label} must be finite and not negative: {self.target}")
        object.__setattr__(self, "offset", finite(f"the offset of {self.label}", self.offset, 3))
        object.__setattr__(self, "other_offset", finite(f"the other offset of {self.label}", self.other_offset, 3))

    @property
    def target_value(self) -> Array:
        """The distance, shape (), metres."""
        return np.asarray(self.target, dtype=np.float64)

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another distance."""
        return replace(self, target=float(np.asarray(target)))


@dataclass(frozen=True, slots=True, eq=False)
class AboveGround(Goal):
    """Keep a point of a joint at or above a height, metres; nothing is asked of it above."""

    joint: str
    target: float = 0.0
    offset: Array = field(default_factory=_origin)

    def __post_init__(self) -> None:
        """Check and freeze."""
        _check_joint(self, self.joint)
        Goal.__post_init__(self)
        if not np.isfinite(self.target):
            raise GoalError(f"the height of {self.label} is not finite: {self.target}")
        object.__setattr__(self, "offset", finite(f"the offset of {self.label}", self.offset, 3))

    @property
    def target_value(self) -> Array:
        """The height, shape (), metres."""
        return np.asarray(self.target, dtype=np.float64)

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with another height."""
        return replace(self, target=float(np.asarray(target)))


@dataclass(frozen=True, slots=True, eq=False)
class CentreOfMass(Goal):
    """Keep the body's centre of mass over a support on the ground: corners (S, 2) in x and z, metres.

    The support is the convex hull of the corners; one corner asks for a point. Masses go by role.
    """

    support: Array = field(default_factory=lambda: frozen_array(np.zeros((1, 2))))

    def __post_init__(self) -> None:
        """Check, order the corners of the hull and freeze."""
        Goal.__post_init__(self)
        corners = np.atleast_2d(np.asarray(self.support, dtype=np.float64))
        if corners.ndim != 2 or corners.shape[1] != 2 or not len(corners) or not np.isfinite(corners).all():
            raise GoalError(f"the support of the centre of mass must be finite corners (S, 2), not {corners.tolist()}")
        object.__setattr__(self, "support", frozen_array(_hull(corners)))

    @property
    def target_value(self) -> Array:
        """The corners (S, 2), metres."""
        return self.support

    def with_target(self, target: ArrayLike) -> Self:
        """Return a copy with other corners."""
        return replace(self, support=np.asarray(target))


@dataclass(frozen=True, slots=True, eq=False)
class NearPose(Goal):
    """Stay near a pose, joint value by joint value; `joints` limits it to some. Weak by nature: weigh it low."""

    pose: LocalPose
    joints: tuple[str, ...] | None = None
    weight: Weight = field(default=1e-3, kw_only=True)

    def __post_init__(self) -> None:
        """Check."""
        Goal.__post_init__(self)
        if not isinstance(self.pose, LocalPose) or np.ndim(self.pose.root) != 1:
            raise GoalError("NearPose needs one LocalPose")
        if np.ndim(self.weight) != 0 or self.pinned:
            raise GoalError("NearPose takes a number as weight and cannot be pinned")
        if not (np.isfinite(self.pose.rotations).all() and np.isfinite(self.pose.root).all()):
            raise GoalError("the pose of NearPose is not finite")

    @property
    def target_value(self) -> Array:
        """Nothing moves: an empty array. Give a new goal to stay near another pose."""
        return np.zeros(0)

    def with_target(self, target: ArrayLike) -> Self:
        """Refuse: give a new goal instead."""
        raise GoalError("a NearPose goal is changed by giving a new one")


def axes_goals(joint: str, rotation: ArrayLike, *, weight: float = 1.0) -> tuple[Direction, Direction]:
    """Return the paper's orientation goal: the joint's i and j axes along the columns of a world rotation (3, 3)."""
    matrix = finite(f"the rotation of {joint}", rotation, 3, 3)
    return (
        Direction(joint, matrix[:, 0], np.array([1.0, 0.0, 0.0]), weight=weight),
        Direction(joint, matrix[:, 1], np.array([0.0, 1.0, 0.0]), weight=weight),
    )


def _hull(corners: Array) -> Array:
    """Return the corners of the convex hull, counter-clockwise in (x, z); one or two corners are kept as they are."""
    points = np.unique(corners, axis=0)
    if len(points) < 3:
        return points

    def half(ordered: Array) -> list[Array]:
        chain: list[Array] = []
        for p in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(points) + half(points[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
