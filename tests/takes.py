"""Takes of a walking body in any known layout, for the tests of keypoints and their files."""

from functools import cache

import numpy as np

from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LAYOUTS, recognise
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES


@cache
def role_walk(frames: int = 60, fps: float = 30.0) -> np.ndarray:
    """Return (T, 22, 3) joint centres of a walk, metres, Y up."""
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "walk", seconds=frames / fps + 0.1, fps=fps)
    positions = clip.positions()[:frames, [rig.roles[role] for role in BODY_ROLES]]
    positions.setflags(write=False)
    return positions


def layout_walk(name: str, frames: int = 60) -> np.ndarray:
    """Return (T, K, 3) the same walk as a known layout sees it; NaN for points without a place on the body."""
    sites = recognise(LAYOUTS[name].names, layout=name).sites
    walk = role_walk(frames)
    at = {role: walk[:, k] for k, role in enumerate(BODY_ROLES)}
    lateral = _unit(at["left_shoulder"] - at["right_shoulder"])
    forward = np.cross(lateral, [0.0, 1.0, 0.0])
    out = np.full((frames, len(sites), 3), np.nan)
    for k, site in enumerate(sites):
        side, _, part = site.partition("_")
        out_side = lateral if side == "left" else -lateral
        if site in at:
            out[:, k] = at[site]
        elif site in ("mid_hip", "mid_shoulder"):
            out[:, k] = (at[f"left_{site[4:]}"] + at[f"right_{site[4:]}"]) / 2
        elif site in ("nose", "head_top", "head_centre"):
            out[:, k] = at["head"] + {"nose": 0.1, "head_top": 0.0, "head_centre": 0.02}[site] * forward
            out[:, k, 1] += 0.2 if site == "head_top" else 0.08
        elif part in ("eye", "ear"):
            out[:, k] = at["head"] + out_side * (0.03 if part == "eye" else 0.07) + forward * 0.08 * (part == "eye")
            out[:, k, 1] += 0.1
        elif part == "heel":
            out[:, k] = at[f"{side}_ankle"] - 0.05 * forward - [0.0, 0.07, 0.0]
        elif part in ("big_toe", "small_toe"):
            out[:, k] = at[f"{side}_foot"] + 0.07 * forward + out_side * (0.03 if part == "small_toe" else -0.01)
        elif part.endswith("knuckle") or part.rstrip("123") != part:
            reach = 0.08 + 0.03 * (ord(part[-1]) - ord("1") if part[-1] in "123" else 0)
            spread = {"t": 0.04, "i": 0.02, "m": 0.0, "r": -0.015, "p": -0.03}[part[0]]
            along = _unit(at[f"{side}_wrist"] - at[f"{side}_elbow"])
            out[:, k] = at[f"{side}_wrist"] + reach * along + spread * forward
    return out


def walk_take(name: str = "body25", frames: int = 60) -> Keypoints:
    """Return the walk as keypoints of a known layout, 30 frames a second."""
    return Keypoints(LAYOUTS[name].names, layout_walk(name, frames), 30.0, layout=name)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
