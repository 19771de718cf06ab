"""Small motions in role space and the files they come from."""

from pathlib import Path

import numpy as np

from mimik.learn.importers import CORPUS_JOINTS
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import quat_mul, quat_to_rotvec, rotvec_to_quat


def smooth_rotations(rng: np.random.Generator, frames: int, *, size: float = 0.5) -> np.ndarray:
    """Return D_world (frames, 22, 4) of a wandering body: local rotations that drift from frame to frame."""
    steps = rng.normal(size=(frames, len(BODY_ROLES), 3)) * 0.08
    q_local = rotvec_to_quat(np.clip(np.cumsum(steps, axis=0), -size, size))
    q_world = q_local.copy()
    for r in range(1, len(BODY_ROLES)):
        q_world[:, r] = quat_mul(q_world[:, BODY_PARENTS[r]], q_local[:, r])
    return q_world


def packed(q_world: np.ndarray) -> np.ndarray:
    """Return rotations as packs hold them: scaled rotation vectors, int16."""
    return np.rint(quat_to_rotvec(q_world) * (32767 / np.pi)).astype(np.int16)


def write_corpus(path: Path, rng: np.random.Generator, clip_frames: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Write a corpus file of the 22 roles and a forearm twist joint; return its local rotations and root path."""
    names = [CORPUS_JOINTS[role] for role in BODY_ROLES]
    parents = [int(p) for p in BODY_PARENTS]
    wrist = names.index("LeftHand")
    names.insert(wrist, "LeftForeArmTwist")
    parents = [p + (p >= wrist) for p in parents]
    parents.insert(wrist, parents[wrist])
    parents[wrist + 1] = wrist
    count = sum(clip_frames)
    q = rotvec_to_quat(rng.uniform(-0.6, 0.6, size=(count, len(names), 3)))
    rotvec = np.rint(quat_to_rotvec(q) * (32767 / np.pi)).astype(np.int16)
    root = rng.integers(-5000, 5000, size=(count, 3)).astype(np.int32)
    np.savez(
        path,
        names=names, parents=np.array(parents, dtype=np.int8), fps=np.float32(60),
        offsets=rng.uniform(-0.3, 0.3, size=(len(names), 3)).astype(np.float32),
        clip_names=[f"c{i}" for i in range(len(clip_frames))],
        clip_starts=np.cumsum([0, *clip_frames[:-1]]).astype(np.int32),
        rotvec_delta=np.diff(rotvec, axis=0, prepend=np.zeros((1, len(names), 3), dtype=np.int16)),
        root_delta=np.diff(root, axis=0, prepend=np.zeros((1, 3), dtype=np.int32)),
    )  # fmt: skip
    return {"rotvec": rotvec * (np.pi / 32767), "root": root * 1e-4, "parents": np.array(parents), "names": names}
