"""Foot contacts: true to the motion, whatever the frame rate, noise and size."""

import numpy as np
import pytest

from mimik.motion.clip import Clip
from mimik.motion.contacts import ContactRule, clip_contacts, intervals, leg_length, point_contacts
from mimik.motion.resample import resample
from mimik.motion.sample import sample_clip
from mimik.rig.proportions import with_height
from tests.builders import SEED
from tests.motion.bodies import humanoid, without

RIG = humanoid()


def steps(fps, seconds=4.0, stand=0.6, swing=0.4, height=0.1, stride=0.8):
    """A point that stands and swings; the truth with it."""
    t = np.arange(round(seconds * fps)) / fps
    u = t % (stand + swing)
    s = np.clip((u - stand) / swing, 0, 1)
    ease = s**3 * (10 - 15 * s + 6 * s * s)
    z = stride * (t // (stand + swing) + ease)
    y = 0.02 + height * np.sin(np.pi * s) ** 2
    return np.stack([0 * t, y, z], 1), u < stand


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("scale", [0.6, 1.0])
def test_standing_is_found_at_any_rate_and_size(fps, scale):
    points, truth = steps(fps)
    found = point_contacts(points * scale, fps, scale=scale)
    assert (found == truth).mean() > 0.93
    assert len(intervals(found)) == len(intervals(truth))


@pytest.mark.parametrize("noise", [0.001, 0.003, 0.006])
def test_noise_does_not_chop_it_up(noise):
    points, truth = steps(60.0)
    noisy = points + noise * np.random.default_rng(SEED).normal(size=points.shape)
    found = point_contacts(noisy, 60.0)
    assert (found == truth).mean() > 0.85
    assert len(intervals(found)) == len(intervals(truth))


def test_hanging_still_in_the_air_is_not_standing():
    t = np.arange(240) / 60.0
    points = np.zeros((240, 3))
    points[:, 1] = np.where((t > 1) & (t < 3), 0.4, 0.0)
    found = point_contacts(points, 60.0)
    assert found[:55].all()
    assert not found[70:170].any()


def test_a_slow_slide_is_not_standing():
    t = np.arange(180) / 60.0
    points = np.stack([0 * t, 0 * t, 0.3 * t], 1)
    points[:60] = points[60]
    found = point_contacts(points, 60.0)
    assert found[:55].all() and not found[75:].any()


def test_missing_frames_are_never_contact():
    points, _ = steps(60.0)
    points[10:14] = np.nan
    found = point_contacts(points, 60.0)
    assert not found[10:14].any()
    assert not point_contacts(np.full((30, 3), np.nan), 60.0).any()
    assert point_contacts(np.zeros((0, 3)), 60.0).shape == (0,)
    assert point_contacts(np.zeros((1, 3)), 60.0).shape == (1,)


def test_a_walk_stands_on_one_foot_or_two():
    clip = sample_clip(RIG, "walk", seconds=5)
    contacts = clip_contacts(clip)
    assert contacts.foot.any(axis=1).all()
    assert 0.55 < contacts.foot.mean() < 0.75
    assert abs(contacts.floor) < 0.005
    heel, toe = (intervals(m[:, 0]) for m in (contacts.heel, contacts.toe))
    assert all(any(abs(a - b) < 12 for b, _ in heel) for a, _ in toe if a > 12)


def test_the_floor_is_found_where_it_is():
    clip = sample_clip(RIG, "walk", seconds=3)
    raised = Clip(RIG, clip.rotations, clip.root + np.array([0, 0.73, 0]), clip.fps)
    assert clip_contacts(raised).floor == pytest.approx(0.73, abs=0.005)
    jump = Clip(RIG, clip.rotations, clip.root + np.linspace(0, 20, clip.frame_count)[:, None] * [0, 1.0, 0], clip.fps)
    assert not clip_contacts(jump).foot.any()


def test_the_rate_does_not_change_the_contacts():
    clip = sample_clip(RIG, "walk", seconds=4, fps=120)
    fast = clip_contacts(clip).foot[::4]
    slow = clip_contacts(resample(clip, 30.0)).foot
    assert (fast[: len(slow)] == slow).mean() > 0.95


def test_feet_a_rig_lacks_are_never_in_contact():
    rig = without(RIG, "left_ankle", "left_foot", "right_foot")
    walk = sample_clip(RIG, "walk", seconds=2)
    contacts = clip_contacts(Clip(rig, walk.rotations, walk.root, walk.fps))
    assert not contacts.foot[:, 0].any()
    assert contacts.heel[:, 1].any() and not contacts.toe[:, 1].any()
    bare = clip_contacts(
        Clip(without(RIG, *(r for r in RIG.roles if "ankle" in r or "foot" in r)), walk.rotations, walk.root)
    )
    assert not bare.foot.any() and bare.floor == 0.0


def test_rule_and_leg_length():
    assert leg_length(with_height(RIG, 0.875)) == pytest.approx(0.5 * leg_length(RIG), rel=0.01)
    points, _ = steps(60.0)
    assert not point_contacts(points, 60.0, ContactRule(slow=0.0)).any()
