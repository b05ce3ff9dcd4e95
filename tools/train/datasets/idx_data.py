"""Labelled images in IDX, the files of MNIST: unsigned bytes, also packed by gzip.

A file of images has a file of labels beside it. Its name has ``labels`` for ``images`` and ``idx1``
for ``idx3``. The format is that of https://yann.lecun.org/exdb/mnist (section "file formats").
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, shown
from merp.models.base.regular_file import check_regular
from merp.tools.common.npz import NUMBERS, RATIO, SMALL
from merp.tools.train.datasets.data import WHITE, Data, checked

_BYTES = b"\0\0\x08"
_IMAGES = re.compile(r"images([-.])idx3-ubyte(\.gz)?$")
_SETS = {"train": re.compile(r"train-?$"), "held": re.compile(r"(t10k|test)-?$")}


def is_idx(path: Path) -> bool:
    """Return whether a file's name is that of images in IDX."""
    return _IMAGES.search(path.name) is not None


def read_idx_data(path: Path) -> Data:
    """Read the images, (count, rows, columns), of a file, and the labels of the file beside it.

    Raises:
        BadInput: a file is unreadable, damaged or of another type, or there are no labels.
    """
    plain = _IMAGES.sub(r"labels\1idx1-ubyte", path.name)
    beside = [path.with_name(plain), path.with_name(f"{plain}.gz")]
    labels = next((each for each in beside if each.exists()), None)
    if labels is None:
        raise BadInput(f"{path}: no labels beside it: allowed is {plain} or {plain}.gz")
    found = checked(str(path), _array(path, 3), _array(labels, 1), ("images", labels.name))
    return replace(found, divisor=WHITE)


def idx_files(folder: Path) -> dict[str, Path]:
    """Return the files of images of a folder: ``train``, and ``held`` for validation.

    Raises:
        BadInput: there are several of a kind.
    """
    found: dict[str, Path] = {}
    for path in sorted(filter(is_idx, folder.iterdir())):
        head = path.name[: path.name.index("images")]
        for kind, pattern in _SETS.items():
            if pattern.search(head):
                if kind in found and found[kind].name != path.name.removesuffix(".gz"):
                    raise BadInput(f"{folder}: {found[kind].name}, {path.name}: give one of them")
                found.setdefault(kind, path)
    return found


def _array(path: Path, dimensions: int) -> NDArray[np.uint8]:
    try:
        check_regular(path)
        packed = path.stat().st_size
        with path.open("rb") as file:
            if path.suffix != ".gz":
                return _read(path, file, dimensions, packed)
            limit = max(SMALL, RATIO * packed)
            with gzip.open(file) as unpacked:
                return _read(path, cast(IO[bytes], unpacked), dimensions, limit)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path}: cannot be read: its gzip data are damaged") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except MemoryError as error:
        raise BadInput(f"{path}: not enough memory for its bytes") from error


def _read(path: Path, file: IO[bytes], dimensions: int, limit: int) -> NDArray[np.uint8]:
    """Return the array of a file that may have up to ``limit`` bytes."""
    head = file.read(4 + 4 * dimensions)
    if head[:4] != _BYTES + bytes([dimensions]) or len(head) < 4 + 4 * dimensions:
        raise BadInput(f"{path}: not IDX of bytes in {dimensions} dimensions")
    size = tuple(int(each) for each in np.frombuffer(head, ">u4", offset=4))
    count = prod(size)
    if count > min(limit, NUMBERS):
        raise BadInput(
            f"{path}: size {shown(size)}: allowed are at most {min(limit, NUMBERS):,} bytes"
        )
    found = np.frombuffer(file.read(count + 1), np.uint8)
    if len(found) != count:
        what = "more" if len(found) > count else f"{len(found):,} bytes"
        raise BadInput(f"{path}: {what}: its header declares {count:,} bytes")
    return found.reshape(size)
