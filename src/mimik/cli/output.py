"""What commands print: tables, notes, JSON, progress bars on a terminal only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

Advance = Callable[[int, int], None]
"""Called with the work done and the work in all."""


def console() -> Console:
    """Return the console of results."""
    return Console(highlight=False, soft_wrap=True)


def error_console() -> Console:
    """Return the console of errors, notes and progress, on standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print JSON and nothing else; numbers that are not finite become null."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(escape(name), escape(value))
    Console(highlight=False).print(table)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes once each, on standard error."""
    out = error_console()
    for note in dict.fromkeys(notes):
        out.print(f"[yellow]note[/]   {escape(note)}")


@contextmanager
def progress(description: str) -> Iterator[Advance]:
    """Show a bar on standard error while the block runs, where that is a terminal; give the function that moves it."""
    out = error_console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and value - value != 0.0:
        return None
    return value
