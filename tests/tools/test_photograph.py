"""Photographs as input maps."""

import os
import struct
import subprocess
import sys
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from merp.models.arithmetic.words import to_values
from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.tools.common.photograph import load


@pytest.mark.usefixtures("impatient")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "picture")
    with pytest.raises(BadInput, match="picture: cannot be read: no regular file"):
        load(tmp_path / "picture", 4, 4, 3)


def test_the_shipped_photograph() -> None:
    words = load(None, 224, 224, 3)
    assert (words.shape, words.dtype) == ((1, 224, 224, 3), np.uint32)
    values = to_values(words, BINARY32)
    assert -1 <= values.min() < -0.9
    assert 0.9 < values.max() <= 1
    assert values.std() > 0.3


def test_centre_crop_and_scale(tmp_path: Path) -> None:
    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[:, 2:6] = (255, 0, 51)  # the centre square
    Image.fromarray(pixels).save(tmp_path / "image.png")
    values = to_values(load(tmp_path / "image.png", 4, 4, 3), BINARY32)
    assert (values == np.array([1, -1, np.float32(-0.6)])).all()


def test_grey_and_other_formats(tmp_path: Path) -> None:
    Image.new("RGBA", (9, 9), (255, 255, 255, 255)).save(tmp_path / "image.png")
    words = load(tmp_path / "image.png", 3, 5, 1, BFLOAT16)
    assert words.shape == (1, 3, 5, 1)
    assert (words == BFLOAT16.one).all()


def test_of_an_image_in_bytes_its_own_bytes_are_taken(tmp_path: Path) -> None:
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    Image.fromarray(pixels).save(tmp_path / "image.png")
    stored = ByteImage.of(Fraction(1, 16), Fraction(3))
    words = load(tmp_path / "image.png", 16, 16, 1, BINARY32, stored)
    assert (to_values(words, BINARY32)[0, ..., 0] == pixels / 16 + 3).all()


@pytest.mark.parametrize("content", [None, b"", b"no image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_unreadable_images_are_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "image.png"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=r"image\.png: not a readable image"):
        load(file, 8, 8, 3)


@pytest.mark.filterwarnings("error")
def test_a_picture_is_measured_before_it_is_decoded(tmp_path: Path) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    for rows, columns in ((60_000, 60_000), (8193, 8192), (1, (1 << 31) - 1)):
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
        file = tmp_path / "image.png"
        file.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
        with pytest.raises(BadInput, match="at most 67,108,864"):
            load(file, 8, 8, 3)


def test_a_format_whose_decoder_runs_programs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "image.eps"
    file.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    with pytest.raises(BadInput, match="not a readable image: allowed are JPEG, PNG"):
        load(file, 8, 8, 3)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: no regular file"):
        load(tmp_path, 8, 8, 3)


def test_other_numbers_of_channels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"image\.png: .* 2 are needed: allowed is --input FILE.npz"):
        load(tmp_path / "image.png", 8, 8, 2)


def test_only_our_line_is_said_of_a_broken_picture(tmp_path: Path) -> None:
    """In a process where nobody listens to what Pillow logs."""
    file = tmp_path / "image.tif"
    Image.new("RGB", (9, 9)).save(file)
    samples, many = (struct.pack("<HHIHH", 277, 3, 1, count, 0) for count in (3, 128))
    assert samples in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(samples, many))
    words = ["simulate", "digits", "--layer", "conv1", "--image", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "merp.tools.cli", *words], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"merp: {file}: not a readable image: allowed are JPEG, PNG, TIFF, WEBP, BMP, GIF, PPM\n"
    )
