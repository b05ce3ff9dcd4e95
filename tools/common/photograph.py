"""Photographs as input maps: real images without the download of a data set."""

from __future__ import annotations

import logging
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from merp.models.arithmetic.stored import from_memory
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.given import name_of
from merp.models.base.regular_file import check_regular
from merp.models.base.storage import StoredFormat

# Without a handler, Pillow would print its log about a broken file before merp's own message.
logging.getLogger("PIL").addHandler(logging.NullHandler())

Size = tuple[int, int, int]
"""Rows, columns and channels."""

SAMPLE = "grace_hopper.jpg"
PIXELS = 1 << 26
FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "BMP", "GIF", "PPM")
"""Allowed formats. Other decoders of Pillow are rarely used, and some run programs."""

_MODES = {1: "L", 3: "RGB"}
CHANNELS = tuple(_MODES)
"""Possible channels of a photograph."""


def _sample() -> Path:
    """Return the photograph in Matplotlib, without an import, which takes longer than a small
    run."""
    spec = find_spec("matplotlib")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, "mpl-data/sample_data", SAMPLE)
        if path.is_file():
            return path
    from matplotlib.cbook import get_sample_data  # for distributions that move its data

    return Path(get_sample_data(SAMPLE, asfileobj=False))


def load(
    path: Path | None,
    rows: int,
    columns: int,
    channels: int,
    fmt: FloatFormat = BINARY32,
    stored: StoredFormat = BINARY32,
) -> Bits:
    """Read a photograph, crop it about its centre, resize it, scale it to [-1, 1].

    If the image is ``stored`` in bytes, each byte gets the value that it represents in memory.

    Args:
        path: a file in one of ``FORMATS``; None is the portrait that comes with Matplotlib.
        rows, columns: size of the result.
        channels: 3 (red, green, blue) or 1 (grey).
        fmt: format of the words.
        stored: format in memory.

    Returns:
        (1, rows, columns, channels) words.

    Raises:
        BadInput: the file is not a readable image, has too many pixels, or ``channels`` is not
            allowed.
    """
    found = pixels(path, rows, columns, channels)
    if isinstance(stored, ByteImage):
        return from_memory(found, stored, fmt)
    return to_bits(found / 127.5 - 1.0, fmt)


def pixels(path: Path | None, rows: int, columns: int, channels: int) -> NDArray[np.uint8]:
    """Read a photograph, crop it about its centre, resize it: (1, rows, columns, channels).

    Raises:
        BadInput: as for ``load``.
    """
    if channels not in CHANNELS:
        raise BadInput(
            f"{path}: a photograph has 1 channel (grey) or 3 (colour), and {channels} are needed: "
            f"allowed is {name_of('x')}"
        )
    upright = _opened(path or _sample(), _MODES[channels])
    fitted = ImageOps.fit(upright, (columns, rows), Image.Resampling.BICUBIC)
    return np.asarray(fitted, np.uint8).reshape(1, rows, columns, channels)


def _opened(source: Path, mode: str) -> Image.Image:
    """Return the picture, right side up. Its size is checked before a pixel is decoded."""
    try:
        check_regular(source)
        with warnings.catch_warnings(), source.open("rb") as file:
            warnings.simplefilter("ignore")  # about sizes, which are checked below
            with Image.open(file, formats=FORMATS) as image:
                if image.width * image.height > PIXELS:
                    raise BadInput(
                        f"{source}: {image.width:,} x {image.height:,} pixels: allowed are at most "
                        f"{PIXELS:,}"
                    )
                if image.mode[0] in "IF":  # Pillow would clip their numbers
                    raise BadInput(f"{source}: more than 8 bits a channel")
                return ImageOps.exif_transpose(image).convert(mode)
    except BadInput:
        raise
    except Image.DecompressionBombError as error:
        raise BadInput(f"{source}: too large: allowed are at most {PIXELS:,} pixels") from error
    except Exception as error:  # decoders raise many kinds of errors
        reason = getattr(error, "strerror", None) or f"allowed are {', '.join(FORMATS)}"
        raise BadInput(f"{source}: not a readable image: {reason}") from error


def batch(
    path: Path | None, images: int, size: Size, fmt: FloatFormat, stored: StoredFormat
) -> Bits:
    """Return input maps of ``size`` for a network: (images, rows, columns, channels) words.

    Image i is the photograph moved 7*i columns to the left, and mirrored if i is odd. All images
    differ, because equal images would hide a mix-up between them.
    """
    photo = load(path, *size, fmt, stored)[0]
    moved = [np.roll(photo, -7 * i, axis=1)[:, :: -1 if i % 2 else 1] for i in range(images)]
    return np.ascontiguousarray(np.stack(moved))


def picture(path: Path, channels: int) -> NDArray[np.uint8]:
    """Read a picture without a change of its size: (rows, columns, channels) bytes.

    Raises:
        BadInput: the file is not a readable image, or has too many pixels.
    """
    upright = _opened(path, _MODES[channels])
    return np.asarray(upright, np.uint8).reshape(upright.height, upright.width, channels)
