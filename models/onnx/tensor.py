"""Constants of a model. Their sizes are checked immediately; their numbers are read on demand."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, shown
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.regular_file import check_whole

INLINE, EXTERNAL = 0, 1  # TensorProto.DataLocation
DIMENSIONS = 8


class ElementType(NamedTuple):
    """A type of elements, and its forms in raw data and in a typed field.

    Attributes:
        name: NumPy's name of the type.
        raw: NumPy type of an element in raw data, little-endian.
        field: field of ``TensorProto`` that replaces raw data.
        fmt: number format; None if the type is not allowed for weights.
    """

    name: str
    raw: str
    field: str
    fmt: FloatFormat | None = None


KINDS = {
    1: ElementType("float32", "<f4", "float_data", BINARY32),
    2: ElementType("uint8", "<u1", "int32_data"),
    3: ElementType("int8", "<i1", "int32_data"),
    4: ElementType("uint16", "<u2", "int32_data"),
    5: ElementType("int16", "<i2", "int32_data"),
    6: ElementType("int32", "<i4", "int32_data"),
    7: ElementType("int64", "<i8", "int64_data"),
    9: ElementType("bool", "<u1", "int32_data"),
    10: ElementType("float16", "<f2", "int32_data", BINARY16),
    11: ElementType("float64", "<f8", "double_data"),
    16: ElementType("bfloat16", "<u2", "int32_data", BFLOAT16),
}
"""Types of weights, of numbers that give weights, and of settings, by ``TensorProto.DataType``."""


def code_of(kind: ElementType | None) -> int:
    """Return the ``TensorProto.DataType`` of a type; 0 if it is not known."""
    return next((code for code, each in KINDS.items() if each == kind), 0)


FLOATS = {code: kind for code, kind in KINDS.items() if kind.fmt is not None}
"""Allowed types of weights and maps; each has a number format of merp."""

FLOAT_NAMES = ", ".join(kind.name for kind in FLOATS.values())


@dataclass(frozen=True, eq=False)
class Tensor:
    """A constant of a graph.

    Attributes:
        where: file and name of the tensor in messages.
        name: name in the graph.
        shape: size of each axis.
        kind: type of its elements; None if the type is not supported.
        proto: the ``TensorProto``; None if the model only has size and type.
        folder: folder of the model, for external data.
    """

    where: str
    name: str
    shape: tuple[int, ...]
    kind: ElementType | None
    proto: Any
    folder: Path

    @classmethod
    def of(cls, file: str, name: str, proto: Any, folder: Path) -> Tensor:
        """Return the tensor of a ``TensorProto``, and check that its data is complete.

        External data is checked when it is read: a size alone is enough for many verbs.

        Raises:
            BadInput: its size is not allowed, its data is not complete, or its external data is
                not in the folder of the model.
        """
        where = f"{file}: tensor {shown(name)}"
        shape, kind = tuple(proto.dims), KINDS.get(proto.data_type)
        if len(shape) > DIMENSIONS or min(shape, default=0) < 0:
            raise BadInput(
                f"{where}: size {shown(shape)}: must be at most {DIMENSIONS} numbers from 0"
            )
        found = cls(where, name, shape, kind, proto, folder)
        if kind is not None:
            found._check(kind)
        return found

    @property
    def has_data(self) -> bool:
        """Whether the tensor has numbers, not just a size."""
        return self.proto is not None

    def array(self) -> NDArray[Any]:
        """Return the numbers in a NumPy type that represents them exactly.

        Raises:
            BadInput: the model has no numbers, or they cannot be read.
        """
        flat = self.stored()
        if self.kind is not None and self.kind.fmt is BFLOAT16:
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        return flat.reshape(self.shape)

    def stored(self) -> NDArray[Any]:
        """Return the elements in the form of raw data, as a vector.

        Raises:
            BadInput: as in ``array``.
        """
        kind = self.kind
        if self.proto is None or kind is None:
            raise BadInput(f"{self.where}: has no numbers of a supported type")
        if self.proto.data_location == EXTERNAL:
            return self._read(kind)
        if self.proto.raw_data:
            return np.frombuffer(self.proto.raw_data, kind.raw)
        typed = np.array(getattr(self.proto, kind.field))
        if kind.raw in ("<f2", "<u2"):  # the typed field has the 16 bits as a whole number
            return typed.astype(np.uint16).view(kind.raw)
        return typed.astype(kind.raw)

    def _check(self, kind: ElementType) -> None:
        """Check that the number of elements matches the size, and the place of external data."""
        if self.proto.HasField("segment"):
            raise BadInput(f"{self.where}: is split into segments: allowed is one piece")
        if self.proto.data_location == EXTERNAL:
            self._external()
            return
        wanted = prod(self.shape)
        raw, typed = len(self.proto.raw_data), len(getattr(self.proto, kind.field))
        found = raw / np.dtype(kind.raw).itemsize if raw else typed
        if found != wanted or (raw and typed):
            raise BadInput(
                f"{self.where}: {found:g} elements: size {shown(self.shape)} needs {wanted:,}"
            )

    def _read(self, kind: ElementType) -> NDArray[Any]:
        """Return the elements of external data.

        Raises:
            BadInput: the file is missing, not a regular file, too short, or has holes.
        """
        path, said = self._external()
        count = prod(self.shape)
        wanted = count * np.dtype(kind.raw).itemsize
        place = f"{self.where}: external data {shown(path.name)}"
        try:
            offset, length = int(said.get("offset", 0)), int(said.get("length", wanted))
        except ValueError:
            offset = length = -1
        if offset < 0 or length < 0:
            raise BadInput(f"{place}: offset and length: must be whole numbers from 0")
        try:
            if not path.is_file():
                raise BadInput(f"{place}: is missing: allowed is a file in the folder of the model")
            there = path.stat().st_size
            if length != wanted or offset + length > there:
                raise BadInput(
                    f"{place}: {length:,} bytes from {offset:,} of {there:,}: size "
                    f"{shown(self.shape)} needs {wanted:,}"
                )
            check_whole(path)
            found = np.fromfile(path, kind.raw, count, offset=offset)
        except OSError as error:
            raise BadInput(f"{place}: {error.strerror or error}") from error
        if found.size != count:
            raise BadInput(f"{place}: became shorter while it was read")
        return found

    def _external(self) -> tuple[Path, dict[str, str]]:
        """Return the file of external data, and the entries that locate the data in it.

        Raises:
            BadInput: the file is outside the model's folder.
        """
        said = {each.key: each.value for each in self.proto.external_data}
        location = said.get("location", "")
        pure = PurePosixPath(location)
        try:
            path = (self.folder / pure).resolve()
            inside = path.is_relative_to(self.folder.resolve())
        except (OSError, ValueError, RuntimeError):  # an invalid file name, or a cycle of links
            inside = False
        if not location or pure.is_absolute() or not inside:
            raise BadInput(
                f"{self.where}: external data {shown(location)}: allowed is a file in the folder "
                "of the model"
            )
        return path, said
