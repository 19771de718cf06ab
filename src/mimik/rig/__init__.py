"""What a body is: skeleton, poses, kinematics, roles, rest pose, limits, built-in rigs."""

from mimik.rig.pose import LocalPose, WorldPose
from mimik.rig.rig import Rig
from mimik.rig.skeleton import Skeleton

__all__ = ["LocalPose", "Rig", "Skeleton", "WorldPose"]
