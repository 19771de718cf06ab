"""The motion store: one folder of memory-mapped arrays that training reads, whatever files it was imported from.

- `rotations.npy` (N, 22, 4) int16: D_world quaternions x y z w, times 32767, w >= 0
- `root.npy` (N, 3) float32: pelvis position, metres, Y up
- `offsets.npy` (B, 22, 3) float32: T-pose offsets of each source body from its parent roles, NaN for joints it lacks
- `store.json`: roles, clips (name, subject, split, body, start, frames, fps), a hash of the arrays
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.errors import FileError, MimikError, OptionError, one_of
from mimik.learn.importers import SPLITS, RoleMotion, Split, find_motion, read_motion
from mimik.learn.select import pose_features, select_diverse
from mimik.rig.roles import BODY_ROLES

FORMAT = "mimik motion store 1"
QUAT_SCALE = 32767.0


@dataclass(frozen=True, slots=True)
class StoreClip:
    """One row of the clip table; `start` and `frames` index the arrays, `body` the rows of `offsets`."""

    name: str
    subject: str
    split: Split
    body: int
    start: int
    frames: int
    fps: float


class MotionStore:
    """A motion store opened for reading; the arrays stay on disk until they are sliced."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the store in folder `path`; raises FileError where it is missing, broken or of another kind."""
        self.path = Path(path)
        try:
            table = json.loads((self.path / "store.json").read_text(encoding="utf-8"))
            if table["format"] != FORMAT:
                raise FileError(self.path, f"is {table['format']!r}, this version reads {FORMAT!r}")
            self.clips = tuple(StoreClip(**row) for row in table["clips"])
            self.hash = str(table["hash"])
            self.roles = tuple(table["roles"])
            arrays = [np.load(self.path / f"{name}.npy", mmap_mode="r") for name in ("rotations", "root", "offsets")]
            if any(len(a) != sum(clip.frames for clip in self.clips) for a in arrays[:2]):
                raise ValueError("clips and frames do not add up")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileError(self.path, f"is no motion store ({error}); make one with `mimik data import`") from error
        self._rotations, self._root, offsets = arrays
        self.offsets = np.asarray(offsets, dtype=np.float64)

    @property
    def frame_count(self) -> int:
        """Frames of all clips together."""
        return len(self._rotations)

    def split(self, name: Split) -> list[StoreClip]:
        """Return the clips of one split; raises OptionError for another name."""
        if name not in SPLITS:
            raise OptionError(one_of("split", name, SPLITS))
        return [clip for clip in self.clips if clip.split == name]

    def frames(self, clips: Iterable[StoreClip], *, fps: float | None = None) -> IntArray:
        """Return the frame indices of `clips`, every n-th so that the rate comes nearest to `fps` from above."""
        parts = [np.arange(c.start, c.start + c.frames, stride(c.fps, fps), dtype=np.int64) for c in clips]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def rotations(self, frames: IntArray | slice) -> Array:
        """Return D_world (n, 22, 4) of the frames, unit quaternions x y z w."""
        q = np.asarray(self._rotations[frames], dtype=np.float64)
        return q / np.linalg.norm(q, axis=-1, keepdims=True)

    def root(self, frames: IntArray | slice) -> Array:
        """Return pelvis positions (n, 3), metres."""
        return np.asarray(self._root[frames], dtype=np.float64)

    def bodies(self, frames: IntArray) -> IntArray:
        """Return for each frame the row of `offsets` that belongs to its recorded person."""
        starts = np.array([clip.start for clip in self.clips])
        body = np.array([clip.body for clip in self.clips])
        return body[np.searchsorted(starts, frames, side="right") - 1]

    def typical_offsets(self) -> Array:
        """Return the median body (22, 3): one skeleton on which poses of different people can be compared."""
        return np.nan_to_num(np.nanmedian(self.offsets, axis=0))

    def select(self, split: Split, count: int, *, fps: float | None = 30.0, seed: int = 0) -> IntArray:
        """Return about `count` frame indices of a split, chosen by diversity of pose (see `mimik.learn.select`)."""
        frames = self.frames(self.split(split), fps=fps)
        if len(frames) <= count:
            return frames
        body = self.typical_offsets()
        features = [pose_features(self.rotations(frames[i : i + 32768]), body) for i in range(0, len(frames), 32768)]
        return frames[select_diverse(np.concatenate(features), count, seed=seed)]


def stride(source_fps: float, fps: float | None) -> int:
    """Return the step between kept frames: 120 fps down to 30 is 4; a source slower than `fps` is kept whole."""
    return 1 if fps is None else max(1, int(source_fps / fps + 1e-6))


def import_motion(
    sources: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    fps: float | None = 60.0,
    progress: Callable[[int, int, str], None] | None = None,
) -> tuple[MotionStore, list[str]]:
    """Import folders and files into a new store at `out`; return it with a note for every file that was left out.

    `progress` is called with (files done, files in all, name of the next). Nothing is left behind when it fails. Raises
    FileError when `out` exists or no file could be read.
    """
    files = find_motion([Path(s) for s in sources])
    notes: list[str] = []
    with StoreWriter(out, fps=fps) as writer:
        for done, (path, root) in enumerate(files):
            if progress is not None:
                progress(done, len(files), path.name)
            try:
                writer.add(read_motion(path, root=root))
            except MimikError as error:
                notes.append(str(error))
        if not writer.clips:
            raise FileError(os.fspath(out), "no file could be imported: " + "; ".join(notes[:5]))
    return MotionStore(out), notes


class StoreWriter:
    """Write a store clip by clip; a context manager that moves the folder into place when it is whole."""

    def __init__(self, out: str | os.PathLike[str], *, fps: float | None = None) -> None:
        """Begin a store at `out`, thinning faster clips down to `fps`; raises FileError when `out` exists."""
        self.out, self.fps = Path(out), fps
        if self.out.exists():
            raise FileError(self.out, "exists already; remove it or name another folder")
        self.clips: list[StoreClip] = []
        self._bodies: dict[bytes, int] = {}
        self._frames = 0

    def __enter__(self) -> "StoreWriter":
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix=f".{self.out.name}-", dir=self.out.parent))
        self._rotations = _NpyAppender(self._folder / "rotations.npy", np.dtype(np.int16), (len(BODY_ROLES), 4))
        self._root = _NpyAppender(self._folder / "root.npy", np.dtype(np.float32), (3,))
        return self

    def add(self, motions: Iterable[RoleMotion]) -> None:
        """Append clips; clips without frames are skipped."""
        for motion in motions:
            step = stride(motion.fps, self.fps)
            q = motion.rotations[::step]
            if not len(q):
                continue
            body = self._bodies.setdefault(motion.offsets.astype(np.float32).tobytes(), len(self._bodies))
            self._rotations.append(quantise(q))
            self._root.append(motion.root[::step])
            clip = StoreClip(motion.name, motion.subject, motion.split, body, self._frames, len(q), motion.fps / step)
            self.clips.append(clip)
            self._frames += len(q)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        digest = hashlib.sha256(self._rotations.close() + self._root.close()).hexdigest()
        if kind is not None:
            shutil.rmtree(self._folder)
            return
        bodies = [np.frombuffer(b, dtype=np.float32).reshape(len(BODY_ROLES), 3) for b in self._bodies]
        np.save(self._folder / "offsets.npy", np.array(bodies))
        rows = [asdict(clip) for clip in self.clips]
        table: dict[str, Any] = {"format": FORMAT, "roles": list(BODY_ROLES), "hash": digest, "clips": rows}
        (self._folder / "store.json").write_text(json.dumps(table, indent=1), encoding="utf-8")
        os.chmod(self._folder, 0o755)
        os.replace(self._folder, self.out)


def quantise(q: Array) -> npt.NDArray[np.int16]:
    """Round unit quaternions to int16 with w >= 0: within 0.004 degrees."""
    return np.rint(np.where(q[..., 3:] < 0.0, -q, q) * QUAT_SCALE).astype(np.int16)


class _NpyAppender:
    """A .npy file that grows along its first axis; the header is written again at the end."""

    def __init__(self, path: Path, dtype: np.dtype[Any], row: tuple[int, ...]) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._dtype, self._row, self._count, self._hash = dtype, row, 0, hashlib.sha256()
        self._header()

    def _header(self) -> None:
        shape = (self._count, *self._row)
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)  # numpy pads it, so that the count may grow

    def append(self, values: npt.NDArray[Any]) -> None:
        block = np.ascontiguousarray(values, dtype=self._dtype).tobytes()
        self._file.write(block)
        self._hash.update(block)
        self._count += len(values)

    def close(self) -> bytes:
        self._file.seek(0)
        self._header()
        self._file.close()
        return self._hash.digest()
