"""What the mannequin's surface hangs on: the rig's joints, plus helpers that share out bends and twists.

A skin that follows joints alone folds at a sharp elbow and wrings at a turned wrist. A *half* bone stands in a joint
and turns half way between its two sides; a *twist* bone lies in a limb and takes a share of its end's turn about the
limb. Both follow from the joints' rotations, for any rig.
"""

from dataclasses import dataclass, field

import numpy as np

from mimik._types import Array, IntArray
from mimik.rotation import quat_apply, quat_inv, quat_mul, quat_slerp, quat_to_matrix, swing_twist


@dataclass(slots=True)
class BoneList:
    """Collects bones while parts are made: rows (base joint, other joint or -1, share of twist, 0 for a half bone)."""

    rows: list[tuple[int, int, float]] = field(default_factory=list)

    def joint(self, joint: int) -> int:
        """Return the bone that follows a joint."""
        return self._add((joint, -1, 0.0))

    def half(self, base: int, other: int) -> int:
        """Return the bone at joint `other` that turns half way from `base` to `other`."""
        return self._add((base, other, 0.0))

    def twist(self, base: int, other: int, share: float) -> int:
        """Return the bone that follows `base` and takes `share` of the turn of `other` about the line between them."""
        return self._add((base, other, share))

    def _add(self, row: tuple[int, int, float]) -> int:
        if row not in self.rows:
            self.rows.append(row)
        return self.rows.index(row)


@dataclass(frozen=True, slots=True, eq=False)
class Bones:
    """The bones of a skin and the pose it was made in.

    base, other  (B,) joints of each bone; `other` is -1 where the bone simply follows `base`
    share        (B,) share of twist; 0 with an `other` joint marks a half bone
    q_bind       (J, 4) world rotations of the joints when the skin was made; p_bind (J, 3) their places, metres
    """

    base: IntArray
    other: IntArray
    share: Array
    q_bind: Array
    p_bind: Array

    @classmethod
    def of(cls, bones: BoneList, q_bind: Array, p_bind: Array) -> "Bones":
        """Freeze a list of bones with the pose the skin is made in."""
        base, other, share = zip(*bones.rows)
        return cls(np.array(base), np.array(other), np.array(share, dtype=np.float64), q_bind, p_bind)

    @property
    def pivots(self) -> Array:
        """Point (B, 3) each bone turns about, in the bind pose."""
        half = (self.other >= 0) & (self.share == 0.0)
        return self.p_bind[np.where(half, self.other, self.base)]

    def turns(self, q_world: Array, p_world: Array) -> tuple[Array, Array]:
        """Return each bone's rotation since the bind pose (..., B, 4) and its pivot now (..., B, 3).

        q_world (..., J, 4), p_world (..., J, 3) are the joints now. The half turn between opposite sides (a joint bent
        by exactly 180 degrees) falls to either side.
        """
        turned = quat_mul(q_world, quat_inv(self.q_bind))
        q, p = turned[..., self.base, :].copy(), p_world[..., self.base, :].copy()
        half = np.flatnonzero((self.other >= 0) & (self.share == 0.0))
        if len(half):
            q[..., half, :] = quat_slerp(q[..., half, :], turned[..., self.other[half], :], 0.5)
            p[..., half, :] = p_world[..., self.other[half], :]
        for b in np.flatnonzero((self.other >= 0) & (self.share > 0.0)):
            axis = self.p_bind[self.other[b]] - self.p_bind[self.base[b]]
            axis = axis / max(float(np.linalg.norm(axis)), 1e-12)
            relative = quat_mul(quat_inv(q[..., b, :]), turned[..., self.other[b], :])
            _, twist = swing_twist(relative, axis)
            q[..., b, :] = quat_mul(q[..., b, :], quat_slerp(np.array([0.0, 0.0, 0.0, 1.0]), twist, self.share[b]))
        return q, p

    def bound(self) -> tuple[Array, Array]:
        """Return the bones' rotations (B, 4), all identity, and pivots (B, 3) in the bind pose."""
        return np.tile([0.0, 0.0, 0.0, 1.0], (len(self.base), 1)), self.pivots

    def matrices(self, q_world: Array, p_world: Array) -> Array:
        """Return (..., B, 3, 4) maps of bind-pose points to where the bones carry them now."""
        q, p = self.turns(q_world, p_world)
        rotation = quat_to_matrix(q)
        shift = p - quat_apply(q, self.pivots)
        return np.concatenate([rotation, shift[..., None]], axis=-1)
