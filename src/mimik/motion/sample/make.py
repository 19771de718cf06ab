"""From a named action, or several, to a clip on a rig."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mimik.errors import OptionError, one_of
from mimik.motion.clip import Clip
from mimik.motion.sample.actions import ACTIONS, NATURAL_SECONDS
from mimik.motion.sample.body import SampleBody, drift
from mimik.motion.sample.stage import Performance, concatenate, crop, finger_curls, role_rotations
from mimik.rig.rig import Rig
from mimik.rig.role_space import role_map

SAMPLES: tuple[str, ...] = (*ACTIONS, "medley")
"""Names `sample_clip` knows."""

MEDLEY = ("stand", "wave", "walk", "turn", "walk", "squat", "reach", "turn", "run", "cartwheel", "sit", "stand")
_STEADY = ("walk", "run")
_RUN_UP = 1.8


def sample_clip(
    rig: Rig, name: str = "walk", *, seconds: float | None = None, fps: float = 60.0, seed: int = 0
) -> Clip:
    """Make a clip of plausible motion; names: walk, run, squat, reach, wave, sit, turn, cartwheel, stand, medley.

    seconds  length; the action's natural length unless given. Walking and running are cut from the middle, under way.
    seed     other numbers give other variations of path, tempo and side.
    The same arguments give the same clip. Raises OptionError for an unknown name, RigError for a rig without a body.
    """
    if name not in SAMPLES:
        raise OptionError(one_of("sample motion", name, SAMPLES))
    if name == "medley":
        return medley(rig, seconds=seconds, fps=fps, seed=seed)
    seconds = _checked(NATURAL_SECONDS[name] if seconds is None else seconds, fps)
    body, rng = SampleBody.of(rig), np.random.default_rng(seed)
    frames = max(1, round(seconds * fps))
    if name in _STEADY:
        performance = crop(ACTIONS[name](body, seconds + 2 * _RUN_UP, fps, rng), round(_RUN_UP * fps), frames)
    else:
        natural = NATURAL_SECONDS[name]
        performance = crop(ACTIONS[name](body, max(seconds, 0.6 * natural), fps, rng), 0, frames)
    return _to_clip(rig, performance, name, rng)


def medley(
    rig: Rig,
    actions: Sequence[str] = MEDLEY,
    *,
    seconds: float | None = None,
    fps: float = 60.0,
    seed: int = 0,
) -> Clip:
    """Make one clip of several actions, each going on where the one before ended.

    seconds  length; the list is played at its natural pace, begun again or cut as needed. Natural length unless given.
    """
    for name in actions:
        if name not in ACTIONS:
            raise OptionError(one_of("sample action", name, ACTIONS))
    natural = sum(NATURAL_SECONDS[name] for name in actions)
    seconds = _checked(natural if seconds is None else seconds, fps)
    body, rng = SampleBody.of(rig), np.random.default_rng(seed)
    parts: list[Performance] = []
    while sum(p.frames for p in parts) < seconds * fps:
        parts += [ACTIONS[name](body, NATURAL_SECONDS[name] * rng.uniform(0.95, 1.1), fps, rng) for name in actions]
    performance = crop(concatenate(parts), 0, max(1, round(seconds * fps)))
    return _to_clip(rig, performance, "medley", rng)


def _checked(seconds: float, fps: float) -> float:
    if not (np.isfinite(seconds) and 0 < seconds <= 36_000):
        raise OptionError(f"seconds is {seconds}; it must be above 0 and at most 36000")
    if not (np.isfinite(fps) and 0 < fps <= 1000):
        raise OptionError(f"fps is {fps}; it must be above 0 and at most 1000")
    return float(seconds)


def _to_clip(rig: Rig, performance: Performance, name: str, rng: np.random.Generator) -> Clip:
    _breathe(performance, rng)
    mapping = role_map(rig)
    own = {rig.roles[role]: q for role, q in finger_curls(performance).items() if role in rig.roles}
    pose = mapping.to_rig(role_rotations(performance), performance.pelvis, own=own)
    return Clip(rig, pose.rotations, pose.root, fps=performance.fps, name=name)


def _breathe(p: Performance, rng: np.random.Generator) -> None:
    """Add what a living body never stops doing: breathing, glances, hands that are never quite still."""
    breath = np.sin(2 * np.pi * p.t / 3.6 + rng.uniform(0, 6))
    p.chest[:, 1] -= 0.7 * breath
    p.head[:, 1] += 0.5 * breath
    p.collar[:, :, 0] += 0.8 * breath[:, None]
    p.head[:, 0] += drift(rng, p.frames, p.fps, seconds=1.3, size=4.5)
    p.head[:, 1] += drift(rng, p.frames, p.fps, seconds=1.6, size=2.2)
    p.head[:, 2] += drift(rng, p.frames, p.fps, seconds=1.9, size=1.4)
    for side in range(2):
        p.arm[:, side, 1] += drift(rng, p.frames, p.fps, seconds=1.8, size=1.0)
        p.elbow[:, side] += drift(rng, p.frames, p.fps, seconds=1.5, size=1.6)
        p.pronation[:, side] += drift(rng, p.frames, p.fps, seconds=1.4, size=5.0)
        p.wrist[:, side, 0] += drift(rng, p.frames, p.fps, seconds=1.1, size=4.0)
        p.wrist[:, side, 1] += drift(rng, p.frames, p.fps, seconds=1.2, size=3.0)
