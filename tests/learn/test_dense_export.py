import json
from importlib.resources import files

import numpy as np
import onnxruntime
import pytest

from mimik.rig.builtin import builtin_rig
from mimik.rig.role_space import rig_to_role_rotations, role_map
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic
from mimik.solve.dense.ikgat import solve_ikgat
from mimik.solve.dense.layout import FEATURE_PARTS, FEATURE_WIDTH, LEAVES, OUTPUT_WIDTH, USUAL_LEAVES
from mimik.solve.dense.solver import DenseSolver, dense_session
from tests.solve.dense_bodies import motion, seen


def contract_of(name):
    """The contract in a packaged network, as an installed package would read it."""
    data = (files("mimik.weights") / f"{name}.onnx").read_bytes()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session, json.loads(session.get_modelmeta().custom_metadata_map["mimik"])


def test_packaged_network_has_the_layout_of_this_version():
    session, contract = contract_of("dense")
    (given,), (answer,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.shape[1], given.type) == ("features", FEATURE_WIDTH, "tensor(float)")
    assert (answer.name, answer.shape[1]) == ("answers", OUTPUT_WIDTH)
    assert isinstance(given.shape[0], str)
    assert contract["name"] == "dense"
    assert tuple(contract["roles"]) == BODY_ROLES
    assert tuple(contract["details"]["feature_parts"].values()) == FEATURE_PARTS
    assert len(contract["weights"]) == 64 and len(contract["data"]["hash"]) == 64
    assert contract["metrics"]["test MPJPE, mm"] < 0.01
    assert len((files("mimik.weights") / "dense.onnx").read_bytes()) < 8e6


@pytest.mark.parametrize("name", ["dense", "ikgat"])
def test_cards_say_what_the_networks_reach(name):
    _, contract = contract_of(name)
    card = (files("mimik.weights") / f"{name}.md").read_text(encoding="utf-8")
    assert contract["weights"] in card
    assert f"{contract['metrics']['test MPJAE, degrees']:.2f}" in card
    for word in (f"mimik train {name}", "seed: 0", "left_wrist", "commit: ", "hash: ", f"docs/images/{name}_curve.png"):
        assert word in card


def test_sessions_are_loaded_once():
    assert dense_session() is dense_session()


def test_published_network_is_sane_on_sample_motion():
    rig = builtin_rig("humanoid")
    pose = motion(rig, "walk")
    error = solve_ikgat(seen(rig, pose), rig)
    assert float(np.mean(error.residuals)) < 0.03
    assert float(contract_of("ikgat")[1]["metrics"]["test MPJAE, degrees"]) < 10.0


def test_usual_leaves_are_unit_to_their_digits():
    assert np.allclose(np.linalg.norm(USUAL_LEAVES, axis=1), 1.0, atol=1e-4)
    assert np.allclose(np.array(USUAL_LEAVES)[1] * [1, -1, -1, 1], USUAL_LEAVES[2])
    assert len(LEAVES) == len(USUAL_LEAVES)


def test_export_equals_pytorch_and_is_plain(tmp_path):
    torch, onnx = pytest.importorskip("torch"), pytest.importorskip("onnx")
    pytest.importorskip("roma")
    pytest.importorskip("onnxscript")
    from mimik.learn.dense_export import export_dense
    from mimik.learn.dense_network import DenseNetwork
    from mimik.learn.dense_train import load_dense

    torch.manual_seed(2)
    network = DenseNetwork(24, 32, 2).eval()
    for p in network.parameters():
        torch.nn.init.normal_(p, std=0.1)
    describe = {
        "name": "dense", "network": network.shape, "rig": "any", "data": {"source": "made up"}, "parameters": 1,
        "multiply_adds": 1, "train": {"seed": 0},
    }  # fmt: skip
    torch.save({"network": network.state_dict(), "describe": describe}, tmp_path / "network.pt")
    export_dense(tmp_path / "network.pt", tmp_path / "n.onnx", metrics={"figure": 1.5})
    model = onnx.load(tmp_path / "n.onnx")
    assert {node.op_type for node in model.graph.node} == {"Gemm", "Relu", "Add"}
    x = torch.randn(7, FEATURE_WIDTH)
    session = onnxruntime.InferenceSession(str(tmp_path / "n.onnx"), providers=["CPUExecutionProvider"])
    theirs = session.run(None, {"features": x.numpy()})[0]
    assert np.abs(network(x).detach().numpy() - theirs).max() < 1e-5
    assert torch.equal(load_dense(tmp_path / "n.onnx")[0](x), network(x))
    found = DenseSolver(builtin_rig("humanoid"), path=tmp_path / "n.onnx")
    assert np.isfinite(found.rotations(seen(found.rig, motion(found.rig)))[0]).all()


def test_figures_are_those_of_the_solver():
    pytest.importorskip("torch")
    pytest.importorskip("roma")
    pytest.importorskip("onnx")
    from mimik.learn.dense_export import constant_figures, measure_solver

    rig = builtin_rig("humanoid")
    D_world = rig_to_role_rotations(rig, motion(rig, "walk"))[0]
    by_joint, mpjpe_mm = measure_solver(None, D_world, rig)
    truth = role_map(rig).to_rig(D_world, np.zeros((len(D_world), 3)))
    found = DenseSolver(rig).pose(seen(rig, truth))
    assert mpjpe_mm < 1e-3
    assert np.allclose(by_joint, np.rad2deg(geodesic(found.rotations, truth.rotations)).mean(axis=0))
    noisy, _ = measure_solver(None, D_world, rig, noise=0.02)
    assert noisy.mean() > by_joint.mean()
    assert set(constant_figures(D_world)) == {BODY_ROLES[j] for j in LEAVES}


def test_measuring_anew_changes_the_figures_alone(tmp_path):
    pytest.importorskip("torch")
    from mimik.learn.export import read_contract, replace_metrics

    path = tmp_path / "dense.onnx"
    path.write_bytes((files("mimik.weights") / "dense.onnx").read_bytes())
    before = read_contract(path)
    replace_metrics(path, {"test frames": 7})
    after = read_contract(path)
    assert after.pop("metrics") == {"test frames": 7} and before.pop("metrics")
    assert after == before
    rows = {"features": np.ones((2, FEATURE_WIDTH), dtype=np.float32)}
    answers = [dense_session(p).run(None, rows)[0] for p in (None, path)]
    assert np.array_equal(*answers)
