"""Opening whatever file a user names, with the reader's options that were given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mimik.errors import FileError

if TYPE_CHECKING:
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip
    from mimik.rig.rig import Rig

T = TypeVar("T")


def open_any(path: Path, **options: Any) -> Clip | Rig | Keypoints:
    """Read motion, else a rig, else keypoints; options that are None are left out.

    Raises FileError of the first reader that knows the suffix when none can read the file.
    """
    from mimik.io import can, load_clip, load_keypoints, load_rig_file

    if not path.exists():
        raise FileError(path, "no such file or folder")
    readers: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("read_clip", load_clip), ("read_rig", load_rig_file), ("read_keypoints", load_keypoints),
    )  # fmt: skip
    first: FileError | None = None
    for kind, reader in readers:
        if can(path, kind):
            try:
                return call_with(reader, path, **options)
            except FileError as error:
                first = first or error
    assert first is not None, "a known suffix has a reader"
    raise first


def open_rig(source: str, **options: Any) -> Rig:
    """Return a built-in rig by name or the rig of a file; options that are None are left out."""
    from mimik.api import load_rig

    return call_with(load_rig, source, **options)


def call_with(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a reader or writer with the options that are not None."""
    return function(*arguments, **{name: value for name, value in options.items() if value is not None})


def read_roles(path: Path | None) -> dict[str, str] | None:
    """Read a mapping file of `role = joint` pairs (.json or .toml), or one of `joint = role` pairs turned round."""
    if path is None:
        return None
    from mimik.io.mapping import read_mapping
    from mimik.rig.roles import canonical_role

    pairs = read_mapping(path)
    if all(canonical_role(value) for value in pairs.values()) and not all(canonical_role(key) for key in pairs):
        pairs = {value: key for key, value in pairs.items()}
    return pairs
