"""Folders of pictures, one folder for each class. Classes are the folders in order of their names.

All pictures have the size that the network takes. Red, green and blue, or grey, are bytes; the
numbers are bytes divided by 255. Pictures for training and for validation may have a folder each.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from merp.models.base.errors import BadInput
from merp.tools.common.npz import NUMBERS
from merp.tools.common.photograph import CHANNELS, picture
from merp.tools.train.datasets.data import WHITE, Data

Size = tuple[int, int, int]

TRAIN, HELD = "train", ("test", "val", "valid", "validation")
"""Names of the folders of pictures for training and for validation, in lower case."""


def read_pictures(folder: Path, size: Size) -> Data:
    """Read the pictures of a folder of folders. Names with a leading dot are ignored.

    Args:
        folder: has one folder for each class. Or it has a folder ``train`` and one of ``HELD``,
            each with the folders of the same classes.
        size: rows, columns and channels of every picture.

    Raises:
        BadInput: there is no class or picture, a picture is unreadable or has another size, or the
            classes for validation are not those for training.
    """
    if size[2] not in CHANNELS:
        raise BadInput(f"{folder}: pictures have 1 or 3 channels, and {size[2]} are needed")
    parts = {each.name.lower(): each for each in _sorted(folder) if _has_folders(each)}
    held = [name for name in HELD if name in parts]
    if TRAIN not in parts or not held:
        return _of_classes(folder, size)
    if len(held) > 1 or len(parts) > len(held) + 1:
        raise BadInput(
            f"{folder}: folders {', '.join(each.name for each in parts.values())}: allowed are "
            f"{TRAIN} and one of {', '.join(HELD)}"
        )
    trained, other = (_of_classes(parts[name], size) for name in (TRAIN, held[0]))
    if other.classes != trained.classes:
        raise BadInput(
            f"{other.source}: classes {', '.join(other.classes)}: allowed are those of "
            f"{trained.source}, {', '.join(trained.classes)}"
        )
    return replace(trained, held=other)


def _has_folders(folder: Path) -> bool:
    return folder.is_dir() and any(each.is_dir() for each in _sorted(folder))


def _of_classes(folder: Path, size: Size) -> Data:
    """Read the pictures of a folder that has a folder for each class."""
    classes = [each for each in _sorted(folder) if each.is_dir()]
    files = [(path, label) for label, each in enumerate(classes) for path in _sorted(each)]
    if not files:
        raise BadInput(f"{folder}: no pictures: allowed is a folder of pictures for each class")
    if len(files) * np.prod(size) > NUMBERS:
        raise BadInput(f"{folder}: allowed are at most {NUMBERS:,} pixels and channels of pictures")
    images = np.empty((len(files), *size), np.uint8)
    for place, (path, _) in enumerate(files):
        found = picture(path, size[2])
        if found.shape != size:
            rows, columns = found.shape[:2]
            raise BadInput(
                f"{path}: {rows} x {columns} pixels (rows x columns): allowed are "
                f"{size[0]} x {size[1]}"
            )
        images[place] = found
    labels = np.array([label for _, label in files], np.int64)
    names = tuple(each.name for each in classes)
    return Data(str(folder), images, labels, divisor=WHITE, classes=names)


def _sorted(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if not each.name.startswith("."))
