"""Decimal text to floats and back, compiled: what makes large BVH files quick to read and write.

`parse_numbers` gives bit for bit what Python's `float` gives. Most tokens are exact by construction (Clinger's fast
path, or a quotient with its remainder); the few that are not are handed back to `float`.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from mimik._types import Array

Bytes = npt.NDArray[np.uint8]

_DONE, _ODD_TOKEN, _LONG_LINE = range(3)
_POS, _COUNT, _LINE, _BROKEN_LINE, _GLUED, _RESUMED = range(6)
_TENS = 10.0 ** np.arange(23)
_u, _ONE = np.uint64, np.uint64(1)
_NEWLINE, _BLANK, _PLUS, _MINUS, _POINT, _ZERO = b"\n +-.0"
_EXPONENT = tuple(b"eE")
_TOKEN = re.compile(rb"[^\x00-\x20]+")
_NAN = re.compile(rb"[+-]?(nan(\(.*\))?|1\.#(ind|qnan|snan)\d*|#num!)", re.IGNORECASE)
_CHUNK_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class ParsedNumbers:
    """Rows of numbers, and what was odd about their text.

    values       (N, columns) whole rows
    leftover     how many numbers follow the last whole row
    glued_line   first line where only a sign parts two numbers, 0 where none
    broken_line  line on which the unfinished last row breaks off, 0 where none
    odd_line     first line with a number that is not finite, 0 where none; odd_row its row
    """

    values: Array
    leftover: int
    glued_line: int
    broken_line: int
    odd_line: int
    odd_row: int


class NumberError(Exception):
    """Text that is no row of numbers: the line and what is wrong with it. Never leaves io."""

    def __init__(self, line: int, row: int, message: str) -> None:
        super().__init__(message)
        self.line, self.row, self.message = line, row, message


def parse_numbers(text: bytes, *, columns: int, start: int = 0, first_line: int = 1) -> ParsedNumbers:
    """Parse rows of `columns` numbers parted by blanks; a row may run over several lines, a line holds one row at most.

    Spellings of NaN become NaN. Parsing begins at byte `start`, on line `first_line`. Memory is bounded by the text:
    eight bytes a number, and a number takes two bytes of text at least. Raises NumberError.
    """
    if not text.endswith(b"\n"):
        text += b"\n"
    data = np.frombuffer(text, dtype=np.uint8)
    values = np.empty(((len(text) - start) // (2 * columns) + 1) * columns)  # what is not filled takes no memory
    state = np.array([start, 0, first_line, 0, 0, 0], dtype=np.int64)
    odd_line, odd_row = 0, 0
    while (status := _parse(data, columns, _TENS, state, values)) != _DONE:
        pos, count, line = int(state[_POS]), int(state[_COUNT]), int(state[_LINE])
        token = _TOKEN.match(text, pos)
        if status == _LONG_LINE or token is None:
            raise _row_length_error(int(state[_BROKEN_LINE]), line, count // columns - 1, columns)
        values[count] = number = _odd_number(token.group(), line, count // columns)
        if not odd_line and not math.isfinite(number):
            odd_line, odd_row = line, count // columns
        state[_COUNT], state[_POS], state[_RESUMED] = count + 1, token.end(), 1
    whole, leftover = divmod(int(state[_COUNT]), columns)
    broken = (int(state[_BROKEN_LINE]) or int(state[_LINE])) if leftover else 0
    table = values[: whole * columns].reshape(whole, columns)
    return ParsedNumbers(table, leftover, int(state[_GLUED]), broken, odd_line, odd_row)


def parse_numbers_reference(text: bytes, *, columns: int) -> Array:
    """Parse the same with Python's own `float`, for well-formed text."""
    values = np.array([float(token) for token in text.split()])
    return values.reshape(-1, columns)


def format_rows(values: Array, *, decimals: int) -> Iterator[bytes]:
    """Yield lines of fixed-point numbers, one blank between them, in pieces of bounded size; values are finite.

    Raises NumberError (row number in `row`) where a number has more than 18 digits.
    """
    width = decimals + 22
    step = max(1, _CHUNK_BYTES // max(1, width * values.shape[1]))
    for start in range(0, len(values), step):
        rows = np.ascontiguousarray(values[start : start + step])
        out = np.empty(rows.size * width + len(rows), dtype=np.uint8)
        size = _format(rows, decimals, out)
        if size < 0:
            raise NumberError(0, start - size - 1, f"a number is too large to write with {decimals} decimals")
        yield out[:size].tobytes()


def format_rows_reference(values: Array, *, decimals: int) -> bytes:
    """Format the same with Python's own formatting."""
    lines = (" ".join(f"{v:z.{decimals}f}" for v in row) for row in values)
    return "".join(line + "\n" for line in lines).encode()


def _row_length_error(broken_line: int, line: int, row: int, columns: int) -> NumberError:
    if broken_line:
        return NumberError(broken_line, row, f"this line holds fewer than the {columns} numbers the channels ask for")
    return NumberError(line, row, f"this line holds more than the {columns} numbers the channels ask for")


def _odd_number(token: bytes, line: int, row: int) -> float:
    if _NAN.fullmatch(token):
        return float("nan")
    try:
        if b"_" in token:
            raise ValueError
        return float(token)
    except ValueError:
        shown = token[:40].decode("utf-8", "replace")
        hint = " (decimal commas are not BVH)" if b"," in token else ""
        raise NumberError(line, row, f"{shown!r} is not a number{hint}") from None


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _parse(data, columns, tens, state, values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill values from data (bytes ending in a newline), starting at and updating state.

    State is position, count, line, broken line, glued line. Stops at the end, at a token it cannot convert exactly, or
    at a line that begins with one row and goes on with the next. Indices are unsigned: signed ones are three times
    slower, because each access asks whether it counts from the end.
    """
    pos, size, count, room = _u(state[_POS]), _u(data.size), _u(state[_COUNT]), _u(values.size)
    line = state[_LINE]
    column = state[_COUNT] % columns
    row_ended_here = column == 0 and state[_RESUMED] != 0  # behind a token that ended its row
    status = _DONE
    while pos < size:
        c = data[pos]
        if c <= _BLANK:
            pos += _ONE
            if c == _NEWLINE:
                if column == 0:
                    state[_BROKEN_LINE] = 0
                elif state[_BROKEN_LINE] == 0:
                    state[_BROKEN_LINE] = line
                row_ended_here = False
                line += 1
            continue
        if row_ended_here or count == room:
            status = _LONG_LINE
            break
        start = pos
        negative = c == _MINUS
        if negative or c == _PLUS:
            pos += _ONE
        # mantissa and decimal exponent; loops end at the newline that ends the data at the latest
        mantissa, exponent, first = 0, 0, pos
        while data[pos] == _ZERO:
            pos += _ONE
        significant = pos
        digit = np.int64(data[pos]) - _ZERO
        while 0 <= digit <= 9:
            mantissa = mantissa * 10 + digit  # type: ignore[assignment]
            pos += _ONE
            digit = np.int64(data[pos]) - _ZERO
        digits, written = pos - significant, pos - first
        if data[pos] == _POINT:
            pos += _ONE
            point = pos
            if digits == _u(0):
                while data[pos] == _ZERO:
                    pos += _ONE
            significant = pos
            digit = np.int64(data[pos]) - _ZERO
            while 0 <= digit <= 9:
                mantissa = mantissa * 10 + digit  # type: ignore[assignment]
                pos += _ONE
                digit = np.int64(data[pos]) - _ZERO
            digits += pos - significant
            written += pos - point
            exponent = -np.int64(pos - point)  # type: ignore[assignment]
        c = data[pos]
        if c in _EXPONENT:
            pos += _ONE
            power, down = 0, data[pos] == _MINUS
            if down or data[pos] == _PLUS:
                pos += _ONE
            first = pos
            while 0 <= np.int64(data[pos]) - _ZERO <= 9:
                power = min(power * 10 + np.int64(data[pos]) - _ZERO, 100000)  # type: ignore[assignment]
                pos += _ONE
            written = min(written, pos - first)
            exponent += -power if down else power
            c = data[pos]
        if c <= _BLANK and written > _u(0) and digits <= _u(15) and -22 <= exponent <= 0:
            value = float(mantissa) / tens[_u(-exponent)]  # both exact, so rounded once
        else:
            value = np.nan
            if written > _u(0) and digits <= _u(18) and (c <= _BLANK or c in (_MINUS, _PLUS)):
                value = _scaled(mantissa, exponent, tens)
            if np.isnan(value):
                pos, status = start, _ODD_TOKEN
                break
        if c > _BLANK and state[_GLUED] == 0:
            state[_GLUED] = line
        values[count] = -value if negative else value
        count += _ONE
        column += 1
        if column == columns:
            column = 0
            row_ended_here = True
    state[_POS], state[_COUNT], state[_LINE] = pos, count, line
    return status


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _scaled(mantissa, exponent, tens):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return mantissa * 10**exponent rightly rounded, or NaN where these few steps cannot be sure of it."""
    exact_integer = mantissa <= 9007199254740992
    high = float(mantissa)
    if mantissa == 0:
        return 0.0
    if exponent == 0 or (0 < exponent <= 22 and exact_integer):
        return high * tens[exponent]
    if not -22 <= exponent < 0:
        return np.nan
    scale = tens[_u(-exponent)]
    value = high / scale
    if exact_integer:
        return value
    # quotient plus remainder, by Dekker's exact product; sure unless the sum lies at a rounding boundary
    t = 134217729.0 * value
    value_high = t - (t - value)
    value_low = value - value_high
    t = 134217729.0 * scale
    scale_high = t - (t - scale)
    scale_low = scale - scale_high
    product = value * scale
    error = value_high * scale_high - product + value_high * scale_low + value_low * scale_high + value_low * scale_low
    correction = ((high - product) - error + float(mantissa - int(high))) / scale
    above, below = value + correction * (1.0 + 1e-14), value + correction * (1.0 - 1e-14)
    return above if above == below else np.nan


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _format(values, decimals, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write rows (N, C) as fixed-point lines into out; return the bytes used, or -(row + 1) of a number too large."""
    scale = 10.0**decimals
    shown = _u(decimals)  # digits behind the point; one more is always written before it
    pos = _u(0)
    digits = np.empty(20, dtype=np.uint8)
    for n in range(values.shape[0]):
        for k in range(values.shape[1]):
            v = values[n, k]
            scaled = np.rint(abs(v) * scale)
            if not scaled < 1e18:
                return -(n + 1)
            whole = _u(scaled)
            if k > 0:
                out[pos] = _BLANK
                pos += _ONE
            if v < 0 and whole > _u(0):
                out[pos] = _MINUS
                pos += _ONE
            count = _u(0)
            while whole > _u(0) or count <= shown:
                rest = whole // _u(10)
                digits[count] = _u(_ZERO) + (whole - rest * _u(10))
                whole = rest
                count += _ONE
            while count > shown:
                count -= _ONE
                out[pos] = digits[count]
                pos += _ONE
            out[pos] = _POINT
            pos += _ONE
            while count > _u(0):
                count -= _ONE
                out[pos] = digits[count]
                pos += _ONE
        out[pos] = _NEWLINE
        pos += _ONE
    return np.int64(pos)
