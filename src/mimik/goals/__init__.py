"""What is observed or wished of a body: keypoints of a take, and goals for single joints."""

from mimik.goals.keypoints import Keypoints

__all__ = ["Keypoints"]
