"""The person on a rig: the trunk from hips and shoulders, where a layout has no spine."""

import numpy as np
import pytest
from tests.takes import layout_walk, walk_take

from mimik.goals.layouts import LAYOUTS, recognise
from mimik.goals.person import person_rig
from mimik.goals.proportions import fit_bone_lengths
from mimik.rig.builtin import builtin_rig
from mimik.rig.proportions import with_bone_lengths
from mimik.rig.roles import BODY_ROLES
from mimik.takes import TakeOptions, solve_take


def widths_and_height(places):
    """Hip width, shoulder width, and the height of the shoulders over the hips."""
    lh, rh, ls, rs = (places[role] for role in ("left_hip", "right_hip", "left_shoulder", "right_shoulder"))
    return [np.linalg.norm(lh - rh), np.linalg.norm(ls - rs), np.linalg.norm(ls + rs - lh - rh) / 2]


def fitted(name, points, rig):
    seen = recognise(LAYOUTS[name].names, layout=name).to_roles(points)
    exact = seen.trust >= 1.0
    return person_rig(rig, seen, fit_bone_lengths(seen.positions, seen.confidence * exact), 0.0)


@pytest.mark.parametrize("rig", ["humanoid", "ue5", "cmu"])
@pytest.mark.parametrize("stretch", [0.8, 1.0, 1.2])
def test_the_trunk_takes_its_height_and_widths_from_hips_and_shoulders(rig, stretch):
    points = layout_walk("coco17").copy()
    upper = [k for k, n in enumerate(LAYOUTS["coco17"].names) if not any(w in n for w in ("hip", "knee", "ankle"))]
    hips = [LAYOUTS["coco17"].names.index(f"{side}_hip") for side in ("left", "right")]
    shoulders = [LAYOUTS["coco17"].names.index(f"{side}_shoulder") for side in ("left", "right")]
    up = points[:, shoulders].mean(axis=1) - points[:, hips].mean(axis=1)
    points[:, upper] += (stretch - 1.0) * up[:, None]
    person = fitted("coco17", points, builtin_rig(rig))
    tpose = person.tpose().positions()
    found = widths_and_height({role: tpose[joint] for role, joint in person.roles.items()})
    one = {
        f"{s}_{p}": points[30, LAYOUTS["coco17"].names.index(f"{s}_{p}")]
        for s in ("left", "right")
        for p in ("hip", "shoulder")
    }
    assert found == pytest.approx(widths_and_height(one), rel=0.03)


def test_limbs_land_where_they_were_seen_on_a_body_of_another_build():
    """A trunk of the wrong length drags every limb along, however well its own bones fit."""
    rig = builtin_rig("humanoid")
    tall = with_bone_lengths(rig, {f"spine{k}": 1.25 * 0.107 for k in (1, 2, 3)})
    take = walk_take("halpe26")
    clip, _ = solve_take(take, tall, TakeOptions(proportions="person"))
    truth = layout_walk("roles")
    for role in ("left_shoulder", "right_wrist", "left_hip", "right_ankle"):
        off = np.linalg.norm(clip.positions()[:, clip.rig.roles[role]] - truth[:, BODY_ROLES.index(role)], axis=1)
        assert np.median(off) < 0.02


def test_a_spine_that_is_seen_is_left_to_its_own_bones():
    points = layout_walk("roles")
    rig = builtin_rig("humanoid")
    assert fitted("roles", points, rig) is rig
