"""Sample motion made by us, on any rig: for the demo, the tests, and whoever wants to see something move."""

from mimik.motion.sample.actions import ACTIONS, NATURAL_SECONDS
from mimik.motion.sample.make import SAMPLES, medley, sample_clip

__all__ = ["ACTIONS", "NATURAL_SECONDS", "SAMPLES", "medley", "sample_clip"]
