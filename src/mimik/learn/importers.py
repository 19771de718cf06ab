"""Motion files into role space: world rotations relative to the canonical T-pose, for the 22 body roles.

Every source ends as `RoleMotion`, whatever its rig: corpus `.npz` files (one subject, many clips), AMASS `.npz` and BVH
or any other clip file the library reads.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import FileError
from mimik.io.files import open_npz
from mimik.motion.clip import Clip
from mimik.rig.role_space import rig_to_role_rotations, role_offsets
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import quat_mul, quat_normalize, rotvec_to_quat

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")
SUFFIXES = (".npz", ".bvh", ".glb", ".gltf", ".vrm")

# Twist joints fold into the bone that carries them: the wrist's world rotation holds the pronation.
CORPUS_JOINTS = {
    "pelvis": "Hips", "left_hip": "LeftUpLeg", "right_hip": "RightUpLeg", "spine1": "SpineBase",
    "left_knee": "LeftLeg", "right_knee": "RightLeg", "spine2": "SpineMid", "left_ankle": "LeftFoot",
    "right_ankle": "RightFoot", "spine3": "SpineTop", "left_foot": "LeftToeBase", "right_foot": "RightToeBase",
    "neck": "NeckBase", "left_collar": "LeftShoulder", "right_collar": "RightShoulder", "head": "Head",
    "left_shoulder": "LeftArm", "right_shoulder": "RightArm", "left_elbow": "LeftForeArm",
    "right_elbow": "RightForeArm", "left_wrist": "LeftHand", "right_wrist": "RightHand",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class RoleMotion:
    """One clip in role space.

    `rotations` (T, 22, 4): D_world, the turn of each role from the canonical T-pose to now, in world axes, x y z w.
    `root` (T, 3): pelvis position in metres, Y up. `offsets` (22, 3): T-pose offset of each role from its parent role,
    metres, NaN where the source has no such joint (its rotation is then made up from its neighbours).
    """

    name: str
    subject: str
    split: Split
    fps: float
    rotations: Array
    root: Array
    offsets: Array


def read_motion(path: Path, *, root: Path | None = None) -> Iterator[RoleMotion]:
    """Yield the clips of one file; `root` is the folder the import began at, from which subjects are named.

    Raises FileError where the file cannot be read, GoalError or RigError where no body is found in it.
    """
    if path.suffix.lower() == ".npz" and _is_corpus(path):
        yield from _read_corpus(path)
        return
    from mimik.io import load_clip

    clip = load_clip(path)
    rotations, pelvis, offsets = clip_role_motion(clip)
    subject = subject_of(path, root)
    yield RoleMotion(path.stem, subject, split_of(path, subject, root), clip.fps, rotations, pelvis, offsets)


def find_motion(sources: Sequence[Path]) -> list[tuple[Path, Path]]:
    """List (file, folder it was found under) for files and folders, sorted; raises FileError when nothing is there."""
    found: list[tuple[Path, Path]] = []
    for source in sources:
        if source.is_dir():
            files = sorted(p for p in source.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
            found += [(p, source) for p in files]
        elif source.is_file():
            found.append((source, source.parent))
        else:
            raise FileError(source, "no such file or folder")
    if not found:
        names = ", ".join(map(str, sources))
        raise FileError(names, f"no motion found; valid: {', '.join(SUFFIXES)}")
    return found


def subject_of(path: Path, root: Path | None) -> str:
    """Guess the recorded person: the folder below `root`, else the part of the name before the take's number."""
    if root is not None and path.parent != root:
        return path.parent.relative_to(root).as_posix()
    return re.split(r"[_\-. ]", path.stem)[0] or path.stem


def split_of(path: Path, subject: str, root: Path | None) -> Split:
    """Return the split named in the file's name or in a folder below `root`, else one drawn from the subject's name.

    Of subjects drawn, 90 % train, 5 % validate and 5 % test; the same name is always drawn the same.
    """
    below = path.relative_to(root).parts[:-1] if root is not None and path.is_relative_to(root) else ()
    for part in (path.stem, *reversed(below)):
        for split in SPLITS:
            if split in re.split(r"[_\-. ]", part.lower()):
                return split
    draw = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:4], "big") / 2**32
    return "val" if draw < 0.05 else "test" if draw < 0.10 else "train"


def clip_role_motion(clip: Clip) -> tuple[Array, Array, Array]:
    """Return D_world (T, 22, 4), the pelvis' path (T, 3) and T-pose offsets (22, 3) of any clip.

    Offsets of roles its rig lacks are NaN. Raises RigError when the rig has no pelvis.
    """
    rotations, pelvis = rig_to_role_rotations(clip.rig, clip.pose())
    missing = [role not in clip.rig.roles for role in BODY_ROLES]
    offsets = np.where(np.array(missing)[:, None], np.nan, role_offsets(clip.rig))
    offsets[0] = 0.0
    return rotations, pelvis, offsets


def cmu_role_rotations(data: Mapping[str, np.ndarray]) -> Array:
    """Decode an opened corpus file into D_world (T, 22, 4), all clips behind one another.

    The corpus' T-pose has every joint at the identity, so D_world is the world rotation itself.
    """
    rotvec = np.cumsum(data["rotvec_delta"], axis=0, dtype=np.int16) * (np.pi / 32767)  # (T, 25, 3)
    q_local = rotvec_to_quat(rotvec)
    parents = data["parents"].astype(np.int64)
    q_world = q_local.copy()
    for j in range(1, len(parents)):
        q_world[:, j] = quat_mul(q_world[:, parents[j]], q_local[:, j])
    return quat_normalize(q_world[:, _corpus_index(data)])


def cmu_root(data: Mapping[str, np.ndarray]) -> Array:
    """Return the pelvis path (T, 3) of an opened corpus file, metres."""
    return np.cumsum(data["root_delta"], axis=0) * 1e-4


def _corpus_index(data: Mapping[str, np.ndarray]) -> IntArray:
    names = list(data["names"])
    return np.array([names.index(CORPUS_JOINTS[role]) for role in BODY_ROLES], dtype=np.int64)


def _is_corpus(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "rotvec_delta.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise FileError(path, f"not a readable .npz archive ({error})") from error


def _read_corpus(path: Path) -> Iterator[RoleMotion]:
    data = open_npz(path)
    try:
        rotations, root = cmu_role_rotations(data), cmu_root(data)
        place = _corpus_tpose(data)[_corpus_index(data)]
        starts = [int(s) for s in data["clip_starts"]]
        names, fps = [str(name) for name in data["clip_names"]], float(data["fps"])
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise FileError(path, f"is no corpus file ({error})") from error
    offsets = np.concatenate([np.zeros((1, 3)), place[1:] - place[BODY_PARENTS[1:]]])
    subject = path.stem.split("_")[-1]
    split = split_of(path, subject, None)
    for name, start, stop in zip(names, starts, [*starts[1:], len(root)]):
        span = slice(start, stop)
        yield RoleMotion(name, subject, split, fps, rotations[span], root[span], offsets)


def _corpus_tpose(data: Mapping[str, np.ndarray]) -> Array:
    place = data["offsets"].astype(np.float64)
    for j in range(1, len(place)):
        place[j] += place[data["parents"][j]]
    return place
