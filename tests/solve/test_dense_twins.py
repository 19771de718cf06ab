"""The compiled geometry and its PyTorch twin agree, on random poses, bodies, noise, missing joints and landmarks."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("roma")

from mimik.learn.dense_batches import Spoiling, follow_parents, quat_matrix, spoil  # noqa: E402
from mimik.learn.dense_bodies import bodies_around, random_bodies  # noqa: E402
from mimik.learn.dense_geometry import Body, bones, correct, features, settle, temper  # noqa: E402
from mimik.rig.builtin import builtin_rig  # noqa: E402
from mimik.rotation import quat_to_matrix  # noqa: E402
from mimik.solve.dense import finish_kernels  # noqa: E402
from mimik.solve.dense.body import CHILD, role_body  # noqa: E402
from mimik.solve.dense.kernels import WIDE_COLLARS, after, before  # noqa: E402
from mimik.solve.dense.layout import (  # noqa: E402
    FEATURE_PARTS,
    FEATURE_WIDTH,
    LEAF_TRUST,
    LEAVES,
    OUTPUT_WIDTH,
    USUAL_LEAVES,
)
from tests.learn.motions import smooth_rotations  # noqa: E402

COUNT = 40
UP = np.array([0.0, 1.0, 0.0])
NOT_PLAIN = np.zeros(22, dtype=np.bool_)
CHILD_BONE = np.where(CHILD >= 0, CHILD, 0)


def scene(seed, lacks=()):
    """Return a body (NumPy), what is seen of COUNT poses on it, the body as tensors and network answers."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    offsets, marks = (a[0] for a in random_bodies(rng, 1))
    rotation = quat_matrix(torch.as_tensor(smooth_rotations(rng, COUNT)))
    present = np.ones(22, dtype=bool)
    present[list(lacks)] = False
    body = Body(*(torch.as_tensor(np.repeat(a[None], COUNT, 0)) for a in (offsets, present, marks)))
    _, seen, body, _ = spoil(rotation, body, Spoiling(clean=0.4, lacking=0.0, landmarks=0.6, whole=0.4))
    seen.noise[:] = torch.where(torch.rand(COUNT, 1) < 0.5, 0.0, 1.0) * seen.noise
    seen.up[:] = torch.as_tensor(UP)
    return offsets, marks, present, seen, body, torch.randn(COUNT, OUTPUT_WIDTH) * 0.2


def run_before(offsets, marks, present, seen):
    x, g, own = np.zeros((COUNT, FEATURE_WIDTH), np.float32), np.zeros((COUNT, 22, 3, 3)), np.zeros((COUNT, 3, 3))
    p = seen.positions.double().numpy().copy()
    before(
        p, seen.seen.numpy(), seen.landmarks.double().numpy(), seen.landmarks_seen.numpy(),
        np.ascontiguousarray(seen.noise.double().numpy()), UP, offsets, present, marks, x, g, own,
    )  # fmt: skip
    return x, g, p, own


@pytest.mark.parametrize("lacks", [(), (13, 14), (3, 6), (10, 11), (12,), (9,)])
@pytest.mark.parametrize("seed", [1, 2])
def test_features_and_base_rotations_agree(seed, lacks):
    offsets, marks, present, seen, body, _ = scene(seed, lacks)
    theirs = features(seen, body)
    for name, ours, other in zip(("features", "base", "filled", "own frame"), run_before(offsets, marks, present, seen),
                                 theirs):  # fmt: skip
        assert np.abs(ours - other.numpy()).max() < 2e-5, name
    assert np.isfinite(theirs[0].numpy()).all()


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_rotations_from_an_answer_agree(seed):
    offsets, _, _, seen, body, y = scene(seed)
    _, g, p, own = features(seen, body)
    settled = settle(correct(g, own, seen.noise, y.double()), g, bones(seen, body, p))
    q = np.zeros((COUNT, 22, 4))
    leads = np.where((CHILD >= 0)[:, None], offsets[CHILD_BONE], 0.0)
    side = 13 if np.linalg.norm(offsets[13] - offsets[14]) > WIDE_COLLARS else 0
    after(
        y.numpy(), p.numpy().copy(), seen.seen.numpy(), np.ascontiguousarray(seen.noise.double().numpy()),
        CHILD, leads, side, NOT_PLAIN, g.numpy().copy(), own.numpy().copy(), q,
    )  # fmt: skip
    assert np.allclose(np.linalg.norm(q, axis=2), 1.0)
    assert np.abs(quat_to_matrix(q) - settled.numpy()).max() < 1e-5


def test_leaves_are_drawn_to_their_usual_place_alike():
    q = np.ascontiguousarray(smooth_rotations(np.random.default_rng(5), COUNT))
    shown = np.random.default_rng(6).random((COUNT, 22)) < 0.2
    seen = np.random.default_rng(7).random((COUNT, 22)) < 0.8
    expected = temper(quat_matrix(torch.as_tensor(q)), torch.as_tensor(seen), torch.as_tensor(shown)).numpy()
    usual = np.array(USUAL_LEAVES) / np.linalg.norm(USUAL_LEAVES, axis=1, keepdims=True)
    finish_kernels.temper(q, seen, shown, usual, np.array(LEAF_TRUST))
    assert np.abs(quat_to_matrix(q) - expected).max() < 1e-5


def test_plain_joints_keep_their_base_rotations():
    _, _, _, seen, body, y = scene(3)
    _, g, p, own = features(seen, body)
    q, plain = np.zeros((COUNT, 22, 4)), np.zeros(22, dtype=np.bool_)
    plain[[3, 15]] = True
    none = np.full(22, -1)
    after(
        y.numpy(), p.numpy().copy(), seen.seen.numpy(), np.zeros((COUNT, 22)), none, np.zeros((22, 3)), 0, plain,
        g.numpy().copy(), own.numpy().copy(), q,
    )  # fmt: skip
    apart = np.abs(quat_to_matrix(q) - g.numpy()).max(axis=(0, 2, 3))
    assert apart[[3, 15]].max() < 1e-5 and apart[[4, 13]].min() > 0.01


def test_tempering_draws_leaves_without_landmarks_only():
    rotation = quat_matrix(torch.as_tensor(smooth_rotations(np.random.default_rng(0), 4)))
    hidden = torch.zeros(4, 22, dtype=torch.bool)
    moved = (temper(rotation, ~hidden, hidden) - rotation).abs().amax(dim=(0, 2, 3))
    assert set(np.flatnonzero(moved.numpy() > 1e-3)) == set(LEAVES)
    assert torch.equal(temper(rotation, hidden, ~hidden), rotation)


def test_layout_adds_up():
    assert FEATURE_WIDTH == sum(FEATURE_PARTS) == 336
    assert OUTPUT_WIDTH == 264


def test_random_bodies_are_symmetric_and_human():
    offsets, marks = random_bodies(np.random.default_rng(2), 500)
    assert np.isfinite(offsets).all() and np.isfinite(marks).all()
    left, right = [1, 4, 7, 10, 13, 16, 18, 20], [2, 5, 8, 11, 14, 17, 19, 21]
    assert np.abs(offsets[:, left] * [-1, 1, 1] - offsets[:, right]).max() < 1e-12
    sizes = np.linalg.norm(offsets[:, 1:], axis=2).sum(axis=1)
    assert sizes.min() > 1.5 and sizes.max() < 12.0
    assert np.std(np.log(sizes)) > 0.1


def test_bodies_around_a_rig_keep_its_directions():
    body = role_body(builtin_rig("ue5"))
    offsets, _ = bodies_around(np.random.default_rng(2), body, 100)
    cosine = (offsets * body.offsets).sum(2) / np.maximum(
        np.linalg.norm(offsets, axis=2) * np.linalg.norm(body.offsets, axis=1), 1e-12
    )
    assert cosine[:, 1:].min() > 1.0 - 1e-9
    assert np.array_equal(offsets[0], body.offsets)


def test_joints_a_body_lacks_are_rigid():
    rotation = quat_matrix(torch.as_tensor(smooth_rotations(np.random.default_rng(0), 3)))
    present = torch.ones(3, 22, dtype=torch.bool)
    present[:, [3, 6]] = False
    followed = follow_parents(rotation, present)
    assert torch.equal(followed[:, 6], rotation[:, 0])
    assert torch.equal(followed[:, 9], rotation[:, 9])
