import numpy as np
import pytest
from typer.testing import CliRunner

from mimik.cli.main import app
from mimik.errors import OptionError
from mimik.learn.store import MotionStore
from tests.learn.motions import write_corpus


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    (folder / "corpus").mkdir()
    rng = np.random.default_rng(1)
    for name in ("cmu_train_01", "cmu_val_02"):
        write_corpus(folder / "corpus" / f"{name}.npz", rng, (40,))
    result = CliRunner().invoke(app, ["data", "import", str(folder / "corpus"), "-o", str(folder / "store")])
    assert result.exit_code == 0, result.output
    assert "80 frames" in result.output
    return folder / "store"


def test_imported_store_opens(store):
    assert MotionStore(store).frame_count == 80


def test_pack_command_refuses_unknown_splits(store, tmp_path):
    result = CliRunner().invoke(app, ["data", "pack", str(store), "-o", str(tmp_path / "p.npz"), "--max-mb", "0.02"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "p.npz").exists()
    result = CliRunner().invoke(app, ["data", "pack", str(store), "-o", str(tmp_path / "p.npz"), "--split", "tst"])
    assert isinstance(result.exception, OptionError)


def test_train_command_trains_resumes_and_guards_its_options(store, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("roma")
    common = ["train", "ikgat", "--data", str(store), "-o", str(tmp_path / "run"), "--batch", "4"]
    result = CliRunner().invoke(app, [*common, "--steps", "1"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run" / "best.pt").exists()
    result = CliRunner().invoke(app, [*common, "--steps", "2", "--resume"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, [*common, "--space", "local", "--export", str(tmp_path / "x.onnx")])
    assert isinstance(result.exception, OptionError)
