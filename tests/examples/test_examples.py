"""Every example runs as it stands, in its short form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    environment = {**os.environ, "MIMIK_EXAMPLE_SHORT": "1", "MIMIK_EXAMPLE_OUT": str(tmp_path / "out")}
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows what it did"
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr, done.stderr
    for line in done.stdout.splitlines():
        if line.startswith(("wrote ", "drew ")):
            assert Path(line.split(maxsplit=1)[1]).stat().st_size > 100


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_explains_itself(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 120
    assert lines[0].startswith('"""')


def test_there_are_examples():
    assert [path.name[:2] for path in EXAMPLES] == [f"{k:02d}" for k in range(1, len(EXAMPLES) + 1)]
