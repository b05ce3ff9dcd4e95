"""Labelled images in an ``.npz`` file, under the usual keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common.npz import Arrays, read_npz
from merp.tools.train.datasets.data import KEYS, Data, checked

TRAIN, TEST = ("x_train", "y_train"), ("x_test", "y_test")
PAIRS = (KEYS, ("x", "y"), ("X", "y"), TRAIN)
_ALLOWED = (
    "images and labels, x and y, X and y, or x_train and y_train, these also with x_test and y_test"
)


def read_npz_data(path: Path) -> Data:
    """Read the images and labels of a file; ``x_test`` and ``y_test`` are for validation.

    Raises:
        BadInput: the file is unreadable, has another key, or arrays of another type or size.
    """
    arrays = read_npz(path)
    keys = set(arrays)
    for pair in PAIRS:
        if keys == {*pair}:
            return _data(path, arrays, pair)
    if keys == {*TRAIN, *TEST}:
        return replace(_data(path, arrays, TRAIN), held=_data(path, arrays, TEST))
    found = ", ".join(sorted(arrays)) or "none"
    raise BadInput(f"{path}: keys {found}: allowed are {_ALLOWED}")


def _data(path: Path, arrays: Arrays, keys: tuple[str, str]) -> Data:
    images, labels = (arrays[key] for key in keys)
    return checked(str(path), images, labels, keys)
