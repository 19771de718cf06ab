"""Whole takes through `mimik.solve`: noise and gaps where frames have neighbours."""

from collections import Counter

import numpy as np
from benchmarks.dense_data import FPS, TestPoses, Truth, noisy, posed, without
from benchmarks.dense_measure import Score, score

import mimik
from mimik._types import Array, BoolArray, IntArray
from mimik.goals.layouts import LAYOUTS, recognise
from mimik.motion.clip import Clip
from mimik.motion.measures import TWIST_JUMP_DEG, bone_axes, mpjae_deg, twist_jumps, twist_steps
from mimik.rig.builtin import builtin_rig
from mimik.rig.pose import LocalPose
from mimik.rig.roles import BODY_ROLES
from mimik.solve.dense.body import LANDMARKS

TAKES, TAKE_FRAMES, GAP_FRAMES = 8, 300, 15
TRACKERS = ("coco17", "body25", "mediapipe", "human36m")
ARM = ("left_shoulder", "left_elbow", "left_wrist")
FEET = ("left_ankle", "left_foot", "right_ankle", "right_foot")


def longest_takes(poses: TestPoses) -> list[Truth]:
    """Return the beginnings of each person's longest clips on `humanoid`, one clip a person first."""
    _, first, count = np.unique(poses.clip, return_index=True, return_counts=True)
    order = np.argsort(-count)
    _, best = np.unique(poses.subject[first[order]], return_index=True)
    chosen = order[np.sort(best)][:TAKES]
    rig = builtin_rig("humanoid")
    return [posed(rig, poses.take(slice(first[c], first[c] + min(count[c], TAKE_FRAMES)))) for c in chosen]


def solved(truth: Truth, points: Array) -> LocalPose:
    """Solve a take on its own body and return the poses."""
    keypoints = mimik.Keypoints(BODY_ROLES, points, FPS)
    return mimik.solve(keypoints, truth.rig, proportions="rig").pose()


def gaps(frames: int, count: int, *, seed: int = 0) -> BoolArray:
    """Hide `count` random joints, others every half second (frames, 22)."""
    rng = np.random.default_rng(seed)
    blocks = rng.random((frames // GAP_FRAMES + 1, len(BODY_ROLES))).argsort(axis=1) < count
    hidden: BoolArray = np.repeat(blocks, GAP_FRAMES, axis=0)[:frames]
    return hidden


def limb_gaps(frames: int, names: tuple[str, ...]) -> BoolArray:
    """Hide the same joints for the second half of each second (frames, 22)."""
    hidden = (np.arange(frames) // GAP_FRAMES) % 2 == 1
    return hidden[:, None] & np.array([role in names for role in BODY_ROLES])


def take_scores(poses: TestPoses) -> dict[str, Score]:
    """Solve the takes clean, with noise, and with gaps."""
    truths = longest_takes(poses)
    scores = {"clean": _score(truths, [t.points for t in truths])}
    for mm in (5.0, 10.0, 20.0, 40.0):
        spoiled = [noisy(t.points, mm / 1000, seed=i) for i, t in enumerate(truths)]
        scores[f"noise {mm:g} mm"] = _score(truths, spoiled)
    for count in (1, 2, 4):
        spoiled = [without(t.points, gaps(len(t.points), count, seed=i)) for i, t in enumerate(truths)]
        scores[f"{count} random joints hidden, half seconds"] = _score(truths, spoiled)
    for name, roles in (("left arm", ARM), ("both feet", FEET)):
        spoiled = [without(t.points, limb_gaps(len(t.points), roles)) for t in truths]
        scores[f"{name} hidden, half of the time"] = _score(truths, spoiled)
    return scores


def twist_jumps_of(poses: TestPoses, mm: float) -> dict[str, int]:
    """Solve every clip with so much noise; joint -> twist jumps of 30 degrees where the motion itself has none."""
    rig, found = builtin_rig("humanoid"), Counter[str]()
    _, first, count = np.unique(poses.clip, return_index=True, return_counts=True)
    for begin, frames in zip(first, count):
        if frames < 3:
            continue
        truth = posed(rig, poses.take(slice(begin, begin + frames)))
        clip = Clip(rig, solved(truth, noisy(truth.points, mm / 1000)).rotations, truth.pose.root, FPS)
        moved = np.degrees(np.abs(twist_steps(truth.pose.rotations, bone_axes(rig))))
        for jump in twist_jumps(clip):
            found[jump.joint] += int(moved[jump.frame, rig.skeleton.names.index(jump.joint)] <= TWIST_JUMP_DEG)
    return dict(+found)


def layout_scores(poses: TestPoses) -> dict[str, dict[str, float]]:
    """Solve the takes from the points of common trackers, whose noise lasts; layout -> noise -> MPJAE in degrees."""
    truths, rig, rows = longest_takes(poses), builtin_rig("humanoid"), {}
    for name in TRACKERS:
        layout = recognise(LAYOUTS[name].names, layout=name)
        rows[name] = {}
        for mm in (0.0, 10.0, 20.0):
            found = []
            for seed, truth in enumerate(truths):
                points = _points_of(layout.sites, truth) + lasting_noise(len(truth.points), len(layout.sites), mm, seed)
                take = mimik.Keypoints(layout.names, points, FPS, layout=name)
                found.append(mpjae_deg(mimik.solve(take, rig, proportions="person").rotations, truth.pose.rotations))
            rows[name][f"{mm:g} mm"] = float(np.mean(found))
    return rows


def lasting_noise(frames: int, points: int, mm: float, seed: int) -> Array:
    """Return noise (T, K, 3) in metres that keeps four fifths of itself from frame to frame."""
    fresh = np.random.default_rng(seed).normal(0.0, mm / 1000, (frames, points, 3))
    out = fresh.copy()
    for t in range(1, frames):
        out[t] = 0.8 * out[t - 1] + 0.6 * fresh[t]
    return out


def _points_of(sites: tuple[str, ...], truth: Truth) -> Array:
    """Return where the sites of a layout are (T, K, 3); NaN for those the truth has nothing of."""
    at = dict(zip(BODY_ROLES, np.moveaxis(truth.points, 1, 0))) | dict(
        zip(LANDMARKS, np.moveaxis(truth.landmarks, 1, 0))
    )
    for part in ("hip", "shoulder"):
        at[f"mid_{part}"] = 0.5 * (at[f"left_{part}"] + at[f"right_{part}"])
    nowhere = np.full((len(truth.points), 3), np.nan)
    return np.stack([at.get(site, nowhere) for site in sites], axis=1)


def _score(truths: list[Truth], points: list[Array]) -> Score:
    rig = truths[0].rig
    found = [solved(truth, p) for truth, p in zip(truths, points)]
    frames: IntArray = np.array([len(t.points) for t in truths])
    pose, true = _joined(rig, found), _joined(rig, [t.pose for t in truths])
    blank = np.empty((int(frames.sum()), 0, 3))
    return score(pose, Truth(rig, true, blank, blank))


def _joined(rig: mimik.Rig, poses: list[LocalPose]) -> LocalPose:
    rotations, root = (np.concatenate([getattr(p, name) for p in poses]) for name in ("rotations", "root"))
    return LocalPose(rig.skeleton, rotations, root)
