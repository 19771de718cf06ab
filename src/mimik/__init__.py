"""mimik: human-body inverse kinematics. Keypoints, handles, trackers or goals in, joint rotations on your rig out.

Metres, radians, seconds; right-handed, Y up, facing +Z; quaternions `x y z w`. Names load on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "AboveGround": "mimik.goals.targets",
    "CentreOfMass": "mimik.goals.targets",
    "Clip": "mimik.motion.clip",
    "Direction": "mimik.goals.targets",
    "Distance": "mimik.goals.targets",
    "JointRange": "mimik.rig.limits",
    "Keypoints": "mimik.goals.keypoints",
    "Limits": "mimik.rig.limits",
    "LookAt": "mimik.goals.targets",
    "MimikError": "mimik.errors",
    "NearPose": "mimik.goals.targets",
    "Orientation": "mimik.goals.targets",
    "Pole": "mimik.goals.targets",
    "Position": "mimik.goals.targets",
    "Rig": "mimik.rig.rig",
    "Skeleton": "mimik.rig.skeleton",
    "Solution": "mimik.solve.solution",
    "Solver": "mimik.solve.projected.solver",
    "load_clip": "mimik.io",
    "load_keypoints": "mimik.api",
    "load_rig": "mimik.api",
    "pose": "mimik.solve.projected.solver",
    "solve": "mimik.api",
}

if TYPE_CHECKING:
    from mimik.api import load_keypoints as load_keypoints
    from mimik.api import load_rig as load_rig
    from mimik.api import solve as solve
    from mimik.errors import MimikError as MimikError
    from mimik.goals.keypoints import Keypoints as Keypoints
    from mimik.goals.targets import AboveGround as AboveGround
    from mimik.goals.targets import CentreOfMass as CentreOfMass
    from mimik.goals.targets import Direction as Direction
    from mimik.goals.targets import Distance as Distance
    from mimik.goals.targets import LookAt as LookAt
    from mimik.goals.targets import NearPose as NearPose
    from mimik.goals.targets import Orientation as Orientation
    from mimik.goals.targets import Pole as Pole
    from mimik.goals.targets import Position as Position
    from mimik.io import load_clip as load_clip
    from mimik.motion.clip import Clip as Clip
    from mimik.rig.limits import JointRange as JointRange
    from mimik.rig.limits import Limits as Limits
    from mimik.rig.rig import Rig as Rig
    from mimik.rig.skeleton import Skeleton as Skeleton
    from mimik.solve.projected.solver import Solver as Solver
    from mimik.solve.projected.solver import pose as pose
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
