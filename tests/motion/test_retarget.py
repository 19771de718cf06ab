"""Retargeting and foot lock: the same motion on another body, feet where they stood."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from mimik.api import load_rig
from mimik.errors import OptionError, RigError
from mimik.motion.clip import Clip
from mimik.motion.contacts import FootContacts, clip_contacts, standing_heights
from mimik.motion.foot_lock import lock_feet, move_limb_ends, raise_hands
from mimik.motion.measures import floor_penetration, foot_slide
from mimik.motion.retarget import retarget
from mimik.motion.sample import sample_clip
from mimik.rig.proportions import with_height
from mimik.rig.role_space import rig_to_role_rotations
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic, quat_apply
from tests.builders import SEED
from tests.motion.bodies import humanoid, turned_axes, with_joint, without

RIG = humanoid()
WALK = sample_clip(RIG, "walk", seconds=3)
TARGETS = ("smpl", "mixamo", "ue5", "vrm", "cmu")


def long_legs(rig):
    """The rig with longer thighs, shorter shins and wider hips."""
    offsets = np.array(rig.offsets)
    for role, factor in (("knee", 1.25), ("ankle", 0.9), ("hip", 1.3)):
        for side in ("left", "right"):
            offsets[rig.roles[f"{side}_{role}"]] *= factor
    return rig.with_offsets(offsets)


def test_the_same_rig_is_the_identity():
    for rig in (RIG, load_rig("humanoid")):
        clip, report = retarget(WALK, rig)
        assert np.array_equal(clip.rotations, WALK.rotations)
        assert np.array_equal(clip.root, WALK.root)
        assert report.scale == 1.0


@pytest.mark.parametrize("name", TARGETS)
def test_role_rotations_are_carried_exactly(name):
    clip, report = retarget(WALK, load_rig(name), keep_feet=False)
    D, _ = rig_to_role_rotations(RIG, WALK.pose())
    found, _ = rig_to_role_rotations(clip.rig, clip.pose())
    assert geodesic(D, found).max() < 1e-9
    assert {row.role for row in report.rows if row.how == "carried"} >= set(BODY_ROLES)


@pytest.mark.parametrize("name", TARGETS)
def test_there_and_back_again(name):
    there, _ = retarget(WALK, load_rig(name), keep_feet=False)
    back, _ = retarget(there, RIG, keep_feet=False)
    assert geodesic(back.rotations, WALK.rotations).max() < 1e-9
    assert np.abs(back.root - WALK.root).max() < 0.01


def test_axes_and_binds_do_not_matter():
    target = turned_axes(load_rig("mixamo"), np.random.default_rng(SEED))
    one, _ = retarget(WALK, load_rig("mixamo"))
    two, _ = retarget(WALK, target)
    assert np.abs(one.positions() - two.positions()).max() < 1e-4
    three, _ = retarget(Clip(turned_axes(RIG, np.random.default_rng(1)), *_same_pose(1), WALK.fps), load_rig("mixamo"))
    assert np.abs(one.positions() - three.positions()).max() < 1e-4


def _same_pose(seed):
    """WALK on the turned humanoid: the same world motion."""
    from mimik.rig.role_space import role_rotations_to_rig

    pose = role_rotations_to_rig(
        turned_axes(RIG, np.random.default_rng(seed)), *rig_to_role_rotations(RIG, WALK.pose())
    )
    return pose.rotations, pose.root


@pytest.mark.parametrize("target", [long_legs(RIG), with_height(RIG, 1.2), load_rig("smpl")])
@pytest.mark.parametrize("name", ["walk", "squat", "turn"])
def test_feet_stay_where_they_stood(target, name):
    source = sample_clip(RIG, name, seconds=4, seed=2)
    clip, report = retarget(source, target)
    assert report.slide_cm_s[2] < 0.5
    assert floor_penetration(clip).max() < 0.012
    contacts = clip_contacts(source)
    again = clip_contacts(clip)
    assert (contacts.foot == again.foot).mean() > 0.93
    jerk = np.abs(np.diff(clip.positions(), n=2, axis=0)).max() - np.abs(np.diff(source.positions(), n=2, axis=0)).max()
    assert jerk < 0.025


def test_the_path_scales_with_the_legs():
    tall = with_height(RIG, 2.1)
    clip, report = retarget(WALK, tall, keep_feet=False)
    assert report.scale == pytest.approx(2.1 / 1.75, rel=0.02)
    went = np.linalg.norm(clip.root[-1] - clip.root[0]) / np.linalg.norm(WALK.root[-1] - WALK.root[0])
    assert went == pytest.approx(report.scale, rel=0.01)
    assert retarget(WALK, tall, scale="none")[1].scale == 1.0
    assert retarget(WALK, tall, scale=0.5)[1].scale == 0.5
    assert retarget(WALK, tall, scale="height")[1].scale == pytest.approx(1.2, rel=0.02)


def test_reach_is_kept_where_asked():
    clip = sample_clip(RIG, "reach")
    target = long_legs(RIG)
    offsets = np.array(target.offsets)
    for role in ("left_elbow", "right_elbow", "left_wrist", "right_wrist"):
        offsets[target.roles[role]] *= 1.15
    target = target.with_offsets(offsets)
    free, report = retarget(clip, target)
    kept, _ = retarget(clip, target, keep_reach=True)
    wanted = report.scale * clip.positions()[:, RIG.roles["left_wrist"]]
    wrists = [c.positions()[:, target.roles["left_wrist"]] for c in (free, kept)]
    missed = [np.median(np.linalg.norm(w - wanted, axis=1)) for w in wrists]
    assert missed[1] < 1e-6
    assert missed[0] > 0.01


def test_fingers_are_carried_and_lost_ones_said():
    source = sample_clip(load_rig("mixamo"), "wave")
    clip, _ = retarget(source, load_rig("vrm"), keep_feet=False)
    for role in ("left_index2", "right_pinky1"):
        angles = [
            geodesic(c.rotations[:, c.rig.roles[role]], c.rig.tpose().rotations[c.rig.roles[role]])
            for c in (source, clip)
        ]
        assert np.abs(angles[0] - angles[1]).max() < 0.02
        assert np.ptp(angles[1]) > 0.05 or angles[1].max() > 0.1
    _, report = retarget(source, RIG)
    assert any("fingers" in note for note in report.notes)


def test_odd_targets():
    for target in (with_joint(RIG, "extra", "spine2", child="spine3"), without(RIG, "left_collar", "spine1", "neck")):
        clip, report = retarget(WALK, target)
        assert np.isfinite(clip.rotations).all()
        assert foot_slide(clip) < 0.5
        json.dumps(asdict(report))
    legless = without(RIG, *(r for r in BODY_ROLES if any(p in r for p in ("hip", "knee", "ankle", "foot"))))
    clip, report = retarget(WALK, legless)
    assert any("feet" in note for note in report.notes)


def test_refusals():
    with pytest.raises(RigError, match="pelvis"):
        retarget(WALK, without(load_rig("smpl"), "pelvis"))
    with pytest.raises(OptionError, match="legs"):
        retarget(WALK, load_rig("smpl"), scale="arms")
    with pytest.raises(OptionError):
        retarget(WALK, load_rig("smpl"), scale=-1.0)


def sliding(seed=0):
    """A walk whose root drifts, so that its feet slide."""
    t = np.arange(WALK.frame_count) / WALK.fps
    drift = 0.06 * np.stack([np.sin(2.1 * t), 0 * t, 0.5 * np.sin(1.3 * t)], 1)
    return replace(WALK, root=WALK.root + drift)


def test_foot_lock_holds_sliding_feet():
    clip = sliding()
    contacts = clip_contacts(WALK)
    locked = lock_feet(clip, contacts)
    assert foot_slide(clip, contacts) > 4.0
    assert foot_slide(locked, contacts) < 0.3
    others = [j for r, j in RIG.roles.items() if not any(p in r for p in ("hip", "knee", "ankle", "foot"))]
    assert np.abs(locked.positions()[:, others] - clip.positions()[:, others])[..., [0, 2]].max() < 1e-9
    feet = [RIG.roles[f"{s}_ankle"] for s in ("left", "right")]
    assert geodesic(locked.world().rotations[:, feet], clip.world().rotations[:, feet]).max() < 1e-6


def test_foot_lock_leaves_still_feet_alone():
    locked = lock_feet(WALK)
    feet = [RIG.roles[r] for r in ("left_ankle", "right_ankle", "left_foot", "right_foot")]
    assert np.abs(locked.positions() - WALK.positions())[:, feet].max() < 0.006
    assert np.abs(locked.root - WALK.root).max() < 0.002
    nothing = lock_feet(without_contacts())
    assert nothing.frame_count == 5


def without_contacts():
    rise = np.arange(5)[:, None] * np.array([0.0, 1.0, 0.0])
    return replace(WALK[:5], root=WALK.root[:5] + rise)


def test_moving_limb_ends():
    rng = np.random.default_rng(SEED)
    move = 0.03 * rng.normal(size=(WALK.frame_count, 3))
    for rig in (RIG, with_joint(RIG, "roll", "left_elbow", child="left_wrist")):
        clip = sample_clip(rig, "walk", seconds=3)
        moved = move_limb_ends(clip, {("left_shoulder", "left_elbow", "left_wrist"): move})
        wrist = rig.roles["left_wrist"]
        missed = np.linalg.norm(moved.positions()[:, wrist] - clip.positions()[:, wrist] - move, axis=1)
        assert np.median(missed) < 1e-6
        assert geodesic(moved.world().rotations[:, wrist], clip.world().rotations[:, wrist]).max() < 1e-6


def sunk(clip, metres):
    """Lower the left leg's end for the second half: a foot below the floor, as a tracker's noise has it."""
    move = np.zeros((clip.frame_count, 3))
    move[clip.frame_count // 2 :, 1] = -metres
    return move_limb_ends(clip, {("left_hip", "left_knee", "left_ankle"): move})


def test_level_feet_are_lifted_onto_the_floor():
    walk = sample_clip(humanoid(), "walk", seconds=4)
    contacts = clip_contacts(walk)
    before = sunk(walk, 0.05)
    assert floor_penetration(before, contacts.floor).max() > 0.04
    held = lock_feet(before, contacts, level=True)
    assert floor_penetration(held, contacts.floor).max() < 0.012


def test_feet_on_a_step_stay_on_it():
    walk = sample_clip(humanoid(), "walk", seconds=4)
    contacts = clip_contacts(walk)
    up = replace(walk, root=walk.root + np.array([0.0, 0.3, 0.0]))
    both = np.concatenate([walk.rotations, up.rotations]), np.concatenate([walk.root, up.root])
    stairs = replace(walk, rotations=both[0], root=both[1])
    twice = FootContacts(np.tile(contacts.heel, (2, 1)), np.tile(contacts.toe, (2, 1)), contacts.floor)
    heights = standing_heights(stairs, twice)
    on_step = twice.foot & (np.arange(len(heights)) >= walk.frame_count)[:, None]
    assert np.abs(heights[on_step] - 0.3).max() < 0.03 and not heights[: walk.frame_count].any()
    held = lock_feet(stairs, twice, level=True, heights=heights)
    assert np.abs(held.positions() - stairs.positions())[walk.frame_count + 30 :, :, 1].max() < 0.05


def test_hands_are_bent_up_from_below_the_floor():
    squat = sample_clip(humanoid(), "squat", seconds=3)
    low = replace(
        squat, root=squat.root - [0.0, squat.positions()[:, squat.rig.roles["left_wrist"], 1].min() - 0.05, 0.0]
    )
    floor = 0.0
    tip = squat.rig.roles["left_wrist"]
    raised = raise_hands(low, floor)

    def lowest(clip):
        world = clip.world()
        ends = world.positions[:, tip] + quat_apply(world.rotations[:, tip], clip.rig.skeleton.tips[tip])
        return ends[world.positions[:, tip, 1] > floor, 1].min()

    assert lowest(low) < -0.02 and lowest(raised) > -1e-6
    assert np.abs(raised.positions() - low.positions()).max() < 1e-9
    seen = {"left_wrist": np.ones(low.frame_count, dtype=bool), "right_wrist": np.ones(low.frame_count, dtype=bool)}
    assert np.abs(raise_hands(low, floor, seen).rotations - low.rotations).max() < 1e-9
