"""Motion over time: clips, resampling, contacts, smoothing, retargeting, error measures, sample motion."""

from mimik.motion.clip import Clip

__all__ = ["Clip"]
