"""Other bodies on the same rig: measured bone lengths, random people."""

import numpy as np
import pytest

from mimik.errors import OptionError, RigError
from mimik.rig.build import build_rig
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.proportions import body_height, bone_lengths, random_bodies, random_body, with_bone_lengths, with_height
from mimik.rotation import geodesic
from tests.builders import SEED


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_measured_lengths_are_met(name):
    rng = np.random.default_rng(SEED)
    rig = builtin_rig(name)
    wanted = {role: length * rng.uniform(0.8, 1.2) for role, length in bone_lengths(rig).items()}
    asked = with_bone_lengths(rig, wanted, symmetric=False)
    now = bone_lengths(asked)
    assert all(now[r] == pytest.approx(wanted[r], abs=1e-9) for r in wanted if "spine" not in r)
    assert asked.tpose().positions()[:, 1].min() > -1e-9


def test_symmetric_takes_the_mean_and_gaps_keep_the_rig():
    rig = builtin_rig("humanoid")
    body = with_bone_lengths(rig, {"left_forearm": 0.30, "right_wrist": 0.40, "left_knee": 0.5, "head": np.nan})
    lengths, before = bone_lengths(body), bone_lengths(rig)
    assert lengths["left_elbow"] == lengths["right_elbow"] == pytest.approx(0.30)
    assert lengths["left_wrist"] == lengths["right_wrist"] == pytest.approx(0.40)
    assert lengths["right_knee"] == pytest.approx(0.5)
    assert lengths["head"] == pytest.approx(before["head"])


def test_fingers_and_twist_bones_come_along():
    rig = builtin_rig("ue5")
    long = with_bone_lengths(rig, {"left_elbow": 2 * bone_lengths(rig)["left_elbow"]}, symmetric=False)
    j = rig.names.index("upperarm_twist_02_l")
    assert np.allclose(long.offsets[j], 2 * rig.offsets[j])
    assert np.allclose(
        long.offsets[rig.names.index("upperarm_twist_02_r")], rig.offsets[rig.names.index("upperarm_twist_02_r")]
    )


def test_bad_lengths_say_so():
    rig = builtin_rig("humanoid")
    with pytest.raises(RigError, match="left_knee"):
        with_bone_lengths(rig, {"left_knie": 0.4})
    for length in (0.0, -0.2, float("inf")):
        with pytest.raises(OptionError, match="positive"):
            with_bone_lengths(rig, {"left_knee": length})
    with pytest.raises(OptionError):
        with_height(rig, 0.0)


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_random_people_keep_the_tpose_and_vary(name):
    rng = np.random.default_rng(SEED)
    rig = builtin_rig(name)
    offsets, tips = random_bodies(rig, rng, 200)
    heights = [body_height(rig.with_offsets(o, t)) for o, t in zip(offsets, tips)]
    assert 0.95 < min(heights) < 1.5 and 1.8 < max(heights) < 2.15
    body = random_body(rig, rng)
    again = build_rig(body.skeleton)
    # trunk joints may be placed elsewhere; limbs, and with them the T-pose, stay
    limbs = [j for r, j in rig.roles.items() if r.endswith(("hip", "knee", "shoulder", "elbow", "wrist"))]
    assert np.rad2deg(geodesic(again.q_world_tpose, rig.q_world_tpose)[limbs].max()) < 0.01
    legs = {r: np.linalg.norm(offsets[:, rig.roles[r]], axis=-1) for r in ("left_knee", "right_knee")}
    assert np.std(legs["left_knee"]) > 0.02
    assert np.abs(legs["left_knee"] / legs["right_knee"] - 1).max() < 0.05
