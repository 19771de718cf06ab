"""Whatever a file holds, only our own error comes out of its reader. `benchmarks/fuzz.py` does the same at length."""

import numpy as np
import pytest

from tests.io.fuzz import mutants, read_all, seeds

INPUTS = 100


@pytest.fixture(scope="module")
def all_seeds(tmp_path_factory):
    return seeds(tmp_path_factory.mktemp("seeds"))


def test_seeds_are_whole(all_seeds, tmp_path):
    for seed in all_seeds:
        path = tmp_path / f"whole{seed.suffix}"
        path.write_bytes(seed.data)
        assert read_all(seed.module, path) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # absurd numbers may overflow on their way to our error
def test_only_our_error_comes_out(all_seeds, tmp_path):
    failures = []
    for number, seed in enumerate(all_seeds):
        rng = np.random.default_rng([7, number])
        path = tmp_path / f"broken{seed.suffix}"
        for _, data in zip(range(INPUTS), mutants(seed, rng)):
            path.write_bytes(data)
            failures += read_all(seed.module, path)
    assert failures[:5] == []
