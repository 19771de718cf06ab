"""Spellings of point names: `LShoulder`, `left_shoulder`, `shoulder.L` and `mocap:L_Shoulder` all become one key."""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_LEFT = frozenset({"left", "l", "lt", "lft"})
_RIGHT = frozenset({"right", "r", "rt", "rgt"})
_FLUFF = frozenset({"joint", "jnt", "keypoint", "kp", "point", "pt", "bone", "pos", "position", "center", "centre"})
_BODY_WORD = re.compile(
    "shoulder|shldr|elbow|wrist|hip|knee|ankle|eye|ear|heel|toe|foot|hand|collar|clavicle|bigtoe|smalltoe|thigh|shank"
    "|uarm|larm|calf|shin|toes|arm|leg|forearm|upperarm|lowerarm|upleg|hipjoint|kneejoint|thumb|index|middle|ring|pinky"
)


def point_keys(names: Sequence[str]) -> list[str]:
    """Return one key a name: `left_` or `right_` and the joined other words, lower case.

    A subject's prefix (`Anna:LKNE`), a prefix or suffix that all names share (`mixamorigHips`, `Knee_study`) and
    filler words such as `joint` are dropped. A name without letters keeps its characters.
    """
    bare = [_without_namespace(name) for name in names]
    bare = _without_common_ends(bare)
    return [point_key(name) for name in bare]


def point_key(name: str) -> str:
    """Return the key of one name, taken by itself."""
    tokens = [token.lower() for token in _TOKEN.findall(_without_namespace(name))]
    if not tokens:
        return name.strip().lower()
    side, words = _split_side(tokens)
    kept = [word for word in words if word not in _FLUFF] or words
    return f"{side}_{''.join(kept)}" if side else "".join(kept)


def mirror_key(key: str) -> str:
    """Return the same key on the other side; a key without a side stays itself."""
    if key.startswith("left_"):
        return "right_" + key[5:]
    if key.startswith("right_"):
        return "left_" + key[6:]
    return key


def _without_namespace(name: str) -> str:
    return re.split(r"[:|]", name.strip())[-1] or name.strip()


def _without_common_ends(names: list[str]) -> list[str]:
    """Drop a prefix and suffix shared by all names, cut back to a place where one word ends."""
    if len(names) < 4:
        return names
    prefix = _shared_start(names)
    while prefix and not _ends_word(prefix, names):
        prefix = prefix[:-1]
    if prefix and _split_side([token.lower() for token in _TOKEN.findall(prefix)] + ["hip"])[0]:
        return names  # one side of a body only
    names = [name[len(prefix) :] for name in names] if all(len(n) > len(prefix) for n in names) else names
    suffix = _shared_start([name[::-1] for name in names])[::-1]
    while suffix and suffix[0].isalnum():
        suffix = suffix[1:]
    return [name[: len(name) - len(suffix)] for name in names] if suffix else names


def _shared_start(names: list[str]) -> str:
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return first[:length]


def _ends_word(prefix: str, names: list[str]) -> bool:
    if not prefix[-1].isalnum():
        return True
    following = {name[len(prefix) : len(prefix) + 1] for name in names}
    return len(prefix) > 2 and prefix[-1].islower() and all(c.isupper() for c in following)


def _split_side(tokens: list[str]) -> tuple[str, list[str]]:
    """Split off the word that names a side; a glued one (`lshoulder`, `leftknee`) only before a word of the body."""
    for i, token in enumerate(tokens):
        if len(tokens) > 1 and (token in _LEFT or token in _RIGHT):
            return ("left" if token in _LEFT else "right"), tokens[:i] + tokens[i + 1 :]
    first = tokens[0]
    for side in ("left", "right"):
        if first.startswith(side) and len(first) > len(side):
            return side, [first[len(side) :], *tokens[1:]]
        if first.endswith(side) and len(first) > len(side):
            return side, [first[: -len(side)], *tokens[1:]]
    if first[0] in "lr" and _BODY_WORD.fullmatch(first[1:]):
        return ("left" if first[0] == "l" else "right"), [first[1:], *tokens[1:]]
    if first[-1] in "lr" and _BODY_WORD.fullmatch(first[:-1]):
        return ("left" if first[-1] == "l" else "right"), [first[:-1], *tokens[1:]]
    return "", tokens
