"""Numba's disk cache: tell the user, once, that kernels are being compiled; drop what an edit made stale."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_told: set[str] = set()


def index_file(kernel: Any) -> Path | None:
    """Return where Numba keeps the index of a kernel's compiled forms, where it tells."""
    cache_file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    index = getattr(cache_file, "_index_path", None)
    return Path(index) if index else None


def announce_compiling(kernel: Any) -> None:
    """Print one line to standard error where a kernel is neither loaded nor in the disk cache."""
    name = str(kernel.py_func.__name__)
    if name in _told or kernel.signatures:
        return
    _told.add(name)
    index = index_file(kernel)
    if index is None or not index.exists():
        print("mimik: compiling for this machine, once (about half a minute) ...", file=sys.stderr, flush=True)


def drop_stale(modules: Sequence[ModuleType]) -> None:
    """Forget compiled kernels older than any of the modules: the cache sees edits of a kernel's own file only."""
    newest = max(Path(str(m.__file__)).stat().st_mtime for m in modules)
    for module in modules:
        for kernel in vars(module).values():
            index = index_file(kernel)
            try:
                if index is not None and index.exists() and index.stat().st_mtime < newest:
                    index.unlink()
            except OSError:  # a cache that cannot be written is not stale for long
                return
