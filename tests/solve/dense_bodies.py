"""Motion, landmarks and rigs with fewer joints for the tests of the dense solver."""

import numpy as np

from mimik.motion.sample import sample_clip
from mimik.rig import Rig, Skeleton
from mimik.rig.pose import LocalPose
from mimik.rig.role_kernels import BLEND
from mimik.rig.role_space import rig_to_role_rotations, role_map
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import identity_quat, quat_apply
from mimik.solve.dense.body import LANDMARK_JOINT, role_body


def motion(rig: Rig, name: str = "medley", *, fps: float = 4.0) -> LocalPose:
    """Return a sample motion whose joints between two roles, a second neck joint for one, stay straight."""
    D_world, pelvis = rig_to_role_rotations(rig, sample_clip(rig, name, fps=fps).pose())
    mapping = role_map(rig)
    straight = {int(j): identity_quat() for j in np.flatnonzero(mapping.rules == BLEND)}
    return mapping.to_rig(D_world, pelvis, own=straight)


def seen(rig: Rig, pose: LocalPose) -> np.ndarray:
    """Return positions by role (T, 22, 3), NaN for roles the rig lacks."""
    points = pose.positions()
    out = np.full((len(points), 22, 3), np.nan)
    for i, role in enumerate(BODY_ROLES):
        if role in rig.roles:
            out[:, i] = points[:, rig.roles[role]]
    return out


def landmarks(rig: Rig, pose: LocalPose) -> np.ndarray:
    """Return the landmarks (T, 22, 3) of a pose of a rig that has all roles."""
    D_world, _ = rig_to_role_rotations(rig, pose)
    return seen(rig, pose)[:, LANDMARK_JOINT] + quat_apply(D_world[:, LANDMARK_JOINT], role_body(rig).landmarks)


def lacking(rig: Rig, *roles: str) -> Rig:
    """Return the rig with the joints of some roles taken out; its axes must be those of the world."""
    s, gone = rig.skeleton, {rig.roles[role] for role in roles}
    assert np.allclose(rig.q_world_tpose, identity_quat())
    kept = [j for j in range(s.joint_count) if j not in gone]
    offsets, parents = s.offsets.copy(), []
    for j in kept:
        parent = int(s.parents[j])
        while parent in gone:
            offsets[j] += offsets[parent]
            parent = int(s.parents[parent])
        parents.append(-1 if parent < 0 else kept.index(parent))
    names = tuple(s.names[j] for j in kept)
    skeleton = Skeleton(names, np.array(parents), offsets[kept], s.rest[kept], s.tips[kept])
    left = {role: kept.index(j) for role, j in rig.roles.items() if j not in gone}
    return Rig(skeleton, rig.q_world_tpose[kept], left, name="lacking")
