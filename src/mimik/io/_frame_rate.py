"""Frame times as files spell them: `0.0083333` means 120 frames a second, and what is written reads back the same."""

import re

_DECIMAL = re.compile(r"[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?")
_USUAL_RATES = (
    24,
    25,
    30,
    48,
    50,
    60,
    72,
    75,
    90,
    96,
    100,
    120,
    125,
    144,
    150,
    180,
    200,
    240,
    250,
    300,
    480,
    500,
    1000,
)
_BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)


def fps_from_frame_time(text: str) -> float | None:
    """Return frames a second of a frame time in seconds, None when it is no positive time.

    A rate that explains the time within the digits written, rounded or cut off, is that rate: a whole one, a broadcast
    one (23.976, 29.97, ...); where the time has fewer than four digits only a usual one.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None or not match.group(1) + match.group(2):
        return None
    time = float(text)
    if not 1e-6 <= time <= 1e6:
        return None
    last_digit = 10.0 ** (int(match.group(3) or 0) - len(match.group(2)))
    short = len((match.group(1) + match.group(2)).lstrip("0")) < 4
    rates = _USUAL_RATES if short else (max(1, round(1 / time)), *_BROADCAST_RATES)
    near = sorted((abs(1 / rate - time), float(rate)) for rate in rates if _explains(1 / rate, time, last_digit))
    if near:
        return near[0][1]
    decimal = round(1 / time, 6)
    return decimal if abs(decimal * time - 1) < 1e-15 * 4 else 1 / time


def frame_time_text(fps: float) -> str:
    """Return the shortest decimal frame time, of 7 decimals or more, that `fps_from_frame_time` reads as `fps`."""
    for decimals in range(7, 21):
        text = f"{1 / fps:.{decimals}f}"
        if fps_from_frame_time(text) == fps:
            return text
    return f"{1 / fps:.20f}"


def _explains(true_time: float, time: float, last_digit: float) -> bool:
    error = true_time - time
    rounding = 4e-16 * time
    return -0.5 * last_digit - rounding <= error < last_digit + rounding and abs(error) < 0.012 * time
