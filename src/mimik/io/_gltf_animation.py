"""Animations of a glTF document: channels, their key times, and sampling all of them at one frame rate."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, one_of
from mimik.io._gltf_accessors import accessor_count, read_floats
from mimik.io._gltf_document import Document, Json
from mimik.io._gltf_nodes import NodeTree
from mimik.rotation import quat_normalize, quat_slerp

_WIDTHS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")
COMMON_FPS = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 100.0, 120.0, 240.0, 24 / 1.001, 30 / 1.001, 60 / 1.001)
_ON_FRAME = 0.01  # a key this near to a frame, in frames, stands on it
_FREE_FRAMES = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """Keys of one property of one node: times (K,) in seconds, values (K, W), or (K, 3, W) for CUBICSPLINE."""

    node: int
    path: str
    times: Array
    values: Array
    interpolation: str


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Sampled node transforms: node -> (T, 3) or (T, 4); nodes without keys are absent."""

    fps: float
    frame_count: int
    translation: dict[int, Array]
    rotation: dict[int, Array]
    scale: dict[int, Array]
    name: str
    notes: tuple[str, ...]


def keyed_nodes(doc: Document, animation: Json) -> set[int]:
    """Return the nodes whose translation, rotation or scale an animation moves."""
    nodes = set()
    for channel in doc.objects(animation.get("channels"), "channels"):
        target = _target(doc, channel)
        if target is not None:
            nodes.add(target[0])
    return nodes


def choose_animation(doc: Document, wanted: str | int | None, nodes: Iterable[int]) -> tuple[int, tuple[str, ...]]:
    """Return the index of the animation to read, and notes.

    `wanted` is a name or an index; None takes the first that moves one of `nodes`. Raises OptionError for a name or
    index the file does not have, FileError when nothing moves the skeleton.
    """
    animations = doc.table("animations")
    names = [animation_name(doc, i) for i in range(len(animations))]
    if wanted is not None:
        if isinstance(wanted, int) and 0 <= wanted < len(animations):
            return wanted, ()
        if wanted not in names:
            raise OptionError(one_of("animation of this file", wanted, [*names, *map(str, range(len(names)))]))
        return names.index(str(wanted)), ()
    moved = set(nodes)
    moving = [i for i, animation in enumerate(animations) if keyed_nodes(doc, animation) & moved]
    if not moving:
        what = "its animations do not move the skeleton" if animations else "it has no animation"
        raise doc.fail(f"{what}; load it as a rig instead")
    others = [names[i] for i in moving[1:]]
    notes = (f"read animation {names[moving[0]]!r}; others: {', '.join(others[:20])} (option animation=)",)
    return moving[0], notes if others else ()


def animation_name(doc: Document, index: int) -> str:
    """Return the name of an animation, "animation_N" when it has none."""
    name = doc.table("animations")[index].get("name")
    return name if isinstance(name, str) and name else f"animation_{index}"


def read_motion(doc: Document, tree: NodeTree, index: int, nodes: Iterable[int], fps: float | None) -> Motion:
    """Sample the channels of `nodes` at one rate: `fps`, or the one their keys stand on."""
    channels = _read_channels(doc, doc.table("animations")[index], set(nodes))
    keys = np.unique(np.concatenate([c.times for c in channels])) if channels else np.zeros(1)
    start, span = float(keys[0]), float(keys[-1] - keys[0])
    stored = _stored_fps(doc.table("animations")[index])
    rate, notes = _frame_rate(keys, stored) if fps is None else (_checked_fps(fps), [])
    frames = span * rate
    if frames > _FREE_FRAMES + 4 * sum(len(c.times) for c in channels):
        raise doc.fail(f"its keys span {span:.0f} s, {frames:.0f} frames at {rate:g} fps; pass a lower fps")
    frame_count = int(np.floor(frames + _ON_FRAME)) + 1
    if start > 0.5 / rate:
        notes.append(f"the animation starts at {start:.3f} s; frame 0 is its first key")
    times = start + np.arange(frame_count) / rate
    doc.spend(frame_count * 8 * sum(c.values.shape[-1] for c in channels))
    sampled: dict[str, dict[int, Array]] = {path: {} for path in _WIDTHS}
    for channel in channels:
        sampled[channel.path].setdefault(channel.node, _sample(channel, times, 1.0 / rate))
    name = animation_name(doc, index)
    return Motion(rate, frame_count, sampled["translation"], sampled["rotation"], sampled["scale"], name, tuple(notes))


def _read_channels(doc: Document, animation: Json, nodes: set[int]) -> list[Channel]:
    samplers = doc.objects(animation.get("samplers"), "animation samplers")
    times_of: dict[str, Array] = {}
    channels = []
    for i, entry in enumerate(doc.objects(animation.get("channels"), "channels")):
        target = _target(doc, entry)
        if target is None or target[0] not in nodes:
            continue
        node, path = target
        sampler = samplers[doc.index(entry.get("sampler"), len(samplers), f"sampler of channel {i}")]
        kind = sampler.get("interpolation", "LINEAR")
        if kind not in _INTERPOLATIONS:
            raise doc.fail(one_of(f"known interpolation (channel {i})", kind, _INTERPOLATIONS))
        source = sampler.get("input")
        if str(source) not in times_of:
            times_of[str(source)] = _key_times(doc, source, f"key times of channel {i}")
        times = times_of[str(source)]
        per_key = 3 if kind == "CUBICSPLINE" else 1
        if accessor_count(doc, sampler.get("output"), f"values of channel {i}") != per_key * len(times):
            raise doc.fail(f"channel {i} needs {per_key * len(times)} values for {len(times)} {kind} keys")
        values = read_floats(doc, sampler.get("output"), _WIDTHS[path], f"values of channel {i}")
        if per_key == 3:
            values = values.reshape(len(times), 3, -1)
        channels.append(Channel(node, path, times, values, kind))
    return channels


def _target(doc: Document, channel: Json) -> tuple[int, str] | None:
    """Return node and property of a channel, None when it moves no node: morph weights, or targets of extensions."""
    target = doc.mapping(channel.get("target"), "channel target")
    path, node = target.get("path"), target.get("node")
    if not isinstance(path, str) or path not in _WIDTHS or node is None:
        return None
    return doc.index(node, len(doc.table("nodes")), "target node of a channel"), path


def _key_times(doc: Document, source: object, what: str) -> Array:
    times = read_floats(doc, source, "SCALAR", what)[:, 0]
    if not len(times):
        raise doc.fail(f"the {what} are empty")
    back = np.flatnonzero(np.diff(times) < 0.0)
    if len(back):
        raise doc.fail(
            f"the {what} go back at key {back[0] + 1}, from {times[back[0]]:g} s to {times[back[0] + 1]:g} s"
        )
    return times


def _sample(channel: Channel, times: Array, step: float) -> Array:
    """Return values (T, W) at the given times; held before the first and after the last key."""
    keys, values = channel.times, channel.values
    turns = channel.path == "rotation"
    plain = values[:, 1] if values.ndim == 3 else values
    plain = quat_normalize(plain) if turns else plain
    if len(keys) == len(times) and np.abs(keys - times).max() < 0.1 * step:
        return plain  # a key on every frame
    low = np.clip(np.searchsorted(keys, times + _ON_FRAME * step, side="right") - 1, 0, len(keys) - 1)
    high = np.minimum(low + 1, len(keys) - 1)
    span = keys[high] - keys[low]
    u = np.where(span > 0.0, (times - keys[low]) / np.where(span > 0.0, span, 1.0), 0.0)
    u = np.where(np.abs(times - keys[low]) < _ON_FRAME * step, 0.0, np.clip(u, 0.0, 1.0))
    if channel.interpolation == "STEP":
        return plain[low]
    if channel.interpolation == "CUBICSPLINE":
        spline = _hermite(values, np.asarray(low), high, span, u)
        return quat_normalize(spline) if turns else spline
    if turns:
        between = u > 0.0
        out = plain[low]
        out[between] = quat_slerp(plain[low[between]], plain[high[between]], u[between])
        return out
    return plain[low] + (plain[high] - plain[low]) * u[:, None]


def _hermite(values: Array, low: IntArray, high: IntArray, span: Array, u: Array) -> Array:
    """Evaluate glTF cubic splines: values (K, 3, W) are in-tangent, value, out-tangent of each key."""
    u, span = u[:, None], span[:, None]
    square, cube = u * u, u * u * u
    start = (2 * cube - 3 * square + 1) * values[low, 1] + span * (cube - 2 * square + u) * values[low, 2]
    return start + (3 * square - 2 * cube) * values[high, 1] + span * (cube - square) * values[high, 0]


def _checked_fps(fps: float) -> float:
    if not 0.01 <= fps <= 10_000.0:
        raise OptionError(f"fps is {fps!r}; valid are 0.01 to 10000")
    return float(fps)


def _stored_fps(animation: Json) -> float | None:
    """Return the rate mimik left in an animation's extras."""
    extras = animation.get("extras")
    fps = extras.get("fps") if isinstance(extras, dict) else None
    return float(fps) if isinstance(fps, int | float) and 0.01 <= fps <= 10_000.0 else None


def _frame_rate(keys: Array, stored: float | None) -> tuple[float, list[str]]:
    """Return the slowest rate whose frames hold all keys, and a note on how it was found."""
    if stored is not None and _on_frames(keys, stored):
        return stored, []
    gaps = np.diff(keys)
    gaps = gaps[gaps > 1e-5]
    if not len(gaps):
        return 30.0, ["a single key: 30 fps assumed (option fps=)"]
    own = 1.0 / float(np.median(gaps))
    near = [rate for rate in COMMON_FPS if abs(own - rate) < 1e-3 * rate and _on_frames(keys, rate)]
    if near:
        return near[0], [f"{near[0]:g} fps, from the key times"]
    fitting = [rate for rate in COMMON_FPS if _on_frames(keys, rate)]
    if fitting:
        return fitting[0], [f"{fitting[0]:g} fps: the slowest usual rate that holds all keys (option fps=)"]
    if 5.0 <= own <= 1000.0 and _on_frames(keys, own):
        return own, [f"{own:.3f} fps, from the key times"]
    return 60.0, ["keys on no common frame grid: sampled at 60 fps (option fps=)"]


def _on_frames(keys: Array, rate: float) -> bool:
    frames = (keys - keys[0]) * rate
    # float32 times lose digits in long takes
    slack = 0.02 + 2e-7 * float(np.abs(keys).max()) * rate
    return slack < 0.2 and bool(np.abs(frames - np.round(frames)).max() < slack)
