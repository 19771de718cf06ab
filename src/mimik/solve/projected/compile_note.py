"""Tell the user, once, that kernels are being compiled."""

import sys
from pathlib import Path
from typing import Any

_told: set[str] = set()


def announce_compiling(kernel: Any) -> None:
    """Print one line to standard error where a kernel is neither loaded nor in the disk cache."""
    name = str(kernel.py_func.__name__)
    if name in _told or kernel.signatures:
        return
    _told.add(name)
    cache_file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    index = getattr(cache_file, "_index_path", None)
    if index is None or not Path(index).exists():
        print("mimik: compiling for this machine, once (about half a minute) ...", file=sys.stderr, flush=True)
