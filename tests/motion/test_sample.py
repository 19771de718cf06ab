"""Sample motion: plausible, repeatable, on any rig."""

import numpy as np
import pytest

from mimik.api import load_rig
from mimik.errors import OptionError, RigError
from mimik.motion.contacts import clip_contacts
from mimik.motion.measures import floor_penetration, foot_slide, twist_jumps
from mimik.motion.sample import ACTIONS, SAMPLES, medley, sample_clip
from mimik.rig.proportions import with_height
from mimik.rig.role_space import ROLE_INDEX, rig_to_role_rotations
from mimik.rotation import geodesic, quat_inv, quat_mul, quat_to_rotvec
from tests.builders import SEED
from tests.motion.bodies import humanoid, turned_axes, without

RIG = humanoid()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_stands_on_the_floor_and_moves_smoothly(name):
    clip = sample_clip(RIG, name, seed=3)
    assert floor_penetration(clip).max() < 0.015
    assert foot_slide(clip) < 1.5
    assert twist_jumps(clip) == []
    step = geodesic(clip.rotations[:-1], clip.rotations[1:])
    assert np.degrees(step).max() < 30.0
    assert np.linalg.norm(np.diff(clip.root, axis=0), axis=1).max() * clip.fps < 5.0


@pytest.mark.parametrize("rig_name", ["smpl", "mixamo", "ue5", "vrm", "cmu"])
def test_the_same_body_moves_the_same_on_every_rig(rig_name):
    one, two = sample_clip(RIG, "walk"), sample_clip(load_rig(rig_name), "walk")
    a, b = (rig_to_role_rotations(c.rig, c.pose())[0] for c in (one, two))
    assert np.degrees(geodesic(a, b)).max() < 3.0


def test_axes_do_not_matter_and_children_walk_too():
    rng = np.random.default_rng(SEED)
    turned = sample_clip(turned_axes(RIG, rng), "walk", seconds=2)
    plain = sample_clip(RIG, "walk", seconds=2)
    assert np.abs(turned.positions() - plain.positions()).max() < 1e-9
    child = sample_clip(with_height(RIG, 1.1), "walk", seconds=2)
    assert floor_penetration(child).max() < 0.01
    assert clip_contacts(child).foot.any(axis=1).mean() > 0.9


def test_knees_and_elbows_bend_the_right_way():
    clip = sample_clip(RIG, "medley")
    D, _ = rig_to_role_rotations(RIG, clip.pose())
    for side, elbow_sign in (("left", -1.0), ("right", 1.0)):
        hip, knee, shoulder, elbow = (D[:, ROLE_INDEX[f"{side}_{p}"]] for p in ("hip", "knee", "shoulder", "elbow"))
        bend = quat_to_rotvec(quat_mul(quat_inv(hip), knee))
        assert bend[:, 0].min() > -0.02
        assert np.abs(bend[:, 1:]).max() < 1e-3
        assert (elbow_sign * quat_to_rotvec(quat_mul(quat_inv(shoulder), elbow))[:, 1]).min() > -0.05


def test_arms_swing_against_the_legs():
    clip = sample_clip(RIG, "walk", seconds=6)
    points = clip.positions() - clip.positions()[:, :1]
    path = clip.root[-1] - clip.root[0]
    forward = path / np.linalg.norm(path)

    def ahead(role):
        return (points[:, RIG.roles[role]] * forward).sum(1)

    feet = ahead("left_ankle") - ahead("right_ankle")
    hands = ahead("left_wrist") - ahead("right_wrist")
    assert np.corrcoef(feet, hands)[0, 1] < -0.7


def test_repeatable_and_varied():
    a, b, c = (sample_clip(RIG, "walk", seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.rotations, b.rotations)
    assert np.abs(a.rotations - c.rotations).max() > 0.01


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_length_and_rate(fps):
    for name in ("walk", "cartwheel"):
        clip = sample_clip(RIG, name, seconds=2.5, fps=fps)
        assert clip.frame_count == round(2.5 * fps)
        assert clip.fps == fps
    assert sample_clip(RIG, "wave", seconds=0.01, fps=fps).frame_count >= 1


def test_the_same_motion_at_any_rate():
    slow, fast = (sample_clip(RIG, "squat", seconds=3, fps=f).positions() for f in (30.0, 120.0))
    assert np.abs(slow - fast[::4]).max() < 0.01


def test_medley_joins_without_a_jolt():
    clip = medley(RIG, list(ACTIONS), seed=5)
    acceleration = np.diff(clip.positions(), n=2, axis=0) * clip.fps**2
    assert np.linalg.norm(acceleration, axis=2).max() < 260.0


def test_cartwheel_goes_over_the_head():
    clip = sample_clip(RIG, "cartwheel")
    points = clip.positions()
    head, ankle = points[:, RIG.roles["head"], 1], points[:, RIG.roles["left_ankle"], 1]
    assert (ankle > head + 0.5).any()
    assert points[:, RIG.roles["left_wrist"], 1].min() < 0.12


def test_fingers_curl_where_there_are_fingers():
    rig = load_rig("mixamo")
    clip = sample_clip(rig, "stand", seconds=0.5)
    assert geodesic(clip.rotations[0, rig.roles["left_index1"]], rig.tpose().rotations[rig.roles["left_index1"]]) > 0.1


def test_bodies_that_lack_something():
    armless = without(
        RIG, *(r for r in RIG.roles if any(p in r for p in ("shoulder", "elbow", "wrist", "foot", "collar")))
    )
    for name in ("reach", "cartwheel", "walk"):
        assert np.isfinite(sample_clip(armless, name).rotations).all()
    with pytest.raises(RigError, match="left_knee"):
        sample_clip(without(RIG, "left_knee"), "walk")


@pytest.mark.parametrize("bad", [{"name": "fly"}, {"seconds": -1.0}, {"fps": 0.0}, {"seconds": float("nan")}])
def test_bad_options_are_refused(bad):
    with pytest.raises(OptionError):
        sample_clip(RIG, **bad)
    with pytest.raises(OptionError, match="valid"):
        medley(RIG, ["walk", "fly"])
