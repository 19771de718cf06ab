"""Error and quality measures. Angles in radians, lengths in metres; names say where a unit differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, ArrayLike, BoolArray
from mimik.motion.clip import Clip
from mimik.motion.contacts import FOOT_ROLES, FootContacts, clip_contacts, foot_points
from mimik.rig.rig import Rig
from mimik.rig.role_space import tpose_positions
from mimik.rig.roles import PARENT_ROLE
from mimik.rotation import (
    geodesic,
    procrustes,
    quat_apply,
    quat_inv,
    quat_mul,
    quat_to_rotvec,
    swing_twist,
    twist_angle,
)

TWIST_JUMP_DEG = 30.0


def joint_angle_error(q_local: ArrayLike, q_local_true: ArrayLike) -> Array:
    """Return the angle (..., J) between local rotations (..., J, 4); its mean is the MPJAE."""
    return geodesic(q_local, q_local_true)


def mpjae_deg(q_local: ArrayLike, q_local_true: ArrayLike) -> float:
    """Mean per-joint angle error in degrees of local rotations (..., J, 4)."""
    return float(np.degrees(joint_angle_error(q_local, q_local_true).mean()))


def swing_twist_error(q_local: ArrayLike, q_local_true: ArrayLike, axes: ArrayLike) -> tuple[Array, Array]:
    """Split the error of local rotations (..., J, 4) into swing and twist (..., J), both at least 0.

    axes  (J, 3) bone directions in the joints' own frames, see `bone_axes`. The swing is how far the bone points away
    from where it should, the twist how far it is turned about itself.
    """
    swing, twist = swing_twist(quat_mul(quat_inv(q_local_true), q_local), axes)
    return np.linalg.norm(quat_to_rotvec(swing), axis=-1), np.linalg.norm(quat_to_rotvec(twist), axis=-1)


def mpjpe(points: ArrayLike, points_true: ArrayLike) -> float:
    """Mean distance in metres between points (..., J, 3); NaN points are left out."""
    return float(np.nanmean(np.linalg.norm(np.asarray(points) - np.asarray(points_true), axis=-1)))


def p_mpjpe(points: ArrayLike, points_true: ArrayLike) -> float:
    """Mean distance in metres after each frame (J, 3) is best moved, turned and scaled onto the truth (Procrustes)."""
    a, b = np.asarray(points, dtype=np.float64), np.asarray(points_true, dtype=np.float64)
    a, b = a - a.mean(axis=-2, keepdims=True), b - b.mean(axis=-2, keepdims=True)
    turned = np.einsum("...ij,...nj->...ni", procrustes(a, b), a)
    size = (turned**2).sum(axis=(-2, -1), keepdims=True)
    scale = (turned * b).sum(axis=(-2, -1), keepdims=True) / np.maximum(size, 1e-12)
    return mpjpe(scale * turned, b)


def pck(points: ArrayLike, points_true: ArrayLike, threshold: float = 0.05) -> float:
    """Share of points (..., J, 3) within `threshold` metres of the truth; NaN points are left out."""
    distance = np.linalg.norm(np.asarray(points) - np.asarray(points_true), axis=-1)
    seen = np.isfinite(distance)
    return float((distance[seen] <= threshold).mean()) if seen.any() else float("nan")


def foot_slide(clip: Clip, contacts: FootContacts | None = None) -> float:
    """Mean speed over the floor of standing feet, in cm/s; 0 when the feet never stand.

    A foot that rolls does not slide: where heel and toe both stand, the slower of the two counts.
    """
    contacts = clip_contacts(clip) if contacts is None else contacts
    speeds: list[Array] = []
    for side, points in enumerate(foot_points(clip)):
        speed = np.full(max(clip.frame_count - 1, 0), np.inf)
        for (point, _), stands in zip(points, (contacts.heel, contacts.toe)):
            step = np.linalg.norm(np.diff(point[:, [0, 2]], axis=0), axis=1)
            both = stands[1:, side] & stands[:-1, side]
            speed = np.where(both, np.minimum(speed, step * clip.fps), speed)
        speeds.append(speed[np.isfinite(speed)])
    standing = np.concatenate(speeds)
    return float(100.0 * standing.mean()) if len(standing) else 0.0


def floor_penetration(clip: Clip, floor: float = 0.0) -> Array:
    """Return how deep (T,) in metres the lowest part of the body lies below the floor; 0 where none does.

    Joints and bone ends from the pelvis down count, not what stands above it (a root on the ground). Ankles and toe
    joints are measured by their soles: the height they have in the T-pose.
    """
    world, sole = clip.world(), np.zeros(clip.rig.joint_count)
    standing = tpose_positions(clip.rig)[:, 1]
    for roles in FOOT_ROLES:
        for role in roles:
            if role in clip.rig.roles:
                sole[clip.rig.roles[role]] = standing[clip.rig.roles[role]]
    flat = np.abs(quat_apply(_turned(clip, world.rotations), np.array([0.0, 1.0, 0.0]))[..., 1])
    pelvis = clip.rig.roles.get("pelvis", 0)
    body = np.array([clip.rig.skeleton.descends_from(j, pelvis) for j in range(clip.rig.joint_count)])
    lowest = (world.positions[..., 1] - sole * flat)[:, body].min(axis=1)
    tips = clip.rig.skeleton.tips
    ends = np.isfinite(tips).all(axis=1) & body
    if ends.any():
        reach = quat_apply(world.rotations[:, ends], tips[ends])[..., 1]
        lowest = np.minimum(lowest, (world.positions[:, ends, 1] + reach).min(axis=1))
    return np.maximum(floor - lowest, 0.0)


def jitter(points: ArrayLike, fps: float) -> float:
    """Mean size of the third time derivative of points (T, J, 3), in m/s^3; 0 for fewer than four frames."""
    points = np.asarray(points, dtype=np.float64)
    if len(points) < 4:
        return 0.0
    return float(np.nanmean(np.linalg.norm(np.diff(points, n=3, axis=0), axis=-1)) * fps**3)


def twist_steps(rotations: ArrayLike, axes: ArrayLike) -> Array:
    """Return how far each joint twists about its bone from frame to frame: signed (T-1, J) radians.

    rotations (T, J, 4) local; axes (J, 3), see `bone_axes`. Free of the singularity a twist from rest has.
    """
    q = np.asarray(rotations, dtype=np.float64)
    return twist_angle(quat_mul(quat_inv(q[:-1]), q[1:]), axes)


@dataclass(frozen=True, slots=True)
class TwistJump:
    """A joint that twists too far from `frame` to the next one, by `degrees`."""

    joint: str
    frame: int
    degrees: float


def twist_jumps(clip: Clip, *, above_deg: float = TWIST_JUMP_DEG) -> list[TwistJump]:
    """List the places where a joint twists more than `above_deg` degrees about its bone between two frames."""
    steps = np.degrees(twist_steps(clip.rotations, bone_axes(clip.rig)))
    found = np.argwhere(np.abs(steps) > above_deg)
    return [TwistJump(clip.rig.names[j], int(t), float(steps[t, j])) for t, j in found]


def bone_axes(rig: Rig) -> Array:
    """Return the unit direction (J, 3) of each joint's bone in the joint's own frame.

    It points to the child that carries the body on (elbow after shoulder), else the only or the farthest child, else
    the bone's tip; a leaf without a tip goes on as its parent's bone does in the T-pose.
    """
    next_role = {PARENT_ROLE[role]: role for role in PARENT_ROLE if not role.endswith(("collar", "hip", "eye", "jaw"))}
    next_role["pelvis"], next_role["spine3"] = "spine1", "neck"
    role_of = {joint: role for role, joint in rig.roles.items()}
    axes = np.zeros((rig.joint_count, 3))
    for j in range(rig.joint_count):
        children = rig.skeleton.children(j)
        ahead = rig.roles.get(next_role.get(role_of.get(j, ""), ""), -1)
        chosen = [c for c in children if rig.skeleton.descends_from(ahead, c)] if ahead > j else []
        if chosen or children:
            child = chosen[0] if chosen else max(children, key=lambda c: float(np.linalg.norm(rig.offsets[c])))
            axes[j] = rig.offsets[child]
        elif np.isfinite(rig.skeleton.tips[j]).all():
            axes[j] = rig.skeleton.tips[j]
        if np.linalg.norm(axes[j]) < 1e-9:
            axes[j] = _parents_direction(rig, axes, j)
        axes[j] /= np.linalg.norm(axes[j])
    return axes


def _parents_direction(rig: Rig, axes: Array, joint: int) -> Array:
    parent = int(rig.parents[joint])
    if parent < 0:
        return np.array([0.0, 1.0, 0.0])
    in_world = quat_apply(rig.q_world_tpose[parent], axes[parent])
    return quat_apply(quat_inv(rig.q_world_tpose[joint]), in_world)


def _turned(clip: Clip, q_world: Array) -> Array:
    return quat_mul(q_world, quat_inv(clip.rig.q_world_tpose))


def limit_hits(clip: Clip, *, beyond_deg: float = 1.0) -> BoolArray:
    """Return where joints stand on a limit (T, J) as the clip's solver found it, else where they stand beyond one.

    beyond_deg  degrees a joint may exceed its range unnoticed. All False on a rig without limits.
    """
    if clip.solution is not None and clip.solution.limits_touched.shape == clip.rotations.shape[:2]:
        return clip.solution.limits_touched
    if clip.rig.limits is None or not clip.frame_count:
        return np.zeros(clip.rotations.shape[:2], dtype=np.bool_)
    from mimik.solve.projected.model import build_model

    model = build_model(clip.rig)
    inside = model.values_to_pose(*model.pose_to_values(clip.pose()))
    return np.asarray(geodesic(inside.rotations, clip.rotations) > np.radians(beyond_deg))
