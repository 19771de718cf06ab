"""The public calls that compose the folders: load a rig, load keypoints, solve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mimik.errors import RigError, one_of
from mimik.goals.keypoints import Keypoints
from mimik.io import load_keypoints as _load_keypoints
from mimik.io import load_rig_file
from mimik.rig.rig import Rig

BUILTIN_RIGS = ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu")


def load_rig(source: str | os.PathLike[str], *, height: float | None = None, **options: Any) -> Rig:
    """Return a rig: a built-in by name ("humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu"), or the rig of a file.

    height   stature in metres of a built-in (1.75 unless given)
    options  what the file's reader takes, for instance `roles={"left_elbow": "bone_7"}`
    Raises RigError for a name that is no built-in, FileError for a file that cannot be read.
    """
    name = os.fspath(source)
    if name in BUILTIN_RIGS:
        from mimik.rig.builtin import builtin_rig

        return builtin_rig(name, height=1.75 if height is None else height)
    if not Path(name).suffix and not Path(name).exists():
        raise RigError(one_of("built-in rig or file", name, BUILTIN_RIGS))
    rig = load_rig_file(source, **options)
    if height is not None:
        from mimik.rig.proportions import with_height

        rig = with_height(rig, height)
    return rig


def load_keypoints(source: str | os.PathLike[str], **options: Any) -> Keypoints:
    """Read a take of 3D keypoints; the layout, units and up axis are recognised or told.

    options  `layout="body25"`, `units="mm"`, `up="z"`, `fps=60`, and what the file's reader takes
    """
    return _load_keypoints(source, **options)
