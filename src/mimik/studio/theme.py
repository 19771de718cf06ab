"""Colours and lamps of pictures and of the viewer, light and dark."""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, one_of


def linear(color: str) -> Array:
    """Return '#rrggbb' as linear light (3,), 0 to 1."""
    value = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


@dataclass(frozen=True, slots=True, eq=False)
class Theme:
    """One set of colours, '#rrggbb'; `lamps` are key, fill, rim, sky and ground light as linear factors (5, 3)."""

    name: str
    sky_top: str
    sky: str
    ground: str
    line: str
    text: str
    shadow: str
    bodies: tuple[str, ...]
    accents: tuple[str, ...]
    dots: tuple[str, ...]
    lamps: Array
    shadow_strength: float


LIGHT = Theme(
    name="light", sky_top="#f1f4f7", sky="#f4f6f8", ground="#e9edf2", line="#c3ccd8", text="#27303b", shadow="#3c4a63",
    bodies=("#dcd5cb", "#9fc0e6", "#a8d5b5", "#e9b6a0", "#c9b6e4"),
    accents=("#5d6673", "#2f567f", "#2f6b4b", "#8c4a37", "#5c4685"),
    dots=("#f4612e", "#1f7ae0", "#12a06b", "#b23bc4", "#e0a100"),
    lamps=np.array([[0.98, 0.92, 0.84], [0.09, 0.11, 0.14],
                    [0.30, 0.33, 0.38], [0.30, 0.33, 0.38], [0.15, 0.14, 0.14]]),
    shadow_strength=0.40,
)  # fmt: skip
DARK = Theme(
    name="dark", sky_top="#171b22", sky="#1a1f27", ground="#262c37", line="#46505f", text="#e6ebf2", shadow="#000000",
    bodies=("#d2cbc2", "#7fb0e8", "#86cfa0", "#ec9f80", "#bb9ff0"),
    accents=("#4a525e", "#234a75", "#21603f", "#7d3c2a", "#4c3678"),
    dots=("#ff7a45", "#4ea3ff", "#2ed596", "#d46bea", "#ffc633"),
    lamps=np.array([[0.90, 0.84, 0.76], [0.10, 0.13, 0.18],
                    [0.55, 0.62, 0.75], [0.24, 0.28, 0.36], [0.10, 0.10, 0.11]]),
    shadow_strength=0.62,
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}


def theme_named(name: str) -> Theme:
    """Return the theme called `name`; raises OptionError that lists them."""
    if name not in THEMES:
        raise OptionError(one_of("theme", name, THEMES))
    return THEMES[name]
