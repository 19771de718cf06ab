"""mimik: human-body inverse kinematics. Keypoints, handles, trackers or goals in, joint rotations on your rig out.

Metres, radians, seconds; right-handed, Y up, facing +Z; quaternions `x y z w`. Names load on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Clip": "mimik.motion.clip",
    "Keypoints": "mimik.goals.keypoints",
    "MimikError": "mimik.errors",
    "Rig": "mimik.rig.rig",
    "Skeleton": "mimik.rig.skeleton",
    "Solution": "mimik.solve.solution",
    "load_clip": "mimik.io",
    "load_keypoints": "mimik.api",
    "load_rig": "mimik.api",
    "solve": "mimik.api",
}

if TYPE_CHECKING:
    from mimik.api import load_keypoints as load_keypoints
    from mimik.api import load_rig as load_rig
    from mimik.api import solve as solve
    from mimik.errors import MimikError as MimikError
    from mimik.goals.keypoints import Keypoints as Keypoints
    from mimik.io import load_clip as load_clip
    from mimik.motion.clip import Clip as Clip
    from mimik.rig.rig import Rig as Rig
    from mimik.rig.skeleton import Skeleton as Skeleton
    from mimik.solve.solution import Solution as Solution

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mimik' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
