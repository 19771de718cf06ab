"""Naming habits in use, as role -> joint name, with the extra joints each of them brings along."""

from pathlib import Path

import numpy as np

from mimik.rig.figure import figure_points
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE
from mimik.rig.skeleton import Skeleton

SIDED = ("hip", "knee", "ankle", "foot", "collar", "shoulder", "elbow", "wrist")
MIDDLE = ("pelvis", "spine1", "spine2", "spine3", "neck", "head")


def _read():
    conventions, extras, name = {}, {}, ""
    text = Path(__file__).with_name("conventions.txt").read_text(encoding="utf-8")
    blocks = [line for line in text.splitlines() if line and not line.startswith("#")]
    for k, line in enumerate(blocks):
        if line.startswith("  + "):
            extras[name].append(tuple("" if w == "-" else w for w in line[4:].split("|")))
        elif not line.startswith("  "):
            name, left, right = line.split("|")
            conventions[name] = _roles(blocks[k + 1].strip(), blocks[k + 2].strip(), left, right)
            extras[name] = []
    return conventions, extras


def _roles(middle, limbs, left, right):
    found = dict(zip(MIDDLE, middle.split("|")))
    for side, word in (("left", left), ("right", right)):
        found.update({f"{side}_{part}": name.replace("{}", word) for part, name in zip(SIDED, limbs.split("|"))})
    return {role: name for role, name in found.items() if name != "-"}


CONVENTIONS, EXTRAS = _read()


def skeleton_of(convention, *, height=1.75, extras=True):
    """Return the skeleton of a convention and the right role -> joint."""
    roles = CONVENTIONS[convention]
    points = figure_points(height)
    rows = []  # name, parent name, place
    for role in BODY_ROLES:
        if role in roles:
            above = PARENT_ROLE[role]
            while above and above not in roles:
                above = PARENT_ROLE[above]
            rows.append((roles[role], roles.get(above, ""), points[role]))
    if extras:
        rows = _with_extras(rows, EXTRAS.get(convention, []), points, roles)
    order, by_name = [], {name: (parent, at) for name, parent, at in rows}
    assert len(by_name) == len(rows)
    while len(order) < len(rows):
        order += [n for n, p, _ in rows if n not in order and (p in order or not p)]
    parents = [order.index(by_name[n][0]) if by_name[n][0] else -1 for n in order]
    places = np.array([by_name[n][1] for n in order])
    offsets = np.array([places[j] - (places[p] if p >= 0 else 0.0) for j, p in enumerate(parents)])
    tips = np.full((len(order), 3), np.nan)
    return Skeleton.build(order, parents, offsets, tips=tips), {r: order.index(n) for r, n in roles.items()}


def _with_extras(rows, extras, points, roles):
    places = {n: at for n, _, at in rows}
    result = list(rows)
    for k, (name, parent, toward, *moved) in enumerate(extras):
        if not parent:  # a root above the pelvis
            result = [(n, p or name, at) for n, p, at in result] + [(name, "", np.zeros(3))]
            places[name] = np.zeros(3)
            continue
        end = points[toward] if toward else places[parent] + np.array([0.01 * (k % 3 - 1), 0.02, 0.05])
        places[name] = places[parent] + 0.5 * (end - places[parent])
        result = [(n, name if n in moved else p, at) for n, p, at in result] + [(name, parent, places[name])]
    return result


def shuffled(skeleton, roles, rng, rename=None):
    """Return the same skeleton with joints in another valid order, renamed by index if `rename` is given."""
    count = skeleton.joint_count
    order, open_joints = [], [0]
    while open_joints:
        j = open_joints.pop(int(rng.integers(len(open_joints))))
        order.append(j)
        open_joints += skeleton.children(j)
    new = {j: k for k, j in enumerate(order)}
    names_new = [
        skeleton.names[j] if rename is None else rename(k, int(rng.integers(10**6))) for k, j in enumerate(order)
    ]
    parents = [new.get(int(skeleton.parents[j]), -1) for j in order]
    moved = Skeleton.build(
        names_new, parents, skeleton.offsets[order], rest=skeleton.rest[order], tips=skeleton.tips[order]
    )
    assert count == moved.joint_count
    return moved, {role: new[j] for role, j in roles.items()}
