from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("roma")

from mimik.errors import FileError  # noqa: E402
from mimik.learn.curve import read_curve  # noqa: E402
from mimik.learn.ikgat import IkGat, IkGatConfig  # noqa: E402
from mimik.learn.train import TrainConfig, learning_rate, make_optimizer  # noqa: E402
from mimik.learn.train_ikgat import TrainingPoses, load_ikgat, train_ikgat  # noqa: E402
from mimik.rig.builtin import builtin_rig  # noqa: E402
from tests.learn.motions import packed, smooth_rotations  # noqa: E402

SMALL = IkGatConfig(width=32, layers=2, heads=4, dropout=0.0)
SHORT = TrainConfig(batch=32, steps=60, warmup=5, validate_every=20, learning_rate=3e-3)


@pytest.fixture(scope="module")
def poses():
    rng = np.random.default_rng(6)
    return TrainingPoses(
        {"train": packed(smooth_rotations(rng, 300)), "val": packed(smooth_rotations(rng, 30))}, "made up", "0"
    )


def run(poses, out, config=SHORT, **options):
    rig = builtin_rig("humanoid")
    return train_ikgat(poses, rig, out, network_config=SMALL, config=config, device="cpu", **options)


def test_training_learns_and_keeps_its_best_weights(poses, tmp_path):
    network, state = run(poses, tmp_path / "run")
    rows = read_curve(tmp_path / "run" / "curve.csv")
    assert [r.step for r in rows] == [20, 40, 60]
    assert rows[-1].loss < 0.8 * rows[0].loss
    assert state.best_mpjae_deg == pytest.approx(min(r.mpjae_deg for r in rows))
    assert (tmp_path / "run" / "curve.png").stat().st_size > 5000
    best, describe = load_ikgat(tmp_path / "run" / "best.pt")
    x = torch.randn(2, 22, 3)
    assert torch.equal(best(x), network(x))
    assert describe["data"]["frames"] == {"train": 300, "val": 30}


def test_a_resumed_run_is_the_run_itself(poses, tmp_path):
    config = replace(SHORT, steps=4, validate_every=2)
    whole, _ = run(poses, tmp_path / "whole", config)
    for resume in (False, True, True, True):  # no time: each call takes one step
        parts, state = run(poses, tmp_path / "parts", replace(config, minutes=0.0), resume=resume)
    x = torch.randn(2, 22, 3)
    assert state.step == 4
    assert torch.allclose(whole(x), parts(x), atol=1e-6)
    assert read_curve(tmp_path / "parts" / "curve.csv")[-1].step == 4


def test_runs_are_not_overwritten_and_must_exist_to_resume(poses, tmp_path):
    with pytest.raises(FileError, match="no checkpoint"):
        run(poses, tmp_path / "none", resume=True)
    run(poses, tmp_path / "run", replace(SHORT, steps=1))
    with pytest.raises(FileError, match="--resume"):
        run(poses, tmp_path / "run")


def test_training_stops_when_validation_no_longer_gets_better(poses, tmp_path):
    _, state = run(poses, tmp_path / "run", replace(SHORT, learning_rate=0.0, validate_every=1, patience=3))
    assert state.step == 4


def test_fine_tuning_for_a_rig_starts_where_the_other_ended(poses, tmp_path):
    _, first = run(poses, tmp_path / "humanoid")
    rig = builtin_rig("ue5")
    config = replace(SHORT, steps=1, validate_every=1, learning_rate=0.0)
    _, tuned = train_ikgat(
        poses, rig, tmp_path / "tuned", network_config=SMALL, config=config,
        start_from=tmp_path / "humanoid" / "best.pt", device="cpu",
    )  # fmt: skip
    assert tuned.best_mpjae_deg < first.best_mpjae_deg + 5.0


def test_decay_spares_biases_norms_and_embedding():
    network = IkGat()
    optimizer = make_optimizer(network, TrainConfig(), torch.device("cpu"))
    decayed = {id(p) for p in optimizer.param_groups[0]["params"]}
    free = {n for n, p in network.named_parameters() if id(p) not in decayed}
    assert optimizer.param_groups[0]["weight_decay"] == 0.01
    assert optimizer.param_groups[1]["weight_decay"] == 0.0
    assert {n.split(".")[-1] for n in free} == {"embedding", "bias", "weight", "head_bias"}
    assert all("norms" in n for n in free if n.endswith(".weight"))


def test_learning_rate_warms_up_and_comes_down():
    config = TrainConfig(steps=1000, warmup=100)
    rates = [learning_rate(s, config) for s in range(1000)]
    assert rates[0] == pytest.approx(1e-5)
    assert max(rates) == pytest.approx(1e-3)
    assert rates[-1] == pytest.approx(1e-5, rel=0.01)
    assert learning_rate(900, replace(config, schedule="constant")) == 1e-3


def test_the_clock_can_end_the_schedule(poses, tmp_path):
    config = TrainConfig(steps=1000, warmup=0, finish_minutes=1.0)
    assert learning_rate(10, config, 60.0) == pytest.approx(1e-5)
    assert learning_rate(10, config, 30.0) == pytest.approx(5.05e-4, rel=0.01)
    _, state = run(poses, tmp_path / "run", replace(SHORT, finish_minutes=0.0))
    assert state.step == 0
