"""The compiled number parser and formatter agree with Python's own, bit for bit."""

import numpy as np
import pytest

from mimik.io._bvh_numbers import (
    NumberError,
    format_rows,
    format_rows_reference,
    parse_numbers,
    parse_numbers_reference,
)

UGLY = (
    *("0", "-0", "+0", ".5", "5.", "-.25e-3", "1e22", "1e23", "-1E-22", "1e-400", "1e400", "5e-324"),
    *("123456789012345678", "1234567890123456789", "12345678901234567890123", "100000000000000000000000"),
    *("9007199254740993", "9007199254740992.5", "2.2250738585072011e-308", "1.7976931348623157e308"),
    *("0.1", "0.30000000000000004", "0.000000000000000000000000", "0.00000000000000000000000012345"),
    "1.00000000000000011102230246251565",
)


def random_tokens(rng: np.random.Generator, count: int) -> list[str]:
    values = rng.normal(size=count) * 10.0 ** rng.integers(-12, 12, count)
    styles = [repr(float(v)) for v in values[::2]]
    return styles + [f"{v:.{rng.integers(0, 20)}{'fe'[rng.integers(2)]}}" for v in values[1::2]]


def test_parser_gives_what_float_gives():
    tokens = [*UGLY, *random_tokens(np.random.default_rng(1), 20_000)]
    parsed = parse_numbers("\n".join(tokens).encode(), columns=1).values[:, 0]
    expected = np.array([float(t) for t in tokens])
    np.testing.assert_array_equal(parsed.view(np.int64), expected.view(np.int64))


@pytest.mark.parametrize("decimals", [1, 3, 6, 9])
def test_formatter_gives_what_python_gives_and_reads_back(decimals):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(500, 7)) * 10.0 ** rng.integers(-8, 4, (500, 7))
    values[0] = [0.0, -0.0, -1e-12, 0.5, -99.9999999999, 1.0, 123456.0]
    text = b"".join(format_rows(values, decimals=decimals))
    if decimals < 9:  # a binary half may round either way in the 17th digit
        assert text == format_rows_reference(values, decimals=decimals)
    parsed = parse_numbers(text, columns=7)
    np.testing.assert_array_equal(parsed.values, parse_numbers_reference(text, columns=7))
    np.testing.assert_allclose(parsed.values, values, atol=0.500001 * 10.0**-decimals)


def test_formatter_cuts_large_takes_into_pieces():
    values = np.tile(np.arange(100.0), (4000, 1))
    pieces = list(format_rows(values, decimals=6))
    assert len(pieces) > 1
    np.testing.assert_array_equal(parse_numbers(b"".join(pieces), columns=100).values, values)


def test_a_number_too_large_to_write_names_its_row():
    values = np.zeros((5, 2))
    values[3, 1] = 1e13
    with pytest.raises(NumberError) as caught:
        list(format_rows(values, decimals=6))
    assert caught.value.row == 3


@pytest.mark.parametrize(
    ("text", "line", "row", "message"),
    [
        (b"1 2 3\n4 5\n7 8 9\n", 2, 1, "fewer than the 3"),
        (b"1 2 3\n4 5 6 7\n8 9", 2, 1, "more than the 3"),
        (b"1 2 3 4 5 6\n", 1, 0, "more than the 3"),
        (b"1 2 nan 4", 1, 0, "more than the 3"),
        (b"\n\n1 2 --3\n", 3, 0, "'--3' is not a number"),
        (b"1 2 3\n1 1_0 3\n", 2, 1, "1_0"),
        (b"1 2 3e\n", 1, 0, "3e"),
        (b"1 2 0x10\n", 1, 0, "0x10"),
        ("1 2 ３\n".encode(), 1, 0, "not a number"),
    ],
)
def test_errors_name_line_and_row(text, line, row, message):
    with pytest.raises(NumberError, match=message) as caught:
        parse_numbers(text, columns=3)
    assert (caught.value.line, caught.value.row) == (line, row)


def test_rows_may_wrap_and_oddities_are_told():
    parsed = parse_numbers(b"1 2\n3\n4 5-6\nnan 8\n9\n10 11", columns=3, first_line=10)
    np.testing.assert_array_equal(parsed.values, [[1, 2, 3], [4, 5, -6], [np.nan, 8, 9]])
    assert (parsed.leftover, parsed.glued_line, parsed.broken_line) == (2, 12, 15)
    assert (parsed.odd_line, parsed.odd_row) == (13, 2)
