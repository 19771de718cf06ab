"""Pictures into files: PNG, GIF and MP4, written beside their place and moved in when whole."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from mimik.errors import FileError, MissingExtraError
from mimik.io.files import atomic_write
from mimik.studio.stage import Image


def write_png(path: Path, image: Image) -> None:
    """Write one picture (H, W, 3)."""
    with atomic_write(path) as part:
        Pillow.fromarray(image).save(part, format="PNG", optimize=True)


def write_gif(path: Path, images: Iterator[Image], fps: float, samples: list[Image], *, colors: int = 96) -> None:
    """Write pictures as a GIF that loops. Delays are whole hundredths of a second, chosen so that they add up right.

    samples  some of the pictures, from which the palette is made
    What stays the same from one picture to the next is left transparent, which keeps files small.
    """
    palette = _palette(samples, colors)
    bytes_of_palette = (palette.getpalette() or [])[: 3 * colors]
    sheets, before = [], None
    for image in images:
        now = np.asarray(Pillow.fromarray(image).quantize(palette=palette, dither=Pillow.Dither.NONE))
        page = now if before is None else np.where(now == before, colors, now)
        sheets.append(Pillow.fromarray(page.astype(np.uint8), mode="P"))
        sheets[-1].putpalette(bytes_of_palette + [0] * (768 - len(bytes_of_palette)))
        before = now
    ends = np.round(np.arange(1, len(sheets) + 1) * 100.0 / fps).astype(int)
    delays = [int(d) * 10 for d in np.maximum(np.diff(ends, prepend=0), 2)]
    with atomic_write(path) as part:
        sheets[0].save(
            part, format="GIF", save_all=True, append_images=sheets[1:], duration=delays, loop=0, disposal=1,
            transparency=colors, optimize=False,
        )  # fmt: skip


def write_mp4(path: Path, images: Iterator[Image], fps: float) -> None:
    """Write pictures as H.264 video that plays everywhere; raises MissingExtraError without `mimik[video]`."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise MissingExtraError("writing MP4", "video") from None
    with atomic_write(path) as part:
        first = next(images)
        height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2
        command = [
            get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
            "-s", f"{width}x{height}", "-r", f"{fps:.6f}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "18",
            "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", os.fspath(part),
        ]  # fmt: skip
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert encoder.stdin is not None and encoder.stderr is not None
        try:
            for image in _again(first, images):
                encoder.stdin.write(np.ascontiguousarray(image[:height, :width]).tobytes())
            encoder.stdin.close()
            said = encoder.stderr.read().decode(errors="replace")
            if encoder.wait() != 0:
                raise FileError(path, f"the video encoder failed: {said.strip()[-300:]}")
        except BrokenPipeError:
            said = encoder.stderr.read().decode(errors="replace")
            raise FileError(path, f"the video encoder failed: {said.strip()[-300:]}") from None
        finally:
            if encoder.poll() is None:
                encoder.kill()
                encoder.wait()
            encoder.stderr.close()


def _again(first: Image, rest: Iterator[Image]) -> Iterator[Image]:
    yield first
    yield from rest


def _palette(samples: list[Image], colors: int) -> Pillow.Image:
    """Return one palette for all frames, so that colours do not flicker, from a sheet of samples.

    Vivid pixels, few but noticed, get a tenth of the sheet.
    """
    some = np.concatenate([sample[::2, ::2] for sample in samples])
    pixels = some.reshape(-1, 3)
    vivid = pixels[np.ptp(pixels, axis=1) > 90]
    if len(vivid):
        pixels = np.concatenate([pixels, np.resize(vivid, (max(1, len(pixels) // 10), 3))])
    width = some.shape[1]
    sheet = pixels[: len(pixels) // width * width].reshape(-1, width, 3)
    return Pillow.fromarray(np.ascontiguousarray(sheet)).quantize(colors, method=Pillow.Quantize.MEDIANCUT)
