"""Pictures and films of clips, rigs and keypoints, without a display: the public call `render`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from mimik.errors import FileError, OptionError
from mimik.goals.keypoints import Keypoints
from mimik.studio.actor import Subject, actor_of, subjects_of
from mimik.studio.export import write_gif, write_mp4, write_png
from mimik.studio.film import Film, Progress, Shot, make_film
from mimik.studio.stage import Image
from mimik.studio.theme import Theme, theme_named

MAX_SIDE = 4096
MOST_IN_FILM, MOST_IN_GIF = 200_000, 3_000
SUFFIXES = (".png", ".gif", ".mp4")


def render(
    subjects: Subject | Sequence[Subject],
    path: str | os.PathLike[str],
    *,
    view: str = "hero",
    focus: str | None = None,
    width: int = 640,
    height: int = 480,
    theme: str = "light",
    fps: float | None = None,
    frames: int | Sequence[int] = 5,
    keypoints: Keypoints | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    ghosts: int = 0,
    together: bool = False,
    follow: bool | None = None,
    floor: float | None = None,
    body: str = "auto",
    progress: Progress | None = None,
) -> Path:
    """Draw clips, rigs (in their T-pose) or keypoints (as dots) to a .png, .gif or .mp4 file and return its path.

    subjects   one or several; several stand side by side, or in one place with `together`
    view       "hero" (three-quarter), "front", "side", "back" or "top"; focus: a role or joint to look at closely
    width      pixels; of a PNG with several frames: of each of them
    fps        pictures a second of a film: at most 25 in a GIF and 30 in an MP4 unless given
    frames     of a PNG: how many moments side by side, or their frame numbers
    keypoints  drawn over the first figure as dots; labels: a line under each figure; title: a line on top
    ghosts     pale copies along the way; follow: camera goes along (None: when the figure travels far)
    floor      height of the floor, metres; None finds it
    body       "auto", "mannequin" or "makehuman"; see `mimik.studio.mannequin.body_of`
    progress   called with pictures done and pictures in all
    Raises OptionError for what is out of range, FileError for another suffix, MissingExtraError for MP4 without
    `mimik[video]`. Nothing is left behind when it is interrupted.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise FileError(path, f"pictures are written as {', '.join(SUFFIXES)}, not {path.suffix or 'without a suffix'}")
    shot = Shot(view, focus, width, height, follow, ghosts, floor, together)
    film = film_of(subjects, shot, theme=theme, keypoints=keypoints, body=body)
    words = _Words(tuple(labels or ()), title, film.theme)
    if path.suffix.lower() == ".png":
        moments = _moments(film, frames)
        pictures = [words.on(film, t, image) for t, image in zip(moments, film.pictures(moments, progress))]
        write_png(path, np.concatenate(pictures, axis=1))
        return path
    gif = path.suffix.lower() == ".gif"
    rate = _rate(film, fps, 25.0 if gif else 30.0)
    count, most = int(film.duration * rate + 1e-6) + 1, MOST_IN_GIF if gif else MOST_IN_FILM
    if count > most:
        kind = "GIF, which is held in memory" if gif else "film"
        raise OptionError(f"{count} pictures; at most {most} fit in a {kind}: give a lower fps or cut the clip")
    moments = [n / rate for n in range(count)]
    drawn = (words.on(film, t, image) for t, image in zip(moments, film.pictures(moments, progress)))
    if gif:
        few = sorted({moments[round(n)] for n in np.linspace(0, count - 1, 6)})
        write_gif(path, drawn, rate, [words.on(film, t, film.picture(t)) for t in few])
    else:
        write_mp4(path, drawn, rate)
    return path


def film_of(
    subjects: Subject | Sequence[Subject],
    shot: Shot,
    *,
    theme: str = "light",
    keypoints: Keypoints | None = None,
    body: str = "auto",
) -> Film:
    """Set up the film `render` draws; for pictures as arrays call its `picture(seconds)`."""
    for label, value in (("width", shot.width), ("height", shot.height)):
        if not 16 <= value <= MAX_SIDE:
            raise OptionError(f"{label} is {value} pixels; it must be from 16 to {MAX_SIDE}")
    if not 0 <= shot.ghosts <= 50:
        raise OptionError(f"{shot.ghosts} ghosts; it must be from 0 to 50")
    items = subjects_of(subjects)
    actors = [actor_of(item, keypoints if n == 0 else None, body=body) for n, item in enumerate(items)]
    return make_film(actors, theme_named(theme), shot)


def _moments(film: Film, frames: int | Sequence[int]) -> list[float]:
    """Return the moments of a PNG in seconds."""
    rate = max(actor.fps for actor in film.actors)
    last = round(film.duration * rate)
    if isinstance(frames, int):
        if not 1 <= frames <= 60:
            raise OptionError(f"frames is {frames}; a PNG shows from 1 to 60 moments")
        count = min(frames, last + 1)
        chosen = [last // 2] if count == 1 else [round(f) for f in np.linspace(0, last, count)]
    else:
        chosen = list(frames)
        outside = [f for f in chosen if not 0 <= f <= last]
        if not chosen or outside:
            raise OptionError(f"frame {outside[0] if outside else '(none)'} is not in this clip; valid: 0 to {last}")
    return [f / rate for f in chosen]


def _rate(film: Film, fps: float | None, usual: float) -> float:
    if fps is None:
        return min(usual, max(actor.fps for actor in film.actors))
    if not 0.1 <= fps <= 240.0:
        raise OptionError(f"fps is {fps}; it must be from 0.1 to 240")
    return fps


class _Words:
    """The lines of text on a picture."""

    def __init__(self, labels: tuple[str, ...], title: str, theme: Theme) -> None:
        self.labels, self.title, self.theme = labels, title, theme

    def on(self, film: Film, seconds: float, image: Image) -> Image:
        """Return the picture with its labels and title."""
        if not self.labels and not self.title:
            return image
        sheet = Pillow.fromarray(image)
        draw = ImageDraw.Draw(sheet)
        height, width = image.shape[:2]
        font = ImageFont.load_default(size=max(11.0, height / 26))
        for label, (column, row) in zip(self.labels, film.anchors(seconds)):
            row = min(row + 0.055 * height, height - 0.03 * height)
            column = min(
                max(column, 0.5 * draw.textlength(label, font) + 4), width - 0.5 * draw.textlength(label, font) - 4
            )
            draw.text((column, row), label, fill=self.theme.text, font=font, anchor="mm")
        large = ImageFont.load_default(size=max(12.0, height / 20))
        draw.text((0.03 * width, 0.03 * width), self.title, fill=self.theme.text, font=large, anchor="la")
        return np.asarray(sheet)
