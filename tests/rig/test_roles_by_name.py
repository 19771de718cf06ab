"""Roles are right on every naming habit, in any joint order, with the extra joints each brings."""

import numpy as np
import pytest

from mimik.rig.role_names import roles_from_names
from mimik.rig.roles import BODY_ROLES
from tests.rig.conventions import CONVENTIONS, shuffled, skeleton_of

BY_NAME = [c for c in CONVENTIONS if c not in ("numbered", "daz-genesis3-spanish")]


@pytest.mark.parametrize("convention", BY_NAME)
def test_names_give_the_roles(convention):
    skeleton, truth = skeleton_of(convention)
    found = {r: j for r, j in roles_from_names(skeleton).items() if r in BODY_ROLES}
    wrong = {r: (skeleton.names[found[r]] if r in found else None) for r in truth if found.get(r) != truth[r]}
    extra = {r: skeleton.names[found[r]] for r in found if r not in truth}
    assert not wrong and not extra


@pytest.mark.parametrize("convention", BY_NAME)
def test_joint_order_does_not_matter(convention):
    rng = np.random.default_rng(5)
    skeleton, truth = shuffled(*skeleton_of(convention), rng)
    found = {r: j for r, j in roles_from_names(skeleton).items() if r in BODY_ROLES}
    assert found == truth
