"""Where names say nothing, roles come from lengths and symmetry, and left and right from where the figure faces."""

import numpy as np
import pytest

from mimik.rig.build import build_rig
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.proportions import random_body
from mimik.rig.roles import BODY_ROLES
from mimik.rig.skeleton import Skeleton
from tests.rig.conventions import CONVENTIONS, shuffled, skeleton_of
from tests.rig.test_roles_by_name import BY_NAME

ARBITRARY = [
    lambda k, n: f"bone_{n}_{k}",
    lambda k, n: f"骨{n + k}号{k}",
    lambda k, n: f"{'ab'[n % 2]}{k}",
    lambda k, n: f"ข้อ {k}",
]


def body(roles):
    return {r: j for r, j in roles.items() if r in BODY_ROLES}


@pytest.mark.parametrize("rename", ARBITRARY)
@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_builtin_rigs_with_arbitrary_names(name, rename):
    rng = np.random.default_rng(3)
    rig = random_body(builtin_rig(name), rng)
    skeleton, truth = shuffled(rig.skeleton, body(rig.roles), rng, rename)
    found = body(build_rig(skeleton).roles)
    wrong = {r: (found.get(r), truth.get(r)) for r in BODY_ROLES if found.get(r) != truth.get(r)}
    assert not wrong


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_conventions_with_arbitrary_names(convention):
    rng = np.random.default_rng(4)
    skeleton, truth = shuffled(*skeleton_of(convention), rng, ARBITRARY[0])
    found = body(build_rig(skeleton).roles)
    wrong = {r: (found.get(r), truth.get(r)) for r in BODY_ROLES if found.get(r) != truth.get(r)}
    guess = {"left_foot"} if convention == "daz" else set()  # a joint between ankle and toes on one side alone
    assert not set(wrong) - guess


@pytest.mark.parametrize("convention", BY_NAME)
def test_a_few_joints_whose_names_say_nothing(convention):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        skeleton, truth = skeleton_of(convention)
        names = list(skeleton.names)
        for role in rng.choice(list(truth), int(rng.integers(1, 6)), replace=False):
            names[truth[role]] = f"ข้อ {rng.integers(10**6)}"
        renamed = Skeleton.build(names, skeleton.parents, skeleton.offsets, rest=skeleton.rest, tips=skeleton.tips)
        rig = build_rig(renamed)
        found = body(rig.roles)
        wrong = {r: (found.get(r), truth.get(r)) for r in BODY_ROLES if found.get(r) != truth.get(r)}
        assert not set(wrong) - ({"left_foot"} if convention == "daz" else set())


def test_what_the_shape_filled_in_is_said_and_a_mapping_goes_before_it():
    rig = builtin_rig("mixamo")
    elbow = rig.roles["left_elbow"]
    names = ["左肘 関節" if j == elbow else name for j, name in enumerate(rig.names)]
    skeleton = Skeleton.build(names, rig.parents, rig.offsets, rest=rig.skeleton.rest)
    found = build_rig(skeleton)
    assert found.roles == rig.roles
    assert any("left_elbow = 左肘 関節" in note for note in found.notes)
    assert "left_elbow" not in build_rig(skeleton, roles={"left_elbow": ""}).roles
