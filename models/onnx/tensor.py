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
    6: ElementType("int32", "<i4", "int32_data"),
    7: ElementType("int64", "<i8", "int64_data"),
    9: ElementType("bool", "<u1", "int32_data"),
    10: ElementType("float16", "<f2", "int32_data", BINARY16),
    11: ElementType("float64", "<f8", "double_data"),
    16: ElementType("bfloat16", "<u2", "int32_data", BFLOAT16),
}
"""Types of weights and of settings of nodes, by ``TensorProto.DataType``."""

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

        Raises:
            BadInput: its size is not allowed, or its data is not complete.
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
            path, offset, _ = self._external(kind)
            try:
                found = np.fromfile(path, kind.raw, prod(self.shape), offset=offset)
            except OSError as error:
                raise BadInput(f"{self.where}: {path}: {error.strerror or error}") from error
            if found.size != prod(self.shape):
                raise BadInput(f"{self.where}: {path}: became shorter while it was read")
            return found
        if self.proto.raw_data:
            return np.frombuffer(self.proto.raw_data, kind.raw)
        typed = np.array(getattr(self.proto, kind.field))
        if kind.raw in ("<f2", "<u2"):  # the typed field has the 16 bits as a whole number
            return typed.astype(np.uint16).view(kind.raw)
        return typed.astype(kind.raw)

    def _check(self, kind: ElementType) -> None:
        """Check that the number of elements matches the size."""
        if self.proto.HasField("segment"):
            raise BadInput(f"{self.where}: is split into segments: allowed is one piece")
        itemsize = np.dtype(kind.raw).itemsize
        wanted = prod(self.shape)
        if self.proto.data_location == EXTERNAL:
            path, offset, length = self._external(kind)
            there = path.stat().st_size
            if length != wanted * itemsize or offset + length > there:
                raise BadInput(
                    f"{self.where}: external data of {length:,} bytes from {offset:,} in "
                    f"{path.name}, which has {there:,}: size {shown(self.shape)} needs "
                    f"{wanted * itemsize:,}"
                )
            return
        raw, typed = len(self.proto.raw_data), len(getattr(self.proto, kind.field))
        found = raw / itemsize if raw else typed
        if found != wanted or (raw and typed):
            raise BadInput(
                f"{self.where}: {found:g} elements: size {shown(self.shape)} needs {wanted:,}"
            )

    def _external(self, kind: ElementType) -> tuple[Path, int, int]:
        """Return the file, the first byte and the number of bytes of external data.

        Raises:
            BadInput: the file is missing, not a regular file, or outside the model's folder.
        """
        said = {each.key: each.value for each in self.proto.external_data}
        location = said.get("location", "")
        pure = PurePosixPath(location)
        place = f"{self.where}: external data {shown(location)}"
        try:
            path = (self.folder / pure).resolve()
            inside = path.is_relative_to(self.folder.resolve())
            if not location or pure.is_absolute() or not inside:
                raise BadInput(f"{place}: allowed is a file in the folder of the model")
            there = path.is_file()
        except (OSError, ValueError) as error:  # an invalid file name, or a cycle of links
            raise BadInput(f"{place}: allowed is a file in the folder of the model") from error
        if not there:
            raise BadInput(f"{place}: is missing: allowed is a file in the folder of the model")
        length = prod(self.shape) * np.dtype(kind.raw).itemsize
        try:
            first, count = int(said.get("offset", 0)), int(said.get("length", length))
        except ValueError:
            first = count = -1
        if first < 0 or count < 0:
            raise BadInput(f"{place}: offset and length: must be whole numbers from 0")
        return path, first, count
