"""The natural-pose network: what it may be trained on, and that what is shipped was."""

import json
from importlib.resources import files

import numpy as np
import pytest

pytest.importorskip("torch")

from mimik.learn.natural import REPEATED, subject_files

TEST_SUBJECTS = {"05", "106", "12", "124", "140", "141", "28", "55", "75", "85"}


def test_subjects_recorded_twice_are_left_out(tmp_path):
    for name in ("cmu_train_117", "cmu_train_02", "cmu_train_64", "cmu_train_63", "cmu_test_85", "cmu_val_06"):
        (tmp_path / f"{name}.npz").touch()
    assert [p.stem for p in subject_files(tmp_path, "train")] == ["cmu_train_02", "cmu_train_63"]
    assert [p.stem for p in subject_files(tmp_path, "test")] == ["cmu_test_85"]


def test_no_repeated_subject_stands_for_another_that_is_left_out():
    assert not set(REPEATED.values()) & set(REPEATED)
    assert "117" in REPEATED
    assert REPEATED["117"] in TEST_SUBJECTS


def test_the_shipped_weights_were_trained_without_them():
    with (files("mimik") / "weights" / "natural.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as d:
        card = json.loads(str(d["card"]))
    assert card["subjects"] == 85 - len(REPEATED)
    assert set(card["left_out"]) == set(REPEATED)
