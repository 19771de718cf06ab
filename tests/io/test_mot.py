import numpy as np
import pytest

from mimik.errors import FileError, RigError
from mimik.io.mot import coordinates
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.role_space import ROLE_INDEX, rig_to_role_rotations, role_rotations_to_rig
from mimik.rotation import euler_to_quat, geodesic, identity_quat, quat_mul, rotvec_to_quat
from tests.builders import SEED


def clip_of(D: np.ndarray) -> Clip:
    rig = builtin_rig("humanoid")
    pose = role_rotations_to_rig(rig, D, np.zeros((len(D), 3)))
    return Clip(rig, pose.rotations, pose.root, 30.0)


def turned(roles: list[str], rotvec: list[float]) -> dict[str, np.ndarray]:
    """Return coordinates of one frame in which some roles are turned from the T-pose about our axes."""
    D = identity_quat(1, 22).copy()
    for role in roles:
        D[:, ROLE_INDEX[role]] = rotvec_to_quat(np.array(rotvec))
    return coordinates(clip_of(D))[0]


def below(*roles: str) -> list[str]:
    legs = ["hip", "knee", "ankle", "foot"]
    arms = ["shoulder", "elbow", "wrist"]
    found = []
    for role in roles:
        side, _, part = role.partition("_")
        chain = legs if part in legs else arms
        found += [f"{side}_{p}" for p in chain[chain.index(part) :]]
    return found


HALF = np.pi / 6
EVERYTHING = list(ROLE_INDEX)


@pytest.mark.parametrize(
    ("roles", "rotvec", "name", "degrees"),
    [
        (below("left_hip"), [-HALF, 0, 0], "hip_flexion_l", 30),
        (below("right_hip"), [-HALF, 0, 0], "hip_flexion_r", 30),
        (below("left_hip"), [0, 0, HALF], "hip_adduction_l", -30),
        (below("right_hip"), [0, 0, -HALF], "hip_adduction_r", -30),
        (below("left_hip"), [0, -HALF, 0], "hip_rotation_l", 30),
        (below("right_hip"), [0, HALF, 0], "hip_rotation_r", 30),
        (below("left_knee"), [HALF, 0, 0], "knee_angle_l", 30),
        (below("left_ankle"), [-HALF, 0, 0], "ankle_angle_l", 30),
        (below("right_foot"), [-HALF, 0, 0], "mtp_angle_r", 30),
        (below("left_elbow"), [0, -HALF, 0], "elbow_flex_l", 30),
        (below("right_elbow"), [0, HALF, 0], "elbow_flex_r", 30),
        (below("left_wrist"), [HALF, 0, 0], "pro_sup_l", 30),
        (below("right_elbow"), [HALF, 0, 0], "pro_sup_r", 30),
        (below("left_wrist"), [0, 0, -HALF], "wrist_flex_l", 30),
        (EVERYTHING, [-HALF, 0, 0], "pelvis_tilt", 30),
        (EVERYTHING, [0, HALF, 0], "pelvis_rotation", 30),
        (EVERYTHING, [0, 0, HALF], "pelvis_list", 30),
    ],
)
def test_signs_and_zeros_of_the_coordinates(roles, rotvec, name, degrees):
    angles = turned(roles, rotvec)
    assert angles[name][0] == pytest.approx(degrees, abs=1e-6)
    arms_out = {"arm_add_l", "arm_add_r"}
    for other, value in angles.items():
        if other not in (name, *arms_out):
            assert value[0] == pytest.approx(0, abs=1e-6), other


def test_arms_hang_at_zero():
    D = identity_quat(1, 22).copy()
    for side, sign in (("left", -1), ("right", 1)):
        for role in below(f"{side}_shoulder"):
            D[:, ROLE_INDEX[role]] = rotvec_to_quat(np.array([0, 0, sign * np.pi / 2]))
    angles, _ = coordinates(clip_of(D))
    assert max(abs(v[0]) for v in angles.values()) < 1e-6


def test_ball_joints_read_back(tmp_path):
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "cartwheel", fps=30.0)
    notes = clip.save(tmp_path / "a.mot")
    assert any("collars" in note for note in notes)
    lines = (tmp_path / "a.mot").read_text().splitlines()
    assert "inDegrees=yes" in lines and f"nRows={clip.frame_count}" in lines
    start = lines.index("endheader") + 1
    table = np.array([[float(x) for x in line.split("\t")] for line in lines[start + 1 :]])
    column = dict(zip(lines[start].split("\t"), table.T))
    assert f"nColumns={len(column)}" in lines and np.allclose(np.diff(column["time"]), 1 / 30, atol=1e-7)
    D, pelvis = rig_to_role_rotations(rig, clip.pose())

    def ours(names: list[str], signs: tuple[int, int, int]) -> np.ndarray:
        q = euler_to_quat(np.stack([s * column[n] for s, n in zip(signs, names)], axis=1), "ZXY", degrees=True)
        return np.stack([-q[:, 2], q[:, 1], q[:, 0], q[:, 3]], axis=1)

    q_pelvis = ours(["pelvis_tilt", "pelvis_list", "pelvis_rotation"], (1, 1, 1))
    assert geodesic(q_pelvis, D[:, ROLE_INDEX["pelvis"]]).max() < 1e-6
    assert np.allclose(
        np.stack([-column["pelvis_tz"], column["pelvis_ty"], column["pelvis_tx"]], axis=1), pelvis, atol=1e-6
    )
    for side, letter, sign in (("left", "l", -1), ("right", "r", 1)):
        hip = ours([f"hip_{n}_{letter}" for n in ("flexion", "adduction", "rotation")], (1, sign, sign))
        assert geodesic(quat_mul(q_pelvis, hip), D[:, ROLE_INDEX[f"{side}_hip"]]).max() < 1e-6
        arm = ours([f"arm_{n}_{letter}" for n in ("flex", "add", "rot")], (1, sign, sign))
        hang = rotvec_to_quat(np.array([0, 0, sign * np.pi / 2]))
        whole = quat_mul(quat_mul(D[:, ROLE_INDEX["spine3"]], arm), hang)
        assert geodesic(whole, D[:, ROLE_INDEX[f"{side}_shoulder"]]).max() < 1e-6


def test_angles_do_not_jump():
    rng = np.random.default_rng(SEED)
    steps = rotvec_to_quat(np.concatenate([np.zeros((1, 3)), rng.normal(size=(300, 3)) * 0.02]))
    spin = steps.copy()
    for t in range(1, len(spin)):
        spin[t] = quat_mul(spin[t - 1], quat_mul(rotvec_to_quat(np.array([0.0, 0.1, 0.0])), steps[t]))
    D = np.repeat(spin[:, None], 22, axis=1)
    angles, _ = coordinates(clip_of(D))
    assert np.ptp(angles["pelvis_rotation"]) > 720
    assert np.abs(np.diff(angles["pelvis_rotation"])).max() < 60


def test_what_cannot_be_written_is_refused(tmp_path):
    clip = sample_clip(builtin_rig("humanoid"), "wave", fps=10.0)
    with pytest.raises(FileError, match="without frames"):
        clip[:0].save(tmp_path / "a.mot")
    legless = clip.rig.with_roles({r: j for r, j in clip.rig.roles.items() if "knee" not in r})
    with pytest.raises(RigError, match="left_knee"):
        Clip(legless, clip.rotations, clip.root, 10.0).save(tmp_path / "a.mot")
    assert list(tmp_path.iterdir()) == []
