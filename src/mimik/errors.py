"""One root exception for everything a user can get wrong.

Messages name the offender, say where it stands, and list what would have been valid.
"""

import difflib
import os
from collections.abc import Iterable

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""


class MimikError(Exception):
    """Root of all errors mimik raises for bad input. Anything else that escapes is a bug."""


class FileError(MimikError):
    """A file that cannot be read or written: missing, too large, broken, or of an unknown kind."""

    def __init__(
        self, path: str | os.PathLike[str], message: str, *, line: int | None = None, frame: int | None = None
    ) -> None:
        """Build the sentence `path, line N: message`."""
        self.path, self.line, self.frame = os.fspath(path), line, frame
        place = self.path
        if line is not None:
            place += f", line {line}"
        if frame is not None:
            place += f", frame {frame}"
        super().__init__(f"{place}: {message}")


class RigError(MimikError):
    """A skeleton or rig that is not well formed, or a joint or role it does not have."""


class GoalError(MimikError):
    """A goal, target or tolerance that makes no sense."""


class LayoutError(MimikError):
    """Keypoint names that no layout explains."""


class OptionError(MimikError):
    """An option outside its valid values."""


class MissingExtraError(MimikError):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        """Name the command that installs what `feature` needs."""
        super().__init__(f"{feature} needs optional packages: pip install 'mimik[{extra}]'")


def one_of(what: str, name: object, valid: Iterable[str]) -> str:
    """Say that `name` is no valid `what`, list the valid names and suggest the nearest."""
    names = list(dict.fromkeys(str(v) for v in valid))
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    shown = ", ".join(names[:60]) + (f", ... {len(names)} in all" if len(names) > 60 else "")
    return f"{name!r} is not a {what}{hint}; valid: {shown}"
