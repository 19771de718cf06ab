"""The whole way of a take: keypoints of any layout in, a clip on any rig out, with a report of what was done.

layout -> repair -> roles -> bone lengths and noise -> smoothing -> solver -> twist -> the person's rig or the rig given
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mimik._types import Array, BoolArray
from mimik.errors import GoalError, OptionError, one_of
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LANDMARKS as LAYOUT_LANDMARKS
from mimik.goals.layouts import Layout, RolePoints, recognise
from mimik.goals.person import person_rig
from mimik.goals.proportions import BoneFit, fit_bone_lengths
from mimik.goals.repair import RepairReport, repair
from mimik.motion.clip import Clip
from mimik.motion.contacts import clip_contacts, standing_heights
from mimik.motion.denoise import band_noise, denoise, white_noise
from mimik.motion.foot_lock import lock_feet, raise_hands
from mimik.motion.retarget import retarget
from mimik.motion.smooth import smooth_values
from mimik.motion.straight_limbs import steady_straight_limbs
from mimik.motion.twist import continuous_twist
from mimik.rig.builtin import builtin_rig
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.solve.compile_note import announce_compiling
from mimik.solve.dense.body import LANDMARKS
from mimik.solve.dense.kernels import before
from mimik.solve.dense.solver import DenseSolver
from mimik.solve.solution import Solution
from mimik.takes_report import TakeReport, make_report

Method = Literal["dense", "ikgat", "projected"]
METHODS: tuple[Method, ...] = ("dense", "ikgat", "projected")
Proportions = Literal["auto", "person", "rig"]

NOISY = 0.003
"""Noise of keypoints in metres from which a recorded take's standing feet are held, unless told."""

FAINT = 0.001
"""Noise of keypoints in metres from which a recorded take is smoothed, unless told."""

NEAR_NOISE, NEAR_TOES = 0.02, 0.05
"""Noise in metres of a joint centre that a layout only comes near to; more for the base of the toes, which landmarks
tell better."""

MOST_NOISE_WITHOUT_SPINE = 0.010
"""Noise in metres told to the network at most where neither spine nor collars are seen: chests turn over beyond it."""

_SMALLEST, _LARGEST = 0.05, 50.0  # metres
_INDEPENDENT_STEP = 0.12  # median step of joints in metres from which frames may be no motion but single poses,
_OF_THE_WAY = 0.4  # unless it is less than this much of the way joints go in half the take
_LANDMARK_ROWS = np.array([LAYOUT_LANDMARKS.index(name) for name in LANDMARKS])
_CHEST = [BODY_ROLES.index(role) for role in ("spine1", "spine2", "spine3", "left_collar", "right_collar")]
_HAND = ("index_knuckle", "middle_knuckle", "pinky_knuckle", "thumb_knuckle")
_FOOT = ("heel", "big_toe", "small_toe")
_NEAR = np.array([NEAR_TOES if role.endswith("foot") else NEAR_NOISE for role in BODY_ROLES])
_ANKLES = [BODY_ROLES.index("left_ankle"), BODY_ROLES.index("right_ankle")]
_LIMB_BONES = [
    (BODY_PARENTS[j], j) for j, role in enumerate(BODY_ROLES) if role.endswith(("knee", "ankle", "elbow", "wrist"))
]
_PAIRS = [(i, BODY_ROLES.index("right" + r[4:])) for i, r in enumerate(BODY_ROLES) if r.startswith("left")]


@dataclass(frozen=True, slots=True)
class TakeOptions:
    """How a take is solved.

    method       "dense" (default), "ikgat" as published, or "projected" (joint limits, no network)
    proportions  "person": the rig takes the person's bone lengths; "rig": the motion is carried to the rig's own, feet
                 kept; "auto": the person's on a built-in rig given by name, the rig's own otherwise
    noise        standard deviation of the keypoints in metres; estimated unless given; 0 meets them exactly
    smooth_hz    zero-phase smoothing of the keypoints: None for where the take is noisy, 0 for never, or a cutoff
    repair       fill gaps, replace outliers, undo swapped sides
    hold_feet    hold standing feet still: None for where the take is noisy or carried to other legs
    """

    method: Method = "dense"
    proportions: Proportions = "auto"
    noise: float | None = None
    smooth_hz: float | None = None
    repair: bool = True
    hold_feet: bool | None = None
    layout: str = ""
    mapping: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        """Check the choices; raises OptionError."""
        if self.method not in METHODS:
            raise OptionError(one_of("method", self.method, METHODS))
        if self.proportions not in ("auto", "person", "rig"):
            raise OptionError(one_of("choice of proportions", self.proportions, ("auto", "person", "rig")))
        for name, value in (("noise", self.noise), ("smooth_hz", self.smooth_hz)):
            if value is not None and not (np.isfinite(value) and value >= 0.0):
                raise OptionError(f"{name} must be zero or a positive number, not {value}")


def solve_take(
    take: Keypoints,
    rig: Rig,
    options: TakeOptions | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> tuple[Clip, TakeReport]:
    """Return the clip of a take on a rig, and the report.

    Raises LayoutError for names nothing explains, GoalError for takes with too little to see or of no body's size,
    RigError for rigs that lack what a body needs.
    """
    options = options or TakeOptions()
    tell = progress or (lambda _: None)
    began = time.perf_counter()
    layout = recognise(
        take.names, len(take.names), layout=options.layout or take.layout, mapping=options.mapping, rig=rig,
        positions=take.positions,
    )  # fmt: skip
    if take.frame_count == 0:
        raise GoalError("the take has no frames")
    _check_size(take.positions)
    moving = _is_motion(take.positions)
    take, repaired = _repaired(take, layout, options, moving)
    tell("fitting the body")
    points = layout.to_roles(take.positions, take.confidence)
    exact = points.trust >= 1.0 if (points.trust >= 1.0).any() else points.trust > 0.0
    fit = fit_bone_lengths(points.positions, points.confidence * exact)
    noise = _noise(fit, points.positions) if options.noise is None else options.noise
    person = person_rig(rig, points, fit, noise)
    given = points.positions
    points, cutoff = _smoothed(points, take.fps, noise, options, moving)
    told = (
        noise
        if cutoff is None
        else _noise_left(noise, cutoff, take.fps, points, exact, given=options.noise is not None)
    )
    tell("solving")
    solution = _solve(points, person, _joint_noise(points, told), options.method)
    clip = Clip(person, solution.poses.rotations, solution.poses.root, take.fps, name="take", solution=solution)
    twisted = 0
    if moving and options.method == "dense" and noise > NOISY:
        clip = steady_straight_limbs(clip, told, known_ends=_known_ends(points))
    if moving and options.method == "dense":
        clip, twisted = continuous_twist(clip)
    tell("carrying to the rig")
    rough = noise > NOISY or bool((points.trust[_ANKLES] < 1.0).any())
    clip = _on_rig(clip, rig, options, noisy=rough and moving)
    if options.hold_feet is not False and moving and options.method == "dense":
        clip, more = continuous_twist(_hands_above_floor(clip, points))  # feet needed it before they were held
        twisted += more
    solution = replace(solution, poses=clip.pose(), seconds=time.perf_counter() - began)
    clip = replace(clip, solution=solution, name=take.layout or "take")
    report = make_report(
        take, clip, points, fit, repaired, given=given, noise=noise, cutoff=cutoff, twisted=twisted, moving=moving
    )
    return replace(clip, notes=(*take.notes, *layout.notes)), report


def prepare(method: Method = "dense") -> None:
    """Load what is compiled for a method, so that the first take's time is its own; after an install, compile it."""
    if method == "dense":
        announce_compiling(before)
    rig, rng, frames = builtin_rig("humanoid"), np.random.default_rng(0), 30
    sway = 0.05 * np.sin(np.arange(frames) / 5.0)[:, None, None] * rng.normal(size=(rig.joint_count, 3))
    points = rig.tpose().positions() + sway + rng.normal(0.0, 2.0 * NOISY, sway.shape)
    points[rng.random(points.shape[:2]) < 0.03] = np.nan
    solve_take(Keypoints(rig.names, points, 30.0), rig, TakeOptions(method, proportions="person"))


def _check_size(positions: Array) -> None:
    """Refuse points that no body spans, whatever its size: their units are not what was told."""
    seen = np.isfinite(positions).all(axis=2)
    frames = positions[seen.sum(axis=1) > 1]
    if not len(frames):
        return
    size = float(np.median(np.linalg.norm(np.nanmax(frames, axis=1) - np.nanmin(frames, axis=1), axis=1)))
    if not _SMALLEST < size < _LARGEST:
        raise GoalError(
            f"the points of a frame span {size:.3g} m; a body spans between {_SMALLEST:g} and {_LARGEST:g}: are their"
            " units right?"
        )


def _is_motion(positions: Array) -> bool:
    """Say whether frames follow one another: single poses stacked into one take jump by decimetres."""
    if len(positions) < 3:
        return False
    with np.errstate(invalid="ignore"):
        steps = np.linalg.norm(np.diff(positions, axis=0), axis=2)
        apart = np.linalg.norm(positions[len(positions) // 2 :] - positions[: -(len(positions) // 2)], axis=2)
    known, far = steps[np.isfinite(steps)], apart[np.isfinite(apart)]
    if not len(known):
        return False
    return bool(np.median(known) < max(_INDEPENDENT_STEP, _OF_THE_WAY * np.median(far) if len(far) else 0.0))


def _repaired(
    take: Keypoints, layout: Layout, options: TakeOptions, moving: bool
) -> tuple[Keypoints, RepairReport | None]:
    if not (options.repair and moving):
        return take, None
    return repair(take, layout)


def _noise(fit: BoneFit, positions: Array) -> float:
    """Return the keypoints' noise in metres: from bones that change length, or, in a few frames, from unlike sides."""
    if np.isfinite(fit.noise):
        return float(fit.noise)
    lengths = np.linalg.norm(positions - positions[:, np.maximum(BODY_PARENTS, 0)], axis=2)
    unlike = np.array([lengths[:, a] - lengths[:, b] for a, b in _PAIRS])
    known = unlike[np.isfinite(unlike)]
    return float(np.sqrt(np.mean(known**2)) / 2.0) if len(known) >= 3 else 0.0


def _smoothed(
    points: RolePoints, fps: float, noise: float, options: TakeOptions, moving: bool
) -> tuple[RolePoints, float | None]:
    """Return the points without noise, and the frequency in Hz up to which they kept their motion, None for all."""
    wanted = options.smooth_hz
    frames = len(points.positions)
    if not moving or frames < 15 or wanted == 0.0 or (wanted is None and noise <= FAINT):
        return points, None
    if wanted is None:
        in_bands = _band_noise(points, fps, noise, given=options.noise is not None)
        positions, cutoff = denoise(points.positions, fps, in_bands)
        return replace(points, positions=positions, landmarks=denoise(points.landmarks, fps, in_bands)[0]), cutoff
    if wanted >= 0.45 * fps:
        return points, None

    def clean(values: Array) -> Array:
        whole = np.isfinite(values).all(axis=(0, 2))
        out = np.array(values)
        if whole.any():
            out[:, whole] = smooth_values(values[:, whole], fps, wanted)
        return out

    return replace(points, positions=clean(points.positions), landmarks=clean(points.landmarks)), wanted


def _band_noise(points: RolePoints, fps: float, noise: float, *, given: bool) -> Array:
    """Return the noise in metres of each band of frequencies, as bones show it; white where none does."""
    white = white_noise(noise, fps)
    found = band_noise(points.positions, _LIMB_BONES, fps)
    if np.isnan(found).any():
        return white
    return found * noise / max(float(np.sqrt((found**2).sum())), 1e-9) if given else found


def _noise_left(noise: float, cutoff: float, fps: float, points: RolePoints, exact: BoolArray, *, given: bool) -> float:
    """Return the noise in metres that smoothing leaves: trackers' errors last, and show in bones that change length."""
    white = noise * min(1.0, (2.0 * cutoff / fps) ** 0.5)
    found = fit_bone_lengths(points.positions, points.confidence * exact).noise
    return white if given or not np.isfinite(found) else float(np.clip(found, white, noise))


def _hands_above_floor(clip: Clip, points: RolePoints) -> Clip:
    """Bend hands nobody saw up from below the floor, where there is one."""
    contacts = clip_contacts(clip)
    return raise_hands(clip, contacts.floor, _known_ends(points)) if contacts.foot.any() else clip


def _known_ends(points: RolePoints) -> dict[str, BoolArray]:
    """Return for wrists and ankles the frames (T,) in which more of the hand or foot is seen."""
    ends = {}
    for side in ("left", "right"):
        foot: BoolArray = np.isfinite(points.positions[:, BODY_ROLES.index(f"{side}_foot"), 0])
        for end, parts in (("wrist", _HAND), ("ankle", _FOOT)):
            rows = [LAYOUT_LANDMARKS.index(f"{side}_{part}") for part in parts]
            seen = np.asarray(np.isfinite(points.landmarks[:, rows, 0]).any(axis=1))
            ends[f"{side}_{end}"] = seen | foot if end == "ankle" else seen
    return ends


def _joint_noise(points: RolePoints, noise: float) -> Array:
    """Return the noise (T, 22) in metres of each joint: doubtful and only near points count as noisier."""
    doubt = 0.03 * (1.0 - np.clip(points.confidence, 0.0, 1.0))
    near = np.where((points.trust > 0.0) & (points.trust < 1.0), _NEAR, 0.0)
    told = np.sqrt(noise**2 + doubt**2)
    told = told if points.trust[_CHEST].any() else np.minimum(told, MOST_NOISE_WITHOUT_SPINE)
    return np.sqrt(told**2 + near**2)


def _solve(points: RolePoints, rig: Rig, noise: Array, method: Method) -> Solution:
    if method == "ikgat":
        from mimik.solve.dense.ikgat import solve_ikgat

        return solve_ikgat(points.positions, rig)
    if method == "projected":
        from mimik.solve.projected.keypoints import solve_keypoints_projected

        return solve_keypoints_projected(points.positions, rig)
    marks: Array | None = points.landmarks[:, _LANDMARK_ROWS]
    if marks is not None and not np.isfinite(marks).any():
        marks = None
    return DenseSolver(rig).solve(points.positions, landmarks=marks, noise=noise)


def _on_rig(clip: Clip, rig: Rig, options: TakeOptions, *, noisy: bool) -> Clip:
    """Carry the clip from the person's bones to the rig's own where that is wished; hold standing feet."""
    own = options.proportions == "rig" or (options.proportions == "auto" and rig.source is not None)
    hold = options.hold_feet
    if own and clip.rig is not rig:
        return retarget(clip, rig, keep_feet=hold is not False)[0]
    if (noisy if hold is None else hold) and clip.frame_count > 3:
        contacts = clip_contacts(clip)
        return lock_feet(clip, contacts, level=True, heights=standing_heights(clip, contacts))
    return clip
