"""What the README and the docs name is there: links, pictures, commands and their options, files, functions."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from mimik.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
FIRST = {"README.md", "docs/README.md", "docs/conventions.md", "docs/formats.md", "docs/limitations.md"}
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def code(page: Path) -> list[str]:
    """Return lines of indented and fenced blocks, and what stands between backticks; printed output is fenced text."""
    lines, fence = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fence = line[3:] or "shell" if fence is None else None
        elif fence == "text":
            continue
        elif fence is not None or line.startswith("    "):
            lines += re.split(r"\s{2,}", line.strip())
        else:
            lines += re.findall(r"`([^`]+)`", line)
    return lines


def test_the_pages_are_there():
    assert {page.relative_to(ROOT).as_posix() for page in PAGES} >= FIRST


@pages
def test_links_and_pictures_exist(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pages
def test_commands_and_options_exist(page):
    top = typer.main.get_command(app)
    for line in code(page):
        if not (match := re.match(r"mimik ([a-z][a-z-]*)(.*)", line)):
            continue
        words = [match[1], *match[2].split()]
        assert words[0] in top.list_commands(None), f"{page.name}: mimik {words[0]}"
        command = top.get_command(None, words.pop(0))
        while words and hasattr(command, "commands") and re.fullmatch(r"[a-z-]+", words[0]):
            assert words[0] in command.commands, f"{page.name}: {line}"
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        if match[1] == "bench":  # what follows a benchmark's name goes to its script
            continue
        for word in words:
            if word.startswith("-") and not re.match(r"-[\d.]", word):
                assert word.split("=")[0] in known | {"--help"}, f"{page.name}: {line}"


@pages
def test_benchmarks_named_are_known(page):
    from mimik.cli import bench

    for line in code(page):
        if match := re.match(r"mimik bench ([a-z-]+)", line):
            assert match[1] in bench.BENCHMARKS, f"{page.name}: {line}"


@pages
def test_files_named_exist(page):
    for line in code(page):
        for name in re.findall(r"\b((?:benchmarks|examples|docs|tests|src)/[\w./-]+\w)", line):
            assert (ROOT / name).exists(), f"{page.name} names {name}"


@pages
def test_functions_named_exist(page):
    for line in code(page):
        for dotted in re.findall(r"(?<![\w./-])mimik((?:\.[a-zA-Z_]\w*)+)", line):
            value, path = importlib.import_module("mimik"), "mimik"
            for part in dotted[1:].split("."):
                path = f"{path}.{part}"
                if path.startswith("mimik.learn."):
                    pytest.importorskip("torch")
                if not hasattr(value, part):
                    value = importlib.import_module(path)
                else:
                    value = getattr(value, part)


def test_readme_python_runs(tmp_path):
    from mimik.cli.demo import sample_take
    from mimik.io import save_keypoints

    (tmp_path / "mimik-demo").mkdir()
    save_keypoints(sample_take(1.5), tmp_path / "mimik-demo" / "take.trc")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    script = "\n".join(blocks)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "take.bvh").stat().st_size > 1000
