"""The skeleton: names, parents, rest transforms and tips, as a checked, read-only struct of arrays."""

from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array, ArrayLike, IntArray, frozen_array, frozen_indices
from mimik.errors import RigError, one_of
from mimik.rotation import quat_normalize

MAX_JOINTS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """A tree of joints at rest. Metres, Y up, quaternions `x y z w`.

    names    unique joint names
    parents  (J,) index of each joint's parent; the root is joint 0 with parent -1, parents stand before children
    offsets  (J, 3) origin of each joint in its parent's frame; of the root: its place at rest
    rest     (J, 4) q_parent_joint at rest
    tips     (J, 3) end of the bone of a leaf in the leaf's own frame, NaN where there is none
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: Array
    rest: Array
    tips: Array

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        names = tuple(str(n) for n in self.names)
        count = len(names)
        parents = frozen_indices(self.parents)
        _check_tree(names, parents)
        offsets, rest, tips = (np.array(a, dtype=np.float64) for a in (self.offsets, self.rest, self.tips))
        for label, array, width in (("offsets", offsets, 3), ("rest", rest, 4), ("tips", tips, 3)):
            if array.shape != (count, width):
                raise RigError(f"{label} has shape {array.shape}; {count} joints need ({count}, {width})")
        for label, array in (("offset", offsets), ("rest rotation", rest)):
            bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
            if len(bad):
                raise RigError(f"the {label} of joint {names[bad[0]]!r} is not finite: {array[bad[0]]}")
        tips[~np.isfinite(tips).all(axis=1)] = np.nan
        set_field = object.__setattr__
        set_field(self, "names", names)
        set_field(self, "parents", parents)
        set_field(self, "offsets", frozen_array(offsets))
        set_field(self, "rest", frozen_array(quat_normalize(rest)))
        set_field(self, "tips", frozen_array(tips))

    @classmethod
    def build(
        cls,
        names: list[str] | tuple[str, ...],
        parents: ArrayLike,
        offsets: ArrayLike,
        *,
        rest: ArrayLike | None = None,
        tips: ArrayLike | None = None,
    ) -> "Skeleton":
        """Make a skeleton; identity rest rotations and no tips unless given."""
        count = len(names)
        rest = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)) if rest is None else rest
        tips = np.full((count, 3), np.nan) if tips is None else tips
        return cls(
            tuple(names),
            frozen_indices(parents),
            np.asarray(offsets, dtype=np.float64),
            np.asarray(rest, dtype=np.float64),
            np.asarray(tips, dtype=np.float64),
        )

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.names)

    def index(self, name: str) -> int:
        """Return the index of the joint called `name`; raises RigError that lists the names."""
        try:
            return self.names.index(name)
        except ValueError:
            raise RigError(one_of("joint of this skeleton", name, self.names)) from None

    def children(self, joint: int) -> list[int]:
        """Return the indices of the children of a joint, in order."""
        return [int(j) for j in np.flatnonzero(self.parents == joint)]

    def descends_from(self, joint: int, ancestor: int) -> bool:
        """Say whether `ancestor` stands on the way from `joint` to the root (a joint descends from itself)."""
        while joint > ancestor:
            joint = int(self.parents[joint])
        return joint == ancestor

    def with_offsets(self, offsets: ArrayLike, tips: ArrayLike | None = None) -> "Skeleton":
        """Return a copy with other bone offsets (J, 3), and other tips if given."""
        new_tips = self.tips if tips is None else np.asarray(tips, dtype=np.float64)
        return replace(self, offsets=np.asarray(offsets, dtype=np.float64), tips=new_tips)

    def with_rest(self, rest: ArrayLike) -> "Skeleton":
        """Return a copy with other rest rotations (J, 4)."""
        return replace(self, rest=np.asarray(rest, dtype=np.float64))

    def __repr__(self) -> str:
        return f"Skeleton({self.joint_count} joints, root {self.names[0]!r})"


def _check_tree(names: tuple[str, ...], parents: IntArray) -> None:
    count = len(names)
    if count == 0:
        raise RigError("a skeleton needs at least one joint")
    if count > MAX_JOINTS:
        raise RigError(f"{count} joints; at most {MAX_JOINTS} are supported")
    if parents.shape != (count,):
        raise RigError(f"parents has shape {parents.shape}; {count} names need ({count},)")
    if len(set(names)) != count:
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise RigError(f"joint name {twice!r} stands twice; names must be unique")
    if parents[0] != -1:
        raise RigError(f"joint 0 ({names[0]!r}) must be the root with parent -1, not {int(parents[0])}")
    wrong = np.flatnonzero((parents[1:] < 0) | (parents[1:] >= np.arange(1, count))) + 1
    if len(wrong):
        j = int(wrong[0])
        raise RigError(f"joint {j} ({names[j]!r}) has parent {int(parents[j])}; parents stand before their children")
