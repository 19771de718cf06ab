"""A small file of chosen poses, for training on a machine that has neither the corpus nor a store.

Keys, for each split in the file: `<split>_rotvec` (n, 22, 3) int16, D_world rotation vectors times 32767/pi;
`<split>_root` (n, 3) float32, metres; `<split>_body` (n,) rows of `offsets` (B, 22, 3); `<split>_clip_starts` (C,).
Train frames are a diverse selection, other splits are whole at `fps`.
"""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.errors import FileError
from mimik.io.files import atomic_write, open_npz
from mimik.learn.importers import SPLITS, Split
from mimik.learn.store import MotionStore
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import quat_to_rotvec, rotvec_to_quat

ROTVEC_SCALE = 32767.0 / np.pi
_BYTES_PER_FRAME = len(BODY_ROLES) * 3 * 2 + 3 * 4 + 2


@dataclass(frozen=True, slots=True, eq=False)
class PackedPoses:
    """Poses of one split: scaled `rotvec` (n, 22, 3), `root` (n, 3) metres, `body` (n,) rows of `bodies` (B, 22, 3).

    `clip_starts` are the first frames of clips. In a selection neighbouring frames are not neighbours in time.
    """

    rotvec: npt.NDArray[np.int16]
    root: npt.NDArray[np.float32]
    body: npt.NDArray[np.int16]
    bodies: Array
    clip_starts: IntArray

    def __len__(self) -> int:
        return len(self.rotvec)

    def rotations(self, frames: IntArray | slice = slice(None)) -> Array:
        """Return D_world (n, 22, 4), unit quaternions x y z w."""
        return rotvec_to_quat(self.rotvec[frames] / ROTVEC_SCALE)


def write_pack(
    store: MotionStore,
    out: str | os.PathLike[str],
    *,
    splits: tuple[Split, ...] = ("train", "val"),
    fps: float = 30.0,
    max_mb: float = 40.0,
    seed: int = 0,
) -> dict[str, int]:
    """Write a pack of at most `max_mb` uncompressed megabytes; return the frames of each split.

    What the other splits leave is filled with the most diverse training frames. Raises FileError when they leave none.
    """
    frames: dict[Split, IntArray] = {
        split: store.frames(store.split(split), fps=fps) for split in splits if split != "train"
    }
    room = int(max_mb * 1e6 / _BYTES_PER_FRAME) - sum(map(len, frames.values()))
    if "train" in splits:
        if room < 1:
            raise FileError(os.fspath(out), f"{max_mb} MB leave no room for training frames")
        frames["train"] = store.select("train", room, fps=fps, seed=seed)
    arrays: dict[str, npt.NDArray[np.generic]] = {"offsets": store.offsets.astype(np.float32)}
    for split, index in frames.items():
        arrays |= {f"{split}_{key}": values for key, values in _columns(store, index).items()}
    with atomic_write(out) as partial:
        np.savez_compressed(partial, fps=fps, roles=np.array(BODY_ROLES), store=store.hash, **arrays)  # type: ignore[arg-type]
    return {split: len(index) for split, index in frames.items()}


def load_pack(path: str | os.PathLike[str]) -> dict[Split, PackedPoses]:
    """Read a pack; raises FileError when it is none or when its roles are not this version's."""
    data = open_npz(path)
    try:
        if tuple(data["roles"]) != BODY_ROLES:
            raise FileError(path, "holds other roles than this version's")
        bodies = data["offsets"].astype(np.float64)
        columns = ("rotvec", "root", "body", "clip_starts")
        arrays = {s: [data[f"{s}_{c}"] for c in columns] for s in SPLITS if f"{s}_rotvec" in data}
    except (KeyError, ValueError) as error:
        raise FileError(path, f"is no pack of poses ({error})") from error
    return {s: PackedPoses(rotvec, root, body, bodies, starts) for s, (rotvec, root, body, starts) in arrays.items()}


def _columns(store: MotionStore, frames: IntArray) -> dict[str, npt.NDArray[np.generic]]:
    blocks = [quat_to_rotvec(store.rotations(frames[i : i + 32768])) for i in range(0, len(frames), 32768)]
    rotvec = np.rint(np.concatenate(blocks) * ROTVEC_SCALE).astype(np.int16)
    starts = np.array([clip.start for clip in store.clips])
    clip = np.searchsorted(starts, frames, side="right")
    first = np.flatnonzero(np.diff(clip, prepend=-1))
    return {
        "rotvec": rotvec,
        "root": store.root(frames).astype(np.float32),
        "body": store.bodies(frames).astype(np.int16),
        "clip_starts": first.astype(np.int64),
    }
