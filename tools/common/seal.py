"""A seal of stored arrays: a hash of their content, which reveals damage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEAL = "sha256"
"""Key of the hash, which covers every other key, type, size and element."""

Arrays = Mapping[str, NDArray[np.generic]]


def sealed(arrays: Arrays) -> bytes:
    """Return the ``.npz`` file of arrays and their seal; equal arrays give equal bytes."""
    content = BytesIO()
    # NumPy would keep the Fortran order of an array, for example of a transposed one.
    every: dict[str, Any] = {key: np.asarray(arrays[key], order="C") for key in sorted(arrays)}
    every[SEAL] = np.array(digest(every))
    np.savez(content, allow_pickle=False, **every)
    return content.getvalue()


def is_whole(arrays: Arrays) -> bool:
    """Return whether arrays have a seal that matches them."""
    others = {key: array for key, array in arrays.items() if key != SEAL}
    return SEAL in arrays and str(arrays[SEAL]) == digest(others)


def digest(arrays: Arrays) -> str:
    """Return the SHA-256 of arrays by their keys."""
    found = hashlib.sha256()
    for key, array in sorted(arrays.items()):
        found.update(repr((key, array.dtype.str, array.shape)).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
