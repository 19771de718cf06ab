"""IK-GAT as published, run by ONNX Runtime: `method="ikgat"`.

The network gives world rotations by role; `RoleMap` carries them to the rig. Nothing is fitted afterwards: bones keep
the rig's own lengths, and joints end where the rotations put them.
"""

import json
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from mimik._types import Array, ArrayLike
from mimik.errors import FileError, GoalError
from mimik.rig.hinges import with_usual_hinges
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.role_space import ROLE_COUNT, role_map
from mimik.rig.roles import BODY_ROLES
from mimik.solve.dense.ikgat_kernel import sixd_to_roles
from mimik.solve.solution import Solution

BATCH = 256  # frames per run of the network: its activations stay in cache


@lru_cache(maxsize=4)
def ikgat_session(path: Path | None = None, threads: int = 1) -> tuple[Any, Array]:
    """Load the network once: the packaged weights, or another file; raises FileError when there is none.

    Returns the session and the bone frames B (22, 3, 3) its rotations are relative to: D_world = R B^T.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        with as_file(files("mimik.weights") / "ikgat.onnx") as packaged:
            session = onnxruntime.InferenceSession(str(path or packaged), options, providers=["CPUExecutionProvider"])
        contract = json.loads(session.get_modelmeta().custom_metadata_map["mimik"])
        return session, np.array(contract["details"]["tpose_frames"])
    except Exception as error:  # onnxruntime raises kinds of its own for missing and broken files
        raise FileError(path or "ikgat.onnx", f"cannot be loaded as a network ({error})") from error


def ikgat_rotations(positions: ArrayLike, *, path: Path | None = None, threads: int = 1) -> Array:
    """Return D_world (T, 22, 4) of role positions (T, 22, 3): metres, Y up, every joint there.

    Where the person stands does not matter. Raises GoalError for missing joints, which this method cannot do without.
    """
    points = np.ascontiguousarray(positions, dtype=np.float32)
    if points.ndim != 3 or points.shape[1:] != (ROLE_COUNT, 3):
        raise GoalError(f"role positions have shape {points.shape}; expected (frames, {ROLE_COUNT}, 3)")
    if not np.isfinite(points).all():
        frame, role = np.argwhere(~np.isfinite(points).all(axis=2))[0]
        raise GoalError(f"{BODY_ROLES[role]} is missing in frame {frame}; the method 'ikgat' needs every joint")
    session, frames = ikgat_session(path, threads)
    rotations = np.empty((len(points), ROLE_COUNT, 4))
    for start in range(0, len(points), BATCH):
        part = slice(start, start + BATCH)
        sixd_to_roles(session.run(None, {"positions": points[part]})[0], frames, rotations[part])
    return rotations


def ikgat_pose(positions: ArrayLike, rig: Rig, *, path: Path | None = None, threads: int = 1) -> LocalPose:
    """Return the rig's local pose for role positions (T, 22, 3); see `ikgat_rotations`."""
    rotations = ikgat_rotations(positions, path=path, threads=threads)
    return role_map(with_usual_hinges(rig)).to_rig(rotations, np.asarray(positions)[:, 0])


def solve_ikgat(positions: ArrayLike, rig: Rig, *, path: Path | None = None, threads: int = 1) -> Solution:
    """Solve role positions (T, 22, 3) on a rig; residuals are the distances left at the rig's roles, metres."""
    poses = ikgat_pose(positions, rig, path=path, threads=threads)
    roles = [role for role in BODY_ROLES if role in rig.roles]
    reached = poses.positions()[:, [rig.roles[role] for role in roles]]
    wished = np.asarray(positions, dtype=np.float64)[:, [BODY_ROLES.index(role) for role in roles]]
    frames = len(wished)
    return Solution(
        poses=poses,
        goal_names=tuple(roles),
        residuals=np.linalg.norm(reached - wished, axis=-1),
        iterations=np.zeros(frames, dtype=np.int64),
        limits_touched=np.zeros((frames, rig.joint_count), dtype=np.bool_),
        status=("predicted",) * frames,
    )
