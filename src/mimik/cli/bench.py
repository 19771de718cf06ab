"""`mimik bench`: run the repository's benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

BENCHMARKS = {
    "dense": "dense.py",
    "dense-speed": "dense_speed.py",
    "projected": "projected_experiment.py",
    "projected-claims": "projected_claims.py",
    "fk": "fk_speed.py",
    "bvh": "bvh_speed.py",
    "fuzz": "fuzz.py",
    "blender": "open_in_blender.py",
}
"""Name -> script in the repository's folder `benchmarks`."""

USUAL = ("dense-speed", "dense", "fk")
"""What runs when none is named: minutes, and nothing that needs other programs."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]", help=f"{', '.join(BENCHMARKS)}.")] = None,
) -> None:
    """Run benchmarks by name: dense-speed, dense and fk unless told. What follows the names goes to the script.

    `mimik bench dense --quick`, `mimik bench fuzz --count 1000`, `mimik bench dense -- --help`
    """
    told = [*(names or []), *context.args]
    count = next((i for i, word in enumerate(told) if word not in BENCHMARKS), len(told))
    chosen, rest = told[:count], told[count:]
    scripts = [_script(name) for name in _checked(chosen, rest)]
    worst = 0
    for script in scripts:
        worst = max(worst, abs(subprocess.run([sys.executable, str(script), *rest], check=False).returncode))
    if worst:
        raise typer.Exit(min(worst, 125))


def _checked(chosen: list[str], rest: list[str]) -> list[str]:
    """Refuse a word that is no benchmark; options need to know whose they are."""
    from mimik.errors import OptionError, one_of

    if rest and not rest[0].startswith("-"):
        raise OptionError(one_of("benchmark", rest[0], BENCHMARKS))
    if rest and len(chosen) != 1:
        raise OptionError(f"{rest[0]} needs one benchmark to belong to, as in `mimik bench dense {rest[0]}`")
    return chosen or list(USUAL)


def _script(name: str) -> Path:
    from mimik.errors import FileError

    script = Path(__file__).resolve().parents[3] / "benchmarks" / BENCHMARKS[name]
    if not script.is_file():
        raise FileError(
            script,
            "not there; benchmarks come with the repository: clone it and install it with pip install -e '.[dev]'",
        )
    return script
