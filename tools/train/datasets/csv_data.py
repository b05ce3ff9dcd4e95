"""Labelled images in a CSV file: a line is a label and the numbers of an image.

Without a header the label comes first, as in the usual files of MNIST. With a header it is the
column that is called one of ``LABELS``. Lines are read in blocks, so that text never fills the
memory; a block of whole numbers from 0 to 255 is kept in bytes.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.base.regular_file import check_regular
from merp.tools.common.npz import NUMBERS
from merp.tools.train.datasets.data import Data, checked

LABELS = ("label", "labels", "class", "target", "y")
LINE = 1 << 24
"""Most characters of a line."""
BLOCK = 1 << 22
"""About as many numbers are converted at once."""

Line = tuple[int, str]


def read_csv_data(path: Path) -> Data:
    """Read the images, (count, numbers), and labels of a CSV file with commas.

    Raises:
        BadInput: the file is unreadable, its header names no column of labels, or a line has other
            content or another length than the first.
    """
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig") as file:
            return _read(path, file)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: cannot be read: allowed is text in UTF-8") from error
    except MemoryError as error:
        raise BadInput(f"{path}: not enough memory for its numbers") from error


def _read(path: Path, file: IO[str]) -> Data:
    lines = _lines(path, file)
    first = next(lines, None)
    if first is None:
        raise BadInput(f"{path}: no line: allowed is a label and numbers in each line")
    names = next(csv.reader([first[1]]))
    column = _column_of_labels(path, names)
    width = len(names)
    blocks = [] if column is not None else [_numbers(path, [first], width)]
    total = width
    while block := list(islice(lines, max(1, BLOCK // width))):
        total += len(block) * width
        if total > NUMBERS:
            raise BadInput(f"{path}: allowed are at most {NUMBERS:,} numbers in a file")
        blocks.append(_numbers(path, block, width))
    if not blocks:
        raise BadInput(f"{path}: no line below the header")
    at = column or 0
    labels = np.concatenate([block[:, at] for block in blocks])
    images = np.concatenate([_small(np.delete(block, at, axis=1)) for block in blocks])
    return checked(
        str(path), images, labels, ("images", names[at] if column is not None else "labels")
    )


def _lines(path: Path, file: IO[str]) -> Iterator[Line]:
    """Yield the lines that are not empty, each with its number from 1."""
    number = 0
    while line := file.readline(LINE):
        number += 1
        if len(line) == LINE:
            raise BadInput(f"{path}: line {number}: allowed are less than {LINE:,} characters")
        if line.strip():
            yield number, line


def _column_of_labels(path: Path, names: list[str]) -> int | None:
    """Return the column of labels by the header; None if the first line is no header."""
    try:
        [float(name) for name in names]
    except ValueError:
        pass
    else:
        return None
    found = [at for at, name in enumerate(names) if name.strip().lower() in LABELS]
    if len(found) != 1:
        raise BadInput(
            f"{path}: {len(found)} columns of labels: allowed is one that is called "
            f"{' or '.join(LABELS)}"
        )
    return found[0]


def _numbers(path: Path, block: list[Line], width: int) -> NDArray[np.float64]:
    """Return the numbers of some lines, (lines, width)."""
    found = _parsed([line for _, line in block], width)
    if found is not None:
        return found
    number = next(number for number, line in block if _parsed([line], width) is None)
    raise BadInput(f"{path}: line {number}: allowed are {width:,} numbers with commas between")


def _parsed(lines: list[str], width: int) -> NDArray[np.float64] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = np.loadtxt(lines, delimiter=",", comments=None, quotechar='"', ndmin=2)
    except (ValueError, Warning):
        return None
    return found if found.shape == (len(lines), width) else None


def _small(block: NDArray[np.float64]) -> NDArray[Any]:
    """Return whole numbers from 0 to 255 as bytes, other numbers as they are."""
    with np.errstate(invalid="ignore"):
        found = block.astype(np.uint8)
    return found if (found == block).all() else block
