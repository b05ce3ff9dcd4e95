"""Read an ``.npz`` or ``.npy`` file of a user. Declared sizes are checked before they are used.

NumPy allocates the size that a header declares, and a header may declare any size. Here the size in
a header must match the bytes of the member, and all members together must obey the limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, shown
from merp.models.base.regular_file import check_regular

NUMBERS = 1 << 29
"""Most numbers of all arrays of a file. The largest shipped network has 2.8e8 in training."""

MEMBERS = 1 << 15
TEXT_BYTES = 1 << 22
RATIO = 200
"""Most unpacked bytes for each packed byte, if the file unpacks to more than ``SMALL``."""
SMALL = 1 << 26
HEADER = 10_000
"""Most bytes that NumPy reads for the header of an array."""

Arrays = dict[str, NDArray[np.generic]]
Found = TypeVar("Found")


def read_npz(path: Path) -> Arrays:
    """Read all arrays of the ``.npz`` file ``path``: numbers of up to 8 bytes, booleans and texts.

    Raises:
        BadInput: it is not such a file, or not a regular file; an array has another type (Python
            objects); or a limit is exceeded.
    """
    return _opened(path, _read, "an .npz file of arrays")


def read_npy(path: Path) -> NDArray[np.generic]:
    """Read the array of the ``.npy`` file ``path``, of the same types.

    Raises:
        BadInput: as for ``read_npz``.
    """
    return _opened(path, _read_array, "an .npy file of an array")


def _opened(path: Path, read: Callable[[Path, IO[bytes]], Found], allowed: str) -> Found:
    try:
        check_regular(path)
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns if it guesses
            return read(path, file)
    except BadInput:
        raise
    except OSError as error:
        reason = error.strerror or f"allowed is {allowed}"
        raise BadInput(f"{path}: cannot be read: {reason}") from error
    except MemoryError as error:
        raise BadInput(f"{path}: not enough memory for its arrays") from error
    except Exception as error:  # zipfile, zlib and numpy raise many kinds of errors
        raise BadInput(f"{path}: cannot be read: allowed is {allowed}") from error


def _read_array(path: Path, file: IO[bytes]) -> NDArray[np.generic]:
    _declared(str(path), file, path.stat().st_size)
    file.seek(0)
    found: NDArray[np.generic] = npy.read_array(file, allow_pickle=False)
    return found


def _read(path: Path, file: IO[bytes]) -> Arrays:
    with ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            raise BadInput(f"{path}: {len(members):,} members: allowed are at most {MEMBERS:,}")
        unpacked = sum(member.file_size for member in members)
        allowed = max(SMALL, RATIO * path.stat().st_size)
        if unpacked > allowed:
            raise BadInput(
                f"{path}: unpacks to {unpacked:,} bytes: allowed are at most {SMALL:,}, or {RATIO} "
                f"times the file's size"
            )
        left = NUMBERS
        named: dict[str, ZipInfo] = {}
        for member in members:
            key = member.filename.removesuffix(".npy")
            if key in named or member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ValueError
            with archive.open(member) as content:
                left -= _declared(f"{path}: {key}", content, member.file_size)
            if left < 0:
                raise BadInput(f"{path}: {key}: allowed are at most {NUMBERS:,} numbers in a file")
            named[key] = member
        found: Arrays = {}
        for key, member in named.items():
            with archive.open(member) as content:
                found[key] = npy.read_array(content, allow_pickle=False)
        return found


def _declared(where: str, content: IO[bytes], size: int) -> int:
    """Return the number of elements of an array in ``size`` bytes; its type and size are checked.

    ``where`` starts the error message.
    """
    start = BytesIO(content.read(HEADER + 12))
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = read[npy.read_magic(start)](start, max_header_size=HEADER)
    if dtype.kind == "U":
        limit = TEXT_BYTES // max(dtype.itemsize, 1)
    elif dtype.kind in "biuf" and dtype.itemsize <= 8:
        limit = NUMBERS
    else:
        raise BadInput(f"{where}: type {shown(dtype.str)}: allowed are numbers of up to 8 bytes")
    count = prod(shape)
    if min(shape, default=0) < 0 or count > limit:
        raise BadInput(f"{where}: size {shown(shape)}: allowed are at most {limit:,} elements")
    if start.tell() + count * dtype.itemsize != size:
        raise BadInput(
            f"{where}: {size - start.tell():,} bytes: allowed are "
            f"{count * dtype.itemsize:,}, which its header declares"
        )
    return count
