"""Joint limits as data: what kind of joint each joint is, and how far each of its values may go.

A joint's rotation is `rest * centre * (its values)`. Values are radians (metres for slides); every value v keeps
`lower <= v <= upper`, and the swing of a ball may instead be kept in a cone of half-angle `cone` around the centre.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from mimik._types import Array, ArrayLike, frozen_array
from mimik.errors import RigError, one_of
from mimik.rotation import quat_normalize

JointKind = Literal["ball", "hinge", "universal", "euler", "slide", "fixed", "free"]
"""ball: swing over two axes, then twist about the third, no gimbal trouble inside a half turn of swing. hinge: one
axis. universal: two. euler: three in turn, as in the published method (z, y, z) or any other order. slide: metres along
one to three axes. fixed: no values. free: a ball without limits."""

JOINT_KINDS: tuple[JointKind, ...] = ("ball", "hinge", "universal", "euler", "slide", "fixed", "free")
_VALUES = {
    "ball": (3,),
    "hinge": (1,),
    "universal": (2,),
    "euler": (3,),
    "slide": (1, 2, 3),
    "fixed": (0,),
    "free": (3,),
}
_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, slots=True, eq=False)
class JointRange:
    """Kind and limits of one joint.

    kind    see JointKind
    axes    (k, 3) unit axes in the joint's frame, in the order they act; of a ball: swing, swing, twist (orthonormal);
            of slides: in the parent's frame
    lower, upper  (k,) radians or metres, -inf and inf where free
    cone    half-angle of a ball's swing cone, radians, below pi; inf where the swing is a box
    centre  (4,) rotation after the rest from which the values are measured
    """

    kind: JointKind
    axes: Array
    lower: Array
    upper: Array
    cone: float = np.inf
    centre: Array = field(default_factory=lambda: frozen_array([0.0, 0.0, 0.0, 1.0]))

    def __post_init__(self) -> None:
        """Check sizes, order of limits and axes; freeze."""
        if self.kind not in JOINT_KINDS:
            raise RigError(one_of("kind of joint", self.kind, JOINT_KINDS))
        axes = np.array(self.axes, dtype=np.float64).reshape(-1, 3)
        count = len(axes)
        if count not in _VALUES[self.kind]:
            raise RigError(f"a {self.kind} joint has {_VALUES[self.kind]} axes, not {count}")
        length = np.linalg.norm(axes, axis=1, keepdims=True)
        if not np.isfinite(axes).all() or (length < 1e-9).any():
            raise RigError(f"the axes of a joint must be finite and not zero: {axes.tolist()}")
        axes = axes / length
        if self.kind in ("ball", "free") and not np.allclose(axes @ axes.T, np.eye(3), atol=1e-6):
            raise RigError(f"the axes of a {self.kind} must stand at right angles: {axes.tolist()}")
        lower, upper = (np.array(np.broadcast_to(np.asarray(a, float), count)) for a in (self.lower, self.upper))
        if np.isnan(lower).any() or np.isnan(upper).any():
            raise RigError("a joint limit is NaN")
        if (lower > upper).any():
            k = int(np.argmax(lower > upper))
            raise RigError(
                f"lower limit {lower[k]:g} stands above upper limit {upper[k]:g} (value {k} of a {self.kind})"
            )
        if self.kind == "ball" and not (0.0 <= self.cone <= np.pi or self.cone == np.inf):
            raise RigError(f"a swing cone lies between 0 and pi radians, not {self.cone:g}")
        if self.kind == "free" and not (np.isinf(lower).all() and np.isinf(upper).all()):
            raise RigError("a free joint has no limits; use a ball for one that has")
        for name, value in (
            ("axes", axes),
            ("lower", lower),
            ("upper", upper),
            ("centre", quat_normalize(self.centre)),
        ):
            object.__setattr__(self, name, frozen_array(value))

    @classmethod
    def hinge(cls, axis: ArrayLike, lower: float = -np.inf, upper: float = np.inf) -> "JointRange":
        """Turn about one axis of the joint's frame."""
        return cls("hinge", np.asarray(axis, float)[None], np.array([lower]), np.array([upper]))

    @classmethod
    def universal(cls, axes: ArrayLike, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> "JointRange":
        """Turn about a first axis, then about a second that the first carries along."""
        return cls("universal", np.asarray(axes, float), np.asarray(lower, float), np.asarray(upper, float))

    @classmethod
    def euler(cls, order: str = "zyz", lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> "JointRange":
        """Turn about three axes in turn; "zyz" is the published ball-and-socket joint (appendix A.1)."""
        letters = order.lower()
        if len(letters) != 3 or any(c not in _UNIT for c in letters):
            raise RigError(f"an Euler order is three of x, y, z, not {order!r}")
        return cls("euler", np.array([_UNIT[c] for c in letters]), np.asarray(lower, float), np.asarray(upper, float))

    @classmethod
    def ball(
        cls,
        twist_axis: ArrayLike = (0.0, 1.0, 0.0),
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        *,
        cone: float = np.inf,
        centre: ArrayLike = (0.0, 0.0, 0.0, 1.0),
    ) -> "JointRange":
        """Swing over two axes across `twist_axis`, then twist about it; limits of the twist are the third ones."""
        axes = swing_axes(twist_axis)
        return cls("ball", axes, np.asarray(lower, float), np.asarray(upper, float), cone, np.asarray(centre, float))

    @classmethod
    def slide(cls, axes: ArrayLike, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> "JointRange":
        """Move along one to three axes of the parent's frame, metres."""
        return cls("slide", np.asarray(axes, float).reshape(-1, 3), np.asarray(lower, float), np.asarray(upper, float))

    @classmethod
    def fixed(cls) -> "JointRange":
        """Stay at rest."""
        return cls("fixed", np.zeros((0, 3)), np.zeros(0), np.zeros(0))

    @classmethod
    def free(cls) -> "JointRange":
        """Turn without limits and without gimbal trouble."""
        return cls("free", np.eye(3), np.full(3, -np.inf), np.full(3, np.inf))

    def with_limits(self, lower: ArrayLike, upper: ArrayLike) -> "JointRange":
        """Return a copy with other limits."""
        return replace(self, lower=np.asarray(lower, float), upper=np.asarray(upper, float))


def swing_axes(twist_axis: ArrayLike) -> Array:
    """Return (3, 3) rows swing, swing, twist: orthonormal and right-handed, the last along `twist_axis`."""
    twist = np.asarray(twist_axis, dtype=np.float64)
    length = float(np.linalg.norm(twist))
    if not np.isfinite(length) or length < 1e-9:
        raise RigError(f"a twist axis must be finite and not zero: {twist.tolist()}")
    twist = twist / length
    side = np.zeros(3)
    side[int(np.argmin(np.abs(twist)))] = 1.0
    first = side - twist * (side @ twist)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(twist, first), twist])


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Ranges of a rig's joints by joint name; a joint that is not named turns freely.

    joints  joint name -> JointRange
    source  where they come from, in words
    """

    joints: Mapping[str, JointRange]
    source: str = ""

    def __post_init__(self) -> None:
        """Freeze the table."""
        object.__setattr__(self, "joints", MappingProxyType(dict(self.joints)))

    def __getitem__(self, name: str) -> JointRange:
        """Return the range of a joint; raises RigError that lists the joints."""
        try:
            return self.joints[name]
        except KeyError:
            raise RigError(one_of("joint with limits", name, self.joints)) from None

    def __contains__(self, name: object) -> bool:
        return name in self.joints

    def __iter__(self) -> Iterator[str]:
        return iter(self.joints)

    def __len__(self) -> int:
        return len(self.joints)

    def with_joint(self, name: str, joint_range: JointRange) -> "Limits":
        """Return a copy with one more, or another, range."""
        return Limits({**self.joints, name: joint_range}, self.source)
