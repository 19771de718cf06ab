"""Reading within bounds and writing whole: every format goes through here."""

import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mimik.errors import FileError

MAX_FILE_BYTES = 2 * 1024**3
MAX_ARRAY_BYTES = 4 * 1024**3


def read_bytes(path: str | os.PathLike[str], *, limit: int = MAX_FILE_BYTES) -> bytes:
    """Return a file's content; raises FileError when it is missing, a folder, empty or larger than `limit`."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise FileError(path, "is a folder, not a file")
        if size > limit:
            raise FileError(path, f"has {size / 1e6:.0f} MB; at most {limit / 1e6:.0f} MB are read")
        data = path.read_bytes()
    except OSError as error:
        raise FileError(path, _os_reason(error)) from None
    if not data:
        raise FileError(path, "is empty")
    return data


def read_text(path: str | os.PathLike[str], *, limit: int = MAX_FILE_BYTES) -> str:
    """Return a text file's content: UTF-8 with or without mark, UTF-16 with mark, else Latin-1."""
    data = read_bytes(path, limit=limit)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it in when the block ends well, remove it otherwise."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder, not a file to write")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.stem[:40]}-", suffix=path.suffix)
        os.close(handle)
    except OSError as error:
        raise FileError(path, f"cannot be written: {_os_reason(error)}") from None
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise FileError(path, f"cannot be written: {_os_reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)


def open_npz(path: str | os.PathLike[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Load all arrays of an npz, never pickled ones; declared sizes are checked before memory is taken."""
    read_bytes_head = read_bytes(path)
    del read_bytes_head
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(item.file_size for item in archive.infolist())
        if total > MAX_ARRAY_BYTES:
            raise FileError(path, f"unpacks to {total / 1e6:.0f} MB; at most {MAX_ARRAY_BYTES / 1e6:.0f} MB are read")
        with np.load(path, allow_pickle=False) as arrays:
            return {key: _bounded(path, key, arrays) for key in arrays.files}
    except FileError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds for a broken archive
        raise FileError(path, f"is not a readable npz ({error})") from None


def open_npy(path: str | os.PathLike[str]) -> np.ndarray[Any, Any]:
    """Load one array from an npy file, never a pickled one."""
    try:
        size = Path(path).stat().st_size
        if not size:
            raise FileError(path, "is empty")
        array = np.load(path, allow_pickle=False, mmap_mode="r")  # a map fails before memory is taken
        if array.nbytes > max(size, 1):
            raise FileError(path, f"declares {array.nbytes} bytes but has {size}")
        return np.array(array)
    except FileError:
        raise
    except Exception as error:
        raise FileError(path, f"is not a readable npy ({error})") from None


def _bounded(path: str | os.PathLike[str], key: str, arrays: Any) -> np.ndarray[Any, Any]:
    with arrays.zip.open(key + ".npy" if key + ".npy" in arrays.zip.namelist() else key) as stream:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(stream)
    if np.prod([float(n) for n in shape]) * max(dtype.itemsize, 1) > MAX_ARRAY_BYTES:
        raise FileError(path, f"array {key!r} declares shape {shape}, more than is read")
    return np.asarray(arrays[key])


def _os_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
