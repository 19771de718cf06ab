"""Training data of the dense network on the device: poses, bodies, and the samples made of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mimik._types import IntArray
from mimik.learn.dense_batches import Spoiling, mirror, quat_matrix, spoil
from mimik.learn.dense_bodies import bodies_around, random_bodies
from mimik.learn.dense_geometry import Body, Bones, Observed, bones, features
from mimik.learn.pack import ROTVEC_SCALE
from mimik.rig.rig import Rig
from mimik.rotation import rotvec_to_quat
from mimik.solve.dense.body import role_body


class Poses:
    """All poses of a split on the device, drawn at random and mirrored half of the time."""

    def __init__(
        self, rotvec: npt.NDArray[np.int16], people: IntArray | None, device: torch.device, balance: float = 0.0
    ) -> None:
        """`rotvec` (n, 22, 3) as packs hold it, `people` (n,) whose each pose is.

        `balance` from 0 to 1 draws from every frame alike up to from every person alike.
        """
        self.quats = torch.as_tensor(rotvec_to_quat(rotvec / ROTVEC_SCALE), dtype=torch.float32, device=device)
        weights = np.ones(len(rotvec)) if people is None else np.bincount(people)[people] ** -balance
        self._cumulative = torch.as_tensor(np.cumsum(weights / weights.sum()), dtype=torch.float32, device=device)

    def __len__(self) -> int:
        return len(self.quats)

    def draw(self, count: int) -> Tensor:
        """Return D_world rotations (count, 22, 3, 3)."""
        chance = torch.rand(count, device=self.quats.device)
        rows = torch.searchsorted(self._cumulative, chance).clamp(max=len(self) - 1)
        rotation = quat_matrix(self.quats[rows])
        flip = torch.rand(count, 1, 1, 1, device=rotation.device) < 0.5
        return torch.where(flip, mirror(rotation), rotation)


def training_bodies(count: int, seed: int, device: torch.device, rig: Rig | None = None) -> Body:
    """Return bodies to pose motion on: of all kinds, or near one rig's own, lacking the joints it lacks."""
    rng = np.random.default_rng(seed)
    own = None if rig is None else role_body(rig)
    offsets, landmarks = random_bodies(rng, count) if own is None else bodies_around(rng, own, count)
    present = np.ones(22, dtype=np.bool_) if own is None else np.array(own.present)
    places = [torch.as_tensor(a, dtype=torch.float32, device=device) for a in (offsets, landmarks)]
    return Body(places[0], torch.as_tensor(present, device=device).expand(count, 22), places[1])


def one_body(rig: Rig, count: int, device: torch.device) -> Body:
    """Return a rig's body, repeated (count, ...)."""
    body = role_body(rig)
    tensors = [torch.as_tensor(np.array(a), device=device) for a in (body.offsets, body.present, body.landmarks)]
    offsets, present, landmarks = (t.expand(count, *t.shape) for t in tensors)
    return Body(offsets.float(), present, landmarks.float())


@dataclass
class Samples:
    """What training needs of poses: features, base rotations, own frames, noise, seen bones, target rotations."""

    x: Tensor
    g: Tensor
    own: Tensor
    noise: Tensor
    bones: Bones
    target: Tensor

    def rows(self, index: Tensor) -> "Samples":
        """Return some of the samples."""
        b = self.bones
        cut = Bones(b.then[index], b.now[index], b.share[index], b.fixed[index])
        return Samples(self.x[index], self.g[index], self.own[index], self.noise[index], cut, self.target[index])


def prepare(seen: Observed, body: Body, target: Tensor) -> Samples:
    """Run the geometry, which has nothing to learn."""
    x, g, p, own = features(seen, body)
    return Samples(x, g, own, seen.noise, bones(seen, body, p), target)


class Pool:
    """Samples made afresh on demand; on CUDA the making is one captured graph."""

    def __init__(self, poses: Poses, bodies: Body, how: Spoiling, count: int) -> None:
        self.poses, self.bodies, self.how, self.count = poses, bodies, how, count
        self.graph: torch.cuda.CUDAGraph | None = None
        self.samples = self._make()
        if bodies.offsets.is_cuda:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.samples = self._make()

    @torch.no_grad()
    def _make(self) -> Samples:
        b = self.bodies
        rows = torch.randint(len(b.offsets), (self.count,), device=b.offsets.device)
        body = Body(b.offsets[rows], b.present[rows], b.landmarks[rows])
        target, seen, body, _ = spoil(self.poses.draw(self.count), body, self.how)
        return prepare(seen, body, target)

    def refresh(self) -> Samples:
        """Return new samples; on CUDA they overwrite the last ones."""
        if self.graph is None:
            self.samples = self._make()
        else:
            self.graph.replay()
        return self.samples
