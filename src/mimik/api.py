"""The public calls that compose the folders: load a rig, load keypoints, solve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mimik.errors import OptionError, RigError, one_of
from mimik.goals.keypoints import Keypoints
from mimik.io import load_keypoints as _load_keypoints
from mimik.io import load_rig_file
from mimik.motion.clip import Clip
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


def solve(
    take: Keypoints | str | os.PathLike[str],
    rig: Rig | str | os.PathLike[str] = "humanoid",
    *,
    method: str = "dense",
    **options: Any,
) -> Clip:
    """Return the clip of a take of keypoints on a rig.

    take     keypoints, or a file of them
    rig      a rig, a built-in's name, or a file; a built-in by name takes the person's proportions, others keep theirs
    method   "dense" (the default network), "ikgat" (as published), "projected" (joint limits, no network)
    options  those of `mimik.takes.TakeOptions`: proportions, noise, smooth_hz, repair, hold_feet, layout, mapping
    The clip's `solution` holds what is left of each keypoint and the time; `notes` what was guessed and repaired.
    """
    from mimik.takes import TakeOptions, solve_take

    keypoints = take if isinstance(take, Keypoints) else load_keypoints(take)
    valid = [name for name in TakeOptions.__dataclass_fields__ if name != "method"]
    for name in options:
        if name not in valid:
            raise OptionError(one_of("option of solve", name, valid))
    body = rig if isinstance(rig, Rig) else load_rig(rig)
    if options.get("proportions", "auto") == "auto":
        options["proportions"] = "rig" if isinstance(rig, Rig) or body.source is not None else "person"
    return solve_take(keypoints, body, TakeOptions(method=method, **options))[0]  # type: ignore[arg-type]
