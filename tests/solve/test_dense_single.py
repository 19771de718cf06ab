"""The one-frame network answers as ONNX Runtime does."""

import numpy as np

from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic
from mimik.solve.dense.layout import FEATURE_WIDTH, OUTPUT_WIDTH
from mimik.solve.dense.single import onnx_weights, single_network
from mimik.solve.dense.solver import DenseSolver, dense_session


def test_answers_are_those_of_onnx_runtime():
    rng, network = np.random.default_rng(0), single_network()
    features = rng.normal(size=(20, FEATURE_WIDTH)).astype(np.float32)
    features[:, rng.random(FEATURE_WIDTH) < 0.4] = 0.0
    features[0] = 0.0
    expected = dense_session().run(None, {"features": features})[0]
    answers = np.empty((20, OUTPUT_WIDTH), dtype=np.float32)
    for x, y in zip(features, answers):
        network.run(x, y)
    assert np.abs(answers - expected).max() < 1e-4 * np.abs(expected).max()


def test_a_frame_alone_is_solved_as_in_company():
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "medley", fps=2.0)
    points = clip.positions()[:, [rig.roles[role] for role in BODY_ROLES]]
    solver = DenseSolver(rig)
    together = solver.pose(points).rotations
    for frame in (0, 3, len(points) - 1):
        alone = solver.pose(points[frame : frame + 1]).rotations[0]
        assert geodesic(alone, together[frame]).max() < 1e-5


def test_other_files_hold_no_single_network(tmp_path):
    path = tmp_path / "other.onnx"
    path.write_bytes(b"")
    assert single_network(path) is None
    assert onnx_weights(b"") == {}


def test_weights_have_the_shapes_of_the_layout():
    network = single_network()
    assert network.enter[0].shape[0] == FEATURE_WIDTH
    assert network.leave[0].shape[1] == OUTPUT_WIDTH
