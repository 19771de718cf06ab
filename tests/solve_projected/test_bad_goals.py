"""Bad goals and limits get one clear error that names the offender."""

import numpy as np
import pytest

import mimik
from mimik.errors import GoalError, OptionError, RigError
from mimik.goals.targets import AboveGround, CentreOfMass, Direction, Distance, LookAt, Orientation, Pole, Position
from mimik.io.goals_file import read_goals
from mimik.io.limits_toml import read_limits, write_limits
from mimik.rig.limits import JointRange
from mimik.rig.limits_human import human_limits, measure_limits
from mimik.solve.projected.solver import Options, Solver
from tests.builders import SEED, random_quats
from tests.solve_projected.figures import every_joint, person

BAD = [
    (lambda: Position("left_hand", (np.nan, 0, 0)), "not finite"),
    (lambda: Position("left_hand", (0, 0)), "shape"),
    (lambda: Position("left_hand", "abc"), "numbers"),
    (lambda: Position("", (0, 0, 0)), "name of a joint"),
    (lambda: Position("left_hand", (0, 0, 0), weight=-1.0), "negative"),
    (lambda: Position("left_hand", (0, 0, 0), weight=np.nan), "not finite"),
    (lambda: Position("left_hand", (0, 0, 0), weight=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
    (lambda: Orientation("head", (0, 0, 0, 0)), "zero quaternion"),
    (lambda: Direction("head", (0, 0, 0)), "direction is needed"),
    (lambda: LookAt("head", (np.inf, 0, 0)), "not finite"),
    (lambda: Distance("left_hand", "right_hand", -1.0), "negative"),
    (lambda: AboveGround("left_foot", np.nan), "not finite"),
    (lambda: CentreOfMass([[0, 0, 0]]), "support"),
    (lambda: Pole("left_elbow", (0, np.nan, 0)), "not finite"),
]


@pytest.mark.parametrize("make, words", BAD)
def test_a_bad_goal_is_named(make, words):
    with pytest.raises(GoalError, match=words):
        make()


def test_unknown_joint_lists_the_valid_ones():
    with pytest.raises(GoalError, match="left_wrist"):
        Solver(person(), [Position("left_hnd", (0, 0, 0))])


def test_a_pole_needs_the_middle_of_a_limb():
    with pytest.raises(GoalError, match="middle joint"):
        Solver(person(), [Pole("head", (0, 0, 1))])


def test_something_that_is_no_goal():
    with pytest.raises(GoalError, match="no goal"):
        Solver(person(), ["left_hand"])


def test_targets_in_the_wrong_shape_or_not_finite():
    solver = Solver(person(), [Position("left_hand", (0, 1, 0)), Position("right_hand", (0, 1, 0))])
    with pytest.raises(GoalError, match="1 targets for 2"):
        solver.step([(0, 1, 0)])
    with pytest.raises(GoalError, match="right_hand"):
        solver.step(np.array([[0, 1, 0], [0, np.nan, 0]]))
    with pytest.raises(GoalError, match="valid"):
        solver.step({"head": (0, 0, 0)})
    with pytest.raises(GoalError, match="shape"):
        solver.solve_many(np.zeros((3, 5, 3)))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: JointRange.hinge((1, 0, 0), 1.0, -1.0), "above upper"),
        (lambda: JointRange.hinge((0, 0, 0)), "zero"),
        (lambda: JointRange.euler("zy"), "three of"),
        (lambda: JointRange.ball((0, 1, 0), cone=4.0), "cone"),
        (lambda: JointRange("hing", np.eye(3)[:1], np.zeros(1), np.zeros(1)), "hinge"),
        (lambda: JointRange.universal([[1, 0, 0]]), "2"),
    ],
)
def test_bad_limits_are_named(make, words):
    with pytest.raises(RigError, match=words):
        make()


def test_bad_options_are_named():
    with pytest.raises(OptionError, match="pull"):
        Options(pull=2.0)
    with pytest.raises(OptionError, match="second_order"):
        Solver(person(), [], method="newton")


def test_limits_file_round_trips(tmp_path):
    rig = every_joint(np.random.default_rng(SEED))
    for limits in (rig.limits, human_limits(person())):
        path, again = tmp_path / "limits.toml", tmp_path / "again.toml"
        write_limits(limits, path)
        read = read_limits(path)
        assert set(read) == set(limits)
        for name in limits:
            np.testing.assert_allclose(read[name].axes, limits[name].axes, atol=1e-8)
            np.testing.assert_allclose(read[name].lower, limits[name].lower, atol=1e-8)
            assert read[name].kind == limits[name].kind
        write_limits(read, again)
        assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    "text, words",
    [
        ("x = 1", "joints"),
        ("[joints.a]\nkind = 'hinge'\naxes = [[1,0,0]]\nlower_deg=[10]\nupper_deg=[-10]", "joint 'a'"),
        ("[joints.a]\nkindd = 'hinge'", "kindd"),
        ("[joints", "Expected"),
        ("[joints.a]\nkind = 'hinge'\naxes = 'x'", "joint 'a'"),
    ],
)
def test_a_broken_limits_file_says_where(tmp_path, text, words):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(mimik.MimikError, match=words):
        read_limits(path)


@pytest.mark.parametrize(
    "text, words",
    [
        ("{}", "goals"),
        ('{"goals": [{"kind": "fly"}]}', "position"),
        ("[1", "delimiter"),
        ('{"goals": [{"joint": "head"}]}', "target"),
    ],
)
def test_a_broken_goals_file_says_where(tmp_path, text, words):
    path = tmp_path / "goals.json"
    path.write_text(text)
    with pytest.raises(mimik.MimikError, match=words):
        read_goals(path)


def test_goals_file_is_read(tmp_path):
    path = tmp_path / "goals.toml"
    path.write_text('[[goals]]\nkind = "look_at"\njoint = "head"\ntarget = [0, 1, 2]\nweight = 2\n')
    (goal,) = read_goals(path)
    assert isinstance(goal, LookAt)
    assert goal.weight == 2


@pytest.mark.parametrize("kind", ["ball", "zyx"])
def test_measured_limits_contain_the_motion(kind):
    rng = np.random.default_rng(SEED)
    rig = person()
    angles = rng.uniform(-0.4, 0.4, (200, rig.joint_count, 3))
    from mimik.rotation import euler_to_quat

    rotations = euler_to_quat(angles, "ZYX")
    limits = measure_limits(rig, rotations, percent=0.0, kind=kind, margin=1e-6)
    assert len(limits) == rig.joint_count - 1
    from mimik.rig.pose import LocalPose

    solver = Solver(rig, [], limits=limits, natural=None)
    poses = LocalPose(rig.skeleton, rotations, np.zeros((200, 3)))
    values, base = solver.model.pose_to_values(poses)
    again = solver.model.values_to_pose(values, base)
    from mimik.rotation import geodesic

    assert geodesic(again.rotations, rotations).max() < 1e-5


def test_measuring_nonsense_is_refused():
    with pytest.raises(RigError, match="rotations"):
        measure_limits(person(), random_quats(np.random.default_rng(0), 3, 4))
