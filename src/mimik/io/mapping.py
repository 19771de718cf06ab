"""Mapping files: own names for roles, as JSON or TOML."""

import json
import os
import tomllib

from mimik.errors import FileError
from mimik.io.files import read_text


def read_mapping(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a .json or .toml file of `own name = role` pairs; tables in it are flattened. Raises FileError."""
    text = read_text(path, limit=10_000_000)
    try:
        data = tomllib.loads(text) if os.fspath(path).lower().endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is no mapping: {error}") from None
    pairs = data if isinstance(data, dict) else {}
    for value in list(pairs.values()):
        pairs = pairs | value if isinstance(value, dict) else pairs
    found = {str(key): value for key, value in pairs.items() if isinstance(value, str)}
    if not found:
        raise FileError(path, 'holds no mapping; write pairs such as {"my left elbow": "left_elbow"}')
    return found
