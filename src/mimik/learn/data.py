"""Poses on the training device, and batches drawn from them.

All poses lie on the device as int16 rotation vectors (132 bytes each): a million fit in 132 MB. A batch is posed on a
body, turned about the vertical and mirrored there.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import roma
import torch
from torch import Tensor

from mimik._types import Array, IntArray
from mimik.errors import OptionError
from mimik.learn.geometry import path_matrix, root_space_positions
from mimik.learn.importers import Split
from mimik.learn.pack import ROTVEC_SCALE, PackedPoses
from mimik.learn.store import MotionStore
from mimik.rig.rig import Rig
from mimik.rig.role_space import role_offsets
from mimik.rig.roles import BODY_MIRROR, BODY_PARENTS, BODY_ROLES
from mimik.rotation import quat_to_rotvec


def rig_body(rig: Rig) -> Array:
    """Return the T-pose offsets (22, 3) of a rig's roles from their parents, the pelvis at the origin."""
    offsets = role_offsets(rig)
    offsets[0] = 0.0
    return offsets


def store_rotvecs(store: MotionStore, frames: IntArray) -> npt.NDArray[np.int16]:
    """Return D_world of frames as scaled rotation vectors (n, 22, 3), as packs hold them."""
    blocks = [quat_to_rotvec(store.rotations(frames[i : i + 32768])) for i in range(0, len(frames), 32768)]
    return np.rint(np.concatenate(blocks) * ROTVEC_SCALE).astype(np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """The random choices behind one batch: pose (B,), body (B,), heading in radians (B,), mirrored or not (B,)."""

    pose: Tensor
    body: Tensor
    heading: Tensor
    mirror: Tensor

    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the four arrays, for copying into a captured graph's inputs."""
        return self.pose, self.body, self.heading, self.mirror


class PoseData:
    """Poses of one split, ready to be drawn from."""

    def __init__(
        self,
        rotvec: npt.NDArray[np.int16],
        bodies: Array,
        device: torch.device,
        *,
        roles: tuple[str, ...] = BODY_ROLES,
        turn: bool = True,
        mirror: bool = True,
    ) -> None:
        """`rotvec` (n, 22, 3) scaled int16; `bodies` (S, 22, 3) T-pose offsets, one of them drawn for each pose.

        `roles` keeps a part of the 22, each hung from the nearest ancestor that is kept. Raises OptionError without
        poses, or without the pelvis.
        """
        if not len(rotvec):
            raise OptionError("there are no poses in this split")
        if roles[0] != "pelvis":
            raise OptionError("the first role must be the pelvis")
        keep = [BODY_ROLES.index(role) for role in roles]
        parents = kept_parents(roles)
        self.roles, self.parents, self.turn, self.mirror = roles, parents, turn, mirror
        self.device = device
        self._rotvec = torch.from_numpy(np.ascontiguousarray(rotvec)).to(device)
        self._keep = torch.tensor(keep, device=device)
        self._mirror_order = torch.tensor(BODY_MIRROR.copy(), device=device)
        self._parents = torch.tensor(parents, device=device)
        self._paths = path_matrix(parents).to(device)
        self.bodies = torch.as_tensor(kept_offsets(bodies, roles), dtype=torch.float32, device=device)
        self._reflect = torch.tensor([-1.0, 1.0, 1.0], device=device)

    @classmethod
    def from_pack(cls, poses: PackedPoses, bodies: Array, device: torch.device, **options: bool) -> "PoseData":
        """Put the poses of a pack's split on the device."""
        return cls(poses.rotvec, bodies, device, **options)  # type: ignore[arg-type]

    @classmethod
    def from_store(
        cls, store: MotionStore, split: Split, bodies: Array, device: torch.device, *, count: int, **options: bool
    ) -> "PoseData":
        """Put about `count` diverse poses of a store's split on the device."""
        return cls(store_rotvecs(store, store.select(split, count)), bodies, device, **options)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._rotvec)

    def draw(self, count: int, generator: torch.Generator) -> Draw:
        """Draw `count` poses with replacement; `generator` lives on the data's device."""
        device = self.device
        return Draw(
            torch.randint(len(self), (count,), device=device, generator=generator),
            torch.randint(len(self.bodies), (count,), device=device, generator=generator),
            torch.rand(count, device=device, generator=generator) * (2.0 * torch.pi if self.turn else 0.0),
            torch.rand(count, device=device, generator=generator) < (0.5 if self.mirror else 0.0),
        )

    def in_order(self, start: int, count: int) -> Draw:
        """Return poses `start` to `start + count`, as recorded, on the first body: what errors are measured on."""
        pose = torch.arange(start, min(start + count, len(self)), device=self.device)
        zero = torch.zeros_like(pose)
        return Draw(pose, zero, zero.float(), zero.bool())

    def pose(self, draw: Draw) -> tuple[Tensor, Tensor, Tensor]:
        """Return root-space positions (B, J, 3) in metres, D_world (B, J, 3, 3) and the bodies' offsets (B, J, 3)."""
        rotvec = self._rotvec[draw.pose].float() / ROTVEC_SCALE
        # a reflection of x turns axial vectors about y and z around
        mirrored = rotvec[:, self._mirror_order] * -self._reflect
        rotvec = torch.where(draw.mirror[:, None, None], mirrored, rotvec)[:, self._keep]
        D_world = heading_rotation(draw.heading)[:, None] @ roma.rotvec_to_rotmat(rotvec)
        offsets = self.bodies[draw.body]
        return self.positions(D_world, offsets), D_world, offsets

    def positions(self, D_world: Tensor, offsets: Tensor) -> Tensor:
        """Return root-space positions (B, J, 3) of D_world (B, J, 3, 3) on bodies (B, J, 3)."""
        return root_space_positions(D_world, offsets, self._parents, self._paths)


def heading_rotation(angle: Tensor) -> Tensor:
    """Return rotations (B, 3, 3) about the vertical by angles (B,) in radians."""
    c, s, zero, one = torch.cos(angle), torch.sin(angle), torch.zeros_like(angle), torch.ones_like(angle)
    return torch.stack([c, zero, s, zero, one, zero, -s, zero, c], dim=-1).unflatten(-1, (3, 3))


def kept_parents(roles: tuple[str, ...]) -> list[int]:
    """Return the parent of each role among `roles`: its nearest ancestor that is one of them, -1 for the root."""
    parents = []
    for role in roles:
        above = int(BODY_PARENTS[BODY_ROLES.index(role)])
        while above >= 0 and BODY_ROLES[above] not in roles:
            above = int(BODY_PARENTS[above])
        parents.append(roles.index(BODY_ROLES[above]) if above >= 0 else -1)
    return parents


def kept_offsets(bodies: Array, roles: tuple[str, ...]) -> Array:
    """Return offsets (S, J, 3) between kept roles of bodies (S, 22, 3): offsets of dropped ones are added on."""
    offsets = np.zeros((len(bodies), len(roles), 3))
    for k, role in enumerate(roles[1:], start=1):
        j = BODY_ROLES.index(role)
        offsets[:, k] = bodies[:, j]
        while BODY_ROLES[j := int(BODY_PARENTS[j])] not in roles:
            offsets[:, k] += bodies[:, j]
    return offsets
