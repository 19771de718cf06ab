"""Where names say nothing, roles come from lengths and symmetry, and left and right from where the figure faces."""

import numpy as np
import pytest

from mimik.rig.build import build_rig
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.proportions import random_body
from mimik.rig.roles import BODY_ROLES
from tests.rig.conventions import CONVENTIONS, shuffled, skeleton_of

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
    guess = {"spine1", "spine2", "spine3", "neck"} | ({"left_foot"} if convention == "daz" else set())  # metatarsals
    assert not set(wrong) - guess
