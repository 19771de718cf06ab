"""The text of a BVH file: its hierarchy as joints with channels, its frame header, and where the numbers begin."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from mimik.errors import FileError
from mimik.rig.skeleton import MAX_JOINTS

_MOTION = re.compile(rb"(?:^|\})[ \t\x00]*(MOTION)\b[ \t\r\x00]*$", re.IGNORECASE | re.MULTILINE)
_FRAMES = re.compile(rb"[ \t]*(?:number\s+of\s+)?frames\b[ \t]*:?[ \t]*([^\s]*)[ \t\r]*(?:\n|$)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"[ \t]*frame\s*time\b[ \t]*:?[ \t]*([^\s]*)[ \t\r]*(?:\n|$)", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"[ \t\r]*\n")
_BLANKS = re.compile(r"[\s\x00\ufeff]*")
_STATEMENT = re.compile(r"(HIERARCHY|ROOT|JOINT|End\s*Site|OFFSET|CHANNELS)\b|([{}])", re.IGNORECASE)
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_BRACE_BEFORE_BODY = re.compile(r"\{\s*(?:OFFSET|CHANNELS|JOINT|End\s*Site|\})\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s{}]+")
_CHANNEL = re.compile(r"([XYZ])(position|rotation|scale)", re.IGNORECASE)
_KANA = re.compile(r"[\u3040-\u30ff]")


@dataclass(slots=True)
class BvhJoint:
    """One joint as written: file units, file axes. A channel is (kind, axis) such as ("rotation", 2) for Zrotation."""

    name: str
    parent: int
    figure: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: tuple[tuple[str, int], ...] = ()
    first_column: int = 0
    end: tuple[float, float, float] | None = None


@dataclass(slots=True)
class BvhText:
    """A BVH file taken apart. The motion's numbers begin at byte `numbers_start` of `data`, on line `numbers_line`."""

    joints: list[BvhJoint] = field(default_factory=list)
    has_motion: bool = False
    frames_text: str = ""
    frame_time_text: str = ""
    data: bytes = b""
    numbers_start: int = 0
    numbers_line: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def column_count(self) -> int:
        """Numbers in one frame, all figures together."""
        return sum(len(joint.channels) for joint in self.joints)


def parse_bvh(data: bytes, path: Path, *, encoding: str | None = None) -> BvhText:
    """Take the file apart; raises FileError with the line of whatever is not BVH.

    Text is UTF-8 or UTF-16 with a mark; otherwise Japanese or Western names are told apart, unless `encoding` says.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", errors="replace").encode()
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    text = BvhText()
    motion = _MOTION.search(data)
    head = data if motion is None else data[: motion.start(1)]
    _Hierarchy(_decode(head, path, encoding, text.notes), path, text).read()
    if not text.joints:
        raise FileError(path, "holds no ROOT joint; a BVH file begins with HIERARCHY and ROOT")
    if motion is not None:
        text.has_motion = True
        _read_frame_header(data, motion.end(), text)
    return text


def _decode(head: bytes, path: Path, encoding: str | None, notes: list[str]) -> str:
    if encoding is not None:
        try:
            return head.decode(encoding, errors="replace")
        except LookupError:
            raise FileError(path, f"{encoding!r} is not a known text encoding; try utf-8 or cp932") from None
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        japanese = head.decode("cp932")
    except UnicodeDecodeError:
        japanese = ""
    guess = "cp932" if _KANA.search(japanese) else "cp1252"
    notes.append(f"joint names are not UTF-8; read as {guess} (encoding= settles it)")
    return head.decode(guess, errors="replace")


def _read_frame_header(data: bytes, pos: int, text: BvhText) -> None:
    """Read `Frames:` and `Frame Time:` in any order; what follows are the numbers."""
    pos = data.find(b"\n", pos) + 1 or len(data)
    while pos < len(data):
        if match := _FRAMES.match(data, pos):
            text.frames_text = match.group(1).decode("ascii", "replace")
        elif match := _FRAME_TIME.match(data, pos):
            text.frame_time_text = match.group(1).decode("ascii", "replace")
        else:
            match = _BLANK_LINE.match(data, pos)
        if match is None:
            break
        pos = match.end()
    text.data, text.numbers_start = data, pos
    text.numbers_line = data.count(b"\n", 0, pos) + 1


class _Hierarchy:
    """A scanner over the hierarchy; statements may share lines or spread over several."""

    def __init__(self, source: str, path: Path, text: BvhText) -> None:
        self.source, self.path, self.text = source, path, text
        self.pos = 0
        self.open: list[int] = []  # joints whose braces are open, innermost last
        self.columns = 0
        self.figures = 0

    def read(self) -> None:
        """Read statements to the end of the hierarchy."""
        while self._next():
            match = _STATEMENT.match(self.source, self.pos)
            if match is None:
                raise self._error(f"{self._word()!r} is no BVH statement here")
            self.pos = match.end()
            self._statement(match.group(0).lower().split()[0])
        if self.open:
            self.text.notes.append(f"{len(self.open)} closing braces are missing in the hierarchy")

    def _statement(self, word: str) -> None:
        if word == "root":
            if self.open:
                raise self._error("ROOT inside another joint; use JOINT")
            self._joint(parent=-1)
            self.figures += 1
        elif word == "}" and self.open:
            self.open.pop()
        elif word == "hierarchy" and not self.open:
            pass
        elif not self.open:
            raise self._error(f"{word!r} outside of any joint")
        elif word == "joint":
            self._joint(parent=self.open[-1])
        elif word == "offset":
            self._innermost().offset = self._offset()
        elif word == "channels":
            self._channels()
        elif word.startswith("end"):
            self._end_site()
        else:
            raise self._error(f"{word!r} is not expected here")

    def _innermost(self) -> BvhJoint:
        return self.text.joints[self.open[-1]]

    def _joint(self, parent: int) -> None:
        joints = self.text.joints
        if len(joints) >= MAX_JOINTS:
            raise self._error(f"more than {MAX_JOINTS} joints")
        name = self._name() or f"joint{len(joints)}"
        self._brace()
        figure = self.figures if parent < 0 else joints[parent].figure
        joints.append(BvhJoint(name, parent, figure))
        self.open.append(len(joints) - 1)

    def _name(self) -> str:
        """Read a name to the end of its line; a last brace belongs to it only if another opens the joint."""
        match = _REST_OF_LINE.match(self.source, self.pos)
        line = match.group() if match else ""
        if body := _BRACE_BEFORE_BODY.search(line):
            self.pos += body.start()
            return line[: body.start()].strip()
        self.pos += len(line)
        name = line.strip(" \t\x00")
        if name.endswith("{") and self._next() != "{":
            self.pos = self.source.rindex("{", 0, self.pos)
            name = name[:-1].strip()
        return name

    def _brace(self) -> None:
        if self._next() != "{":
            raise self._error(f"'{{' expected, not {self._word()!r}")
        self.pos += 1

    def _offset(self) -> tuple[float, float, float]:
        x, y, z = (self._number("OFFSET") for _ in range(3))
        return x, y, z

    def _number(self, what: str) -> float:
        self._next()
        word = self._word()
        try:
            value = float(word)
        except ValueError:
            raise self._error(f"{what} needs numbers, not {word!r}") from None
        if not abs(value) < 1e12:
            raise self._error(f"{what} of {word} is not a length")
        self.pos += len(word)
        return value

    def _channels(self) -> None:
        count = self._number("CHANNELS")
        found = []
        while self._next() and (match := _CHANNEL.match(self.source, self.pos)):
            found.append((match.group(2).lower(), "XYZ".index(match.group(1).upper())))
            self.pos = match.end()
        joint = self._innermost()
        if len(found) != count:
            note = f"joint {joint.name!r} announces {count:g} channels and names {len(found)}; the names count"
            self.text.notes.append(note)
            if len(found) < count and not _STATEMENT.match(self.source, self.pos):
                raise self._error(f"{self._word()!r} is not a channel; valid: Xposition ... Zposition, Xrotation ...")
        if joint.channels:
            raise self._error(f"joint {joint.name!r} has CHANNELS twice")
        joint.channels, joint.first_column = tuple(found), self.columns
        self.columns += len(found)

    def _end_site(self) -> None:
        """Read an end site, whatever its name; the first one of a joint counts."""
        brace = self.source.find("{", self.pos)
        self.pos = brace if brace >= 0 else len(self.source)
        self._brace()
        end: tuple[float, float, float] | None = None
        while self._next() not in ("", "}"):
            match = _STATEMENT.match(self.source, self.pos)
            word = match.group(0).lower() if match else self._word()
            if match is None or word not in ("offset", "channels"):
                raise self._error(f"{word!r} inside an end site")
            self.pos = match.end()
            if word == "offset":
                end = self._offset()
            elif self._number("CHANNELS") != 0:
                raise self._error("an end site has no channels")
        self.pos += 1
        joint = self._innermost()
        if joint.end is None:
            joint.end = end

    def _next(self) -> str:
        """Skip blanks; return the character that follows, empty at the end."""
        match = _BLANKS.match(self.source, self.pos)
        self.pos = match.end() if match else self.pos
        return self.source[self.pos : self.pos + 1]

    def _word(self) -> str:
        match = _TOKEN.match(self.source, self.pos)
        return match.group()[:60] if match else self.source[self.pos : self.pos + 1]

    def _error(self, message: str) -> FileError:
        return FileError(self.path, message, line=self.source.count("\n", 0, self.pos) + 1)
