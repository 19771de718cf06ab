from dataclasses import replace
from importlib.resources import as_file, files

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("roma")
onnx = pytest.importorskip("onnx")

from mimik.cli.main import app  # noqa: E402
from mimik.errors import FileError, OptionError  # noqa: E402
from mimik.learn.data import store_rotvecs  # noqa: E402
from mimik.learn.dense_batches import Spoiling  # noqa: E402
from mimik.learn.dense_data import Pool, Poses, training_bodies  # noqa: E402
from mimik.learn.dense_measure import CASES, loss_of, validate  # noqa: E402
from mimik.learn.dense_network import DenseNetwork  # noqa: E402
from mimik.learn.dense_train import (  # noqa: E402
    DenseConfig,
    DenseState,
    _learner,
    finished,
    fit,
    learning_rate,
    load_dense,
    train_dense,
)
from mimik.learn.pack import write_pack  # noqa: E402
from mimik.learn.store import MotionStore, import_motion  # noqa: E402
from mimik.learn.train_ikgat import TrainingPoses, open_poses  # noqa: E402
from mimik.rig.builtin import builtin_rig  # noqa: E402
from tests.learn.motions import packed, smooth_rotations, write_corpus  # noqa: E402

CPU = torch.device("cpu")
SMALL = DenseConfig(
    minutes=0.02, batch=32, width=16, hidden=16, blocks=1, bodies=16, pool=64, passes=1, validate_seconds=0.3,
    validate_poses=40,
)  # fmt: skip


@pytest.fixture(scope="module")
def poses():
    rng = np.random.default_rng(6)
    arrays = {"train": packed(smooth_rotations(rng, 300)), "val": packed(smooth_rotations(rng, 60))}
    return TrainingPoses(arrays, "made up", "0", {"train": np.repeat([0, 1], [290, 10]), "val": np.zeros(60, int)})


@pytest.fixture(scope="module")
def run(poses, tmp_path_factory):
    out = tmp_path_factory.mktemp("dense") / "run"
    network, state = train_dense(poses, out, config=SMALL, device="cpu")
    return out, network, state


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "corpus").mkdir()
    rng = np.random.default_rng(1)
    for name in ("cmu_train_01", "cmu_train_03", "cmu_val_02"):
        write_corpus(folder / "corpus" / f"{name}.npz", rng, (40,))
    import_motion([folder / "corpus"], folder / "store")
    return folder / "store"


def test_a_run_leaves_network_curve_and_what_was_asked(run):
    out, network, state = run
    assert state.step > 0 and state.curve[-1]["step"] == state.step
    assert set(CASES) <= set(state.curve[0])
    assert (out / "curve.csv").read_text().startswith("step,seconds,loss,clean")
    assert (out / "curve.png").stat().st_size > 5000
    assert '"balance": 0.3' in (out / "config.json").read_text()
    again, describe = load_dense(out / "network.pt")
    x = torch.randn(3, 336)
    assert torch.equal(again(x), network(x))
    assert describe["data"]["frames"] == {"train": 300, "val": 60}


def test_fitting_lowers_the_loss_and_the_average_follows(poses):
    torch.manual_seed(0)
    config = replace(SMALL, minutes=1.0, rate=0.1)
    learner, state = _learner(config, None, CPU), DenseState()
    train = Poses(poses.rotvecs["train"], poses.people["train"], CPU)
    samples = Pool(train, training_bodies(16, 0, CPU), Spoiling(), config.pool).refresh()
    before = float(loss_of(learner.averaged, samples, 0.25))
    for _ in range(60):
        fit(learner, samples, state, config)
    assert state.step == 120
    assert float(loss_of(learner.network.eval(), samples, 0.25)) < 0.9 * before
    assert float(loss_of(learner.averaged, samples, 0.25)) < 0.95 * before


def test_a_run_goes_on_where_it_stood_and_is_not_overwritten(poses, run):
    out, _, state = run
    longer = replace(SMALL, minutes=state.seconds / 60.0 + 0.01)
    with pytest.raises(FileError, match="--resume"):
        train_dense(poses, out, config=SMALL, device="cpu")
    _, further = train_dense(poses, out, config=longer, resume=True, device="cpu")
    assert further.step > state.step and further.seconds > state.seconds
    assert further.curve[: len(state.curve)] == state.curve
    with pytest.raises(OptionError, match="shape"):
        train_dense(poses, out, config=replace(SMALL, width=8), resume=True, device="cpu")


def test_a_run_to_resume_must_exist(poses, tmp_path):
    with pytest.raises(FileError, match="no checkpoint"):
        train_dense(poses, tmp_path / "none", config=SMALL, resume=True, device="cpu")


def test_poses_without_validation_are_refused(poses, tmp_path):
    some = TrainingPoses({"train": poses.rotvecs["train"]}, "made up", "0")
    with pytest.raises(OptionError, match="'val'"):
        train_dense(some, tmp_path / "run", config=SMALL, device="cpu")


def test_training_stops_when_validation_no_longer_gets_better(poses, tmp_path):
    config = replace(SMALL, minutes=5.0, rate=0.0, validate_seconds=0.0, patience=1)
    _, state = train_dense(poses, tmp_path / "run", config=config, device="cpu")
    assert len(state.curve) == 2 and state.stale == 1


def test_fine_tuning_starts_where_the_other_ended(poses, run, tmp_path):
    out, _, _ = run
    network, _ = load_dense(out / "network.pt")
    rig, config = builtin_rig("ue5"), replace(SMALL, rate=0.0, decay=0.0)
    tuned, _ = train_dense(poses, tmp_path / "t", config=config, rig=rig, start_from=out / "network.pt", device="cpu")
    x = torch.randn(3, 336)
    assert torch.allclose(tuned(x), network(x), atol=1e-6)
    with pytest.raises(OptionError, match="shape"):
        train_dense(poses, tmp_path / "u", start_from=out / "network.pt", device="cpu")


def test_schedule_follows_the_clock():
    config = DenseConfig(minutes=1.0)
    assert learning_rate(DenseState(step=0), config) == pytest.approx(config.rate / 500)
    assert learning_rate(DenseState(step=9999, seconds=30.0), config) == pytest.approx(config.rate / 2)
    assert learning_rate(DenseState(step=9999, seconds=90.0), config) == pytest.approx(0.0)
    assert not finished(DenseState(seconds=59.0), config)
    assert finished(DenseState(seconds=60.0), config)
    assert finished(DenseState(stale=config.patience), config)


def test_balance_draws_people_alike(poses):
    torch.manual_seed(0)
    rotvec, people = poses.rotvecs["train"], poses.people["train"]
    for balance, share in ((0.0, 10 / 300), (1.0, 0.5)):
        drawn = Poses(rotvec, people, CPU, balance)
        rows = torch.searchsorted(drawn._cumulative, torch.rand(20_000))
        assert float((rows >= 290).float().mean()) == pytest.approx(share, abs=0.02)


def test_untrained_network_leaves_what_positions_determine_exact(poses):
    quats = Poses(poses.rotvecs["val"], None, CPU).quats
    error = validate(DenseNetwork(16, 16, 1).eval(), quats, builtin_rig("humanoid"))
    assert float(error[0]) < 0.05
    hard = validate(DenseNetwork(16, 16, 1).eval(), quats, builtin_rig("humanoid"), noise=0.04)
    assert float(hard.mean()) > float(error.mean())


def test_bodies_of_a_rig_lack_what_it_lacks():
    rig = builtin_rig("humanoid")
    poor = rig.with_roles({r: j for r, j in rig.roles.items() if "collar" not in r})
    assert training_bodies(8, 0, CPU, poor).present.sum() == 8 * 20
    assert training_bodies(8, 0, CPU).present.all()


def test_stores_and_packs_say_whose_each_pose_is(store, tmp_path):
    from_store = open_poses(store)
    assert {s: len(p) for s, p in from_store.people.items()} == {s: len(r) for s, r in from_store.rotvecs.items()}
    write_pack(MotionStore(store), tmp_path / "pack.npz")
    from_pack = open_poses(tmp_path / "pack.npz")
    for split in ("train", "val"):
        assert np.array_equal(from_pack.people[split], from_store.people[split])
        assert np.array_equal(from_pack.rotvecs[split], from_store.rotvecs[split])
    assert len(store_rotvecs(MotionStore(store), np.arange(3))) == 3


def test_command_tunes_the_packaged_network_and_exports(store, tmp_path):
    common = ["train", "dense", "--data", str(store), "--batch", "4", "-o", str(tmp_path / "run")]
    exported = tmp_path / "tuned.onnx"
    with as_file(files("mimik.weights") / "dense.onnx") as packaged:
        tune = ["--minutes", "0.001", "--rig", "vrm", "--from", str(packaged), "--export", str(exported)]
        result = CliRunner().invoke(app, [*common, *tune])
    assert result.exit_code == 0, result.output
    x = torch.randn(2, 336)
    assert torch.equal(load_dense(exported)[0](x), load_dense(tmp_path / "run" / "network.pt")[0](x))
    again = CliRunner().invoke(app, [*common, "--minutes", "0.001"])
    assert isinstance(again.exception, FileError)
    wrong = CliRunner().invoke(app, [*common, "--minutes", "0"])
    assert isinstance(wrong.exception, OptionError)
