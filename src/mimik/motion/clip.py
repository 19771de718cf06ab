"""The clip: motion of one rig over time."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mimik._types import Array, frozen_array
from mimik.errors import MimikError
from mimik.rig.pose import LocalPose, WorldPose
from mimik.rig.rig import Rig
from mimik.rotation import quat_normalize

if TYPE_CHECKING:
    from mimik.solve.solution import Solution


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Local rotations and root path of a rig. Metres, seconds, Y up, quaternions `x y z w`.

    rotations     (T, J, 4) q_parent_joint, the rest rotation included
    root          (T, 3) position of the root joint
    translations  (T, J, 3) places of the joints in their parents' frames where joints other than the root move
    solution      how a solver found it, where one did
    """

    rig: Rig
    rotations: Array
    root: Array
    fps: float = 30.0
    name: str = ""
    translations: Array | None = None
    notes: tuple[str, ...] = ()
    solution: Solution | None = None

    def __post_init__(self) -> None:
        """Copy, check and freeze."""
        rotations = frozen_array(self.rotations)
        if rotations.ndim != 3:
            raise MimikError(f"clip rotations have shape {rotations.shape}; they must be (frames, joints, 4)")
        squared = np.einsum("tjk,tjk->tj", rotations, rotations)
        if not np.isfinite(squared).all():
            frame, joint = np.argwhere(~np.isfinite(squared))[0]
            raise MimikError(f"rotation of joint {self.rig.names[joint]!r} is not finite in frame {frame}")
        if not np.isfinite(self.root).all():
            raise MimikError("the root position is not finite in some frame")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise MimikError(f"a clip has {self.fps} frames a second; it must be a positive number")
        if (np.abs(squared - 1.0) > 4e-15).any():
            rotations = quat_normalize(rotations)
        pose = LocalPose(self.rig.skeleton, rotations, self.root, self.translations)
        set_field = object.__setattr__
        set_field(self, "rotations", pose.rotations)
        set_field(self, "root", pose.root)
        set_field(self, "translations", pose.translations)
        set_field(self, "fps", float(self.fps))
        set_field(self, "notes", tuple(self.notes))

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return self.rotations.shape[0]

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.frame_count / self.fps

    def pose(self) -> LocalPose:
        """Return all frames as one batch of local poses."""
        return LocalPose(self.rig.skeleton, self.rotations, self.root, self.translations)

    def world(self) -> WorldPose:
        """Return world rotations and positions of all frames."""
        return self.pose().to_world()

    def positions(self) -> Array:
        """Return world joint positions (T, J, 3) in metres."""
        return self.world().positions

    def save(self, path: str | os.PathLike[str], **options: Any) -> list[str]:
        """Write to .bvh, .glb, .vrma, .npz, ... by suffix; return what the format could not hold."""
        from mimik.io import save_clip

        return save_clip(self, path, **options)

    def __getitem__(self, frames: slice) -> Clip:
        """Return some frames of the clip."""
        moves = None if self.translations is None else self.translations[frames]
        return replace(self, rotations=self.rotations[frames], root=self.root[frames], translations=moves)

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {self.frame_count} frames, {self.fps:g} fps, rig {self.rig.name!r})"
