import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("roma")

from mimik.errors import GoalError, OptionError  # noqa: E402
from mimik.learn.data import rig_body  # noqa: E402
from mimik.learn.geometry import sixd_to_rotation  # noqa: E402
from mimik.learn.ikgat import (  # noqa: E402
    IkGat,
    IkGatConfig,
    count_costs,
    graph_adjacency,
    refined_joints,
    remap_joints,
)
from mimik.learn.ikgat_fused import FusedIkGat  # noqa: E402
from mimik.learn.train_ikgat import kept_parents, make_space  # noqa: E402
from mimik.rig.builtin import builtin_rig  # noqa: E402
from mimik.rig.role_space import role_offsets, role_positions  # noqa: E402
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES  # noqa: E402
from mimik.rotation import geodesic, matrix_to_quat  # noqa: E402
from tests.learn.motions import smooth_rotations  # noqa: E402

PARENTS = tuple(int(p) for p in BODY_PARENTS)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(1)
    net = IkGat().eval()
    with torch.no_grad():  # biases and gains away from their neutral start, so that folding them wrongly shows
        for parameter in net.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return net


def test_size_and_cost_are_the_papers(network):
    costs = count_costs(network)
    assert costs.parameters == pytest.approx(374_000, rel=0.005)
    assert costs.backbone_multiply_adds == pytest.approx(6.1e6, rel=0.03)
    assert costs.refinement_multiply_adds == 2 * 10 * 256 * 256


def test_multiply_adds_agree_with_counting_the_products_of_a_run():
    flops = pytest.importorskip("torch.utils.flop_counter")
    config = IkGatConfig(attention=False, graph="full", refinement=False)
    net = IkGat(config).eval()
    with flops.FlopCounterMode(display=False) as counter, torch.no_grad():
        net(torch.zeros(1, 22, 3))
    assert counter.get_total_flops() / 2 == pytest.approx(count_costs(net).multiply_adds, rel=0.01)


def test_graphs():
    both, one, full = (graph_adjacency(PARENTS, g) for g in ("both", "one", "full"))
    assert both.sum() == 22 + 2 * 21
    assert torch.equal(both, both.T)
    assert one.sum() == 22 + 21
    assert full.all()
    assert all(g.diagonal().all() for g in (both, one, full))
    names = {BODY_ROLES[j] for j in refined_joints(PARENTS)}
    ends = {"head", "left_wrist", "right_wrist", "left_foot", "right_foot"}
    assert names == ends | {"neck", "left_elbow", "right_elbow", "left_ankle", "right_ankle"}


def test_a_joint_hears_only_as_far_as_there_are_layers(network):
    x = torch.randn(1, 22, 3)
    moved = x.clone()
    moved[0, BODY_ROLES.index("left_wrist")] += 0.5
    changed = (network(moved) - network(x)).abs().amax(dim=(0, 2)) > 1e-6
    hops = graph_adjacency(PARENTS, "both").float()
    heard, refined = (torch.linalg.matrix_power(hops, n)[:, BODY_ROLES.index("left_wrist")] > 0 for n in (4, 5))
    assert (changed <= refined).all()
    assert changed[heard].all()


@pytest.mark.parametrize(
    "switch",
    [{"graph": "one"}, {"graph": "full"}, {"attention": False}, {"embedding": False}, {"shortcut": False},
     {"refinement": False}],
)  # fmt: skip
def test_every_ablation_changes_the_answer(switch):
    torch.manual_seed(0)
    plain = IkGat().eval()
    torch.manual_seed(0)
    other = IkGat(IkGatConfig(**switch)).eval()
    shared = {k: v for k, v in plain.state_dict().items() if k in other.state_dict()}
    other.load_state_dict(shared, strict=False)
    x = torch.randn(2, 22, 3)
    assert other(x).shape == (2, 22, 6)
    assert (other(x) - plain(x)).abs().max() > 1e-3


def test_unknown_switches_are_refused():
    with pytest.raises(OptionError, match="valid: both, one, full"):
        IkGatConfig(graph="all")
    with pytest.raises(OptionError, match="multiple"):
        IkGatConfig(width=250)


def test_fused_network_is_the_same_function(network):
    x = torch.randn(6, 22, 3)
    far = x + torch.tensor([3.0, -1.0, 2.0])
    assert torch.allclose(FusedIkGat(network)(far), network(x - x[:, :1]), atol=2e-5)
    with pytest.raises(OptionError, match="attention"):
        FusedIkGat(IkGat(IkGatConfig(attention=False)))


def test_remap_copies_by_name_and_fills_with_the_mean(network):
    roles = ("pelvis", "spine1", "left_hip", "tail")
    config = IkGatConfig(names=roles, parents=(-1, 0, 0, 0))
    mapped = remap_joints(network, config)
    assert torch.equal(mapped.embedding[2], network.embedding[BODY_ROLES.index("left_hip")])
    assert torch.allclose(mapped.embedding[3], network.embedding.mean(0))
    assert torch.equal(mapped.local.weight, network.local.weight)
    same = remap_joints(network, network.config).eval()
    x = torch.randn(2, 22, 3)
    assert torch.equal(same(x), network(x))


@pytest.fixture(scope="module")
def exported(network, tmp_path_factory):
    pytest.importorskip("onnxscript")
    from mimik.learn.export import export_ikgat

    folder = tmp_path_factory.mktemp("run")
    from dataclasses import asdict

    body = rig_body(builtin_rig("humanoid"))
    describe = {
        "name": "ikgat", "network": asdict(network.config), "space": "bone", "body": body.tolist(), "rig": "humanoid",
        "data": {"hash": "abc"}, "parameters": 1, "multiply_adds": 2, "train": {},
    }  # fmt: skip
    torch.save({"network": network.state_dict(), "describe": describe}, folder / "best.pt")
    export_ikgat(folder / "best.pt", folder / "net.onnx", metrics={"mpjae_deg": 7.0})
    return folder / "net.onnx"


def test_onnx_runner_and_pytorch_agree_on_a_saved_batch(network, exported):
    from mimik.learn.export import read_contract
    from mimik.solve.dense.ikgat import ikgat_rotations, solve_ikgat

    rig = builtin_rig("humanoid")
    D = smooth_rotations(np.random.default_rng(8), 300)
    points = role_positions(role_offsets(rig), D, np.array([1.0, 0.9, -2.0]))
    with torch.no_grad():
        roots = torch.from_numpy(points - points[:, :1]).float()
        space = make_space("bone", BODY_ROLES, rig_body(rig))
        expected = matrix_to_quat(space.decode(sixd_to_rotation(network(roots))).numpy())
    found = ikgat_rotations(points, path=exported)
    assert np.rad2deg(geodesic(found, expected)).max() < 0.02
    contract = read_contract(exported)
    assert contract["roles"] == list(BODY_ROLES)
    assert contract["metrics"] == {"mpjae_deg": 7.0}
    assert len(contract["weights"]) == 64
    assert json.dumps(contract)
    solution = solve_ikgat(points, rig, path=exported)
    assert solution.rotations.shape == (300, rig.joint_count, 4)
    assert np.allclose(solution.root, points[:, 0])
    assert solution.residuals[:, 0].max() < 1e-9


def test_runner_refuses_missing_joints_and_wrong_shapes(exported):
    from mimik.solve.dense.ikgat import ikgat_rotations

    points = np.zeros((2, 22, 3))
    assert ikgat_rotations(np.zeros((0, 22, 3)), path=exported).shape == (0, 22, 4)
    points[1, 15] = np.nan
    with pytest.raises(GoalError, match="head is missing in frame 1"):
        ikgat_rotations(points, path=exported)
    with pytest.raises(GoalError, match="shape"):
        ikgat_rotations(np.zeros((2, 21, 3)), path=exported)


def test_kernel_and_readable_twin_agree_at_half_turns_and_degenerate_input():
    from mimik.solve.dense.ikgat_kernel import sixd_to_roles, sixd_to_roles_readable

    rng = np.random.default_rng(4)
    sixd = rng.normal(size=(200, 22, 6))
    sixd[0, :, :] = [1, 0, 0, 0, -1, 0]
    sixd[1, :, :] = [-1, 0, 0, 0, 1, 0]
    sixd[2, :, :] = [-1, 0, 0, 0, -1, 0]
    frames = np.tile(np.eye(3), (22, 1, 1))
    q = np.empty((200, 22, 4))
    sixd_to_roles(sixd.astype(np.float32), frames, q)
    assert geodesic(q, sixd_to_roles_readable(sixd.astype(np.float32), frames)).max() < 1e-5
    sixd_to_roles(np.zeros((2, 22, 6), dtype=np.float32), frames, q[:2])
    assert np.isfinite(q).all()
    assert kept_parents(BODY_ROLES) == list(PARENTS)
