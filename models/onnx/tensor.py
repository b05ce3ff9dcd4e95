"""Constants of a model: their sizes are checked at once, their numbers are read when wanted."""

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
    """A type of elements: its name, how raw data and the typed field hold it.

    Attributes:
        name: as NumPy calls it. raw: type of an element in raw data, little-endian.
        field: of ``TensorProto`` in place of raw data. fmt: the number format, of weights.
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
"""By ``TensorProto.DataType``: weights and what nodes are set up with."""

FLOATS = {code: kind for code, kind in KINDS.items() if kind.fmt is not None}
"""Those that weights and maps may be of, each with the network's number format for it."""

FLOAT_NAMES = ", ".join(kind.name for kind in FLOATS.values())


@dataclass(frozen=True, eq=False)
class Tensor:
    """A constant of a graph.

    Attributes:
        where: what messages call it: file, and name. name: in the graph. shape: sizes.
        kind: of its elements; None of one that no operator here takes.
        proto: the ``TensorProto``; None where the model says size and type alone.
        folder: of the model, which external data is in.
    """

    where: str
    name: str
    shape: tuple[int, ...]
    kind: ElementType | None
    proto: Any
    folder: Path

    @classmethod
    def of(cls, file: str, name: str, proto: Any, folder: Path) -> Tensor:
        """A ``TensorProto`` whose data is there to the byte.

        Raises:
            BadInput: it is not.
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
        """Whether there are numbers, not just a size."""
        return self.proto is not None

    def array(self) -> NDArray[Any]:
        """The numbers, of a NumPy type that holds them exactly.

        Raises:
            BadInput: the model does not have them, or not as it says.
        """
        flat = self.stored()
        if self.kind is not None and self.kind.fmt is BFLOAT16:
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        return flat.reshape(self.shape)

    def stored(self) -> NDArray[Any]:
        """Elements as raw data holds them, in a row.

        Raises:
            BadInput: as of ``array``.
        """
        kind = self.kind
        if self.proto is None or kind is None:
            raise BadInput(f"{self.where}: has no numbers that can be read here")
        if self.proto.data_location == EXTERNAL:
            path, offset, _ = self._external(kind)
            try:
                found = np.fromfile(path, kind.raw, prod(self.shape), offset=offset)
            except OSError as error:
                raise BadInput(f"{self.where}: {path}: {error.strerror or error}") from error
            if found.size != prod(self.shape):
                raise BadInput(f"{self.where}: {path}: is shorter than it was")
            return found
        if self.proto.raw_data:
            return np.frombuffer(self.proto.raw_data, kind.raw)
        typed = np.array(getattr(self.proto, kind.field))
        if kind.raw in ("<f2", "<u2"):  # 16 bits, each in a whole number
            return typed.astype(np.uint16).view(kind.raw)
        return typed.astype(kind.raw)

    def _check(self, kind: ElementType) -> None:
        """Check that there are as many elements as the size says, or none at all."""
        if self.proto.HasField("segment"):
            raise BadInput(f"{self.where}: comes in segments: allowed is one piece")
        itemsize = np.dtype(kind.raw).itemsize
        wanted = prod(self.shape)
        if self.proto.data_location == EXTERNAL:
            path, offset, length = self._external(kind)
            there = path.stat().st_size
            if length != wanted * itemsize or offset + length > there:
                raise BadInput(
                    f"{self.where}: external data of {length:,} bytes from {offset:,} in "
                    f"{path.name}, which has {there:,}: size {shown(self.shape)} takes "
                    f"{wanted * itemsize:,}"
                )
            return
        raw, typed = len(self.proto.raw_data), len(getattr(self.proto, kind.field))
        found = raw / itemsize if raw else typed
        if found != wanted or (raw and typed):
            raise BadInput(
                f"{self.where}: {found:g} elements: size {shown(self.shape)} takes {wanted:,}"
            )

    def _external(self, kind: ElementType) -> tuple[Path, int, int]:
        """File, first byte and bytes of external data.

        Raises:
            BadInput: the file is not there, is no regular one, or lies outside the model's folder.
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
        except (OSError, ValueError) as error:  # a name that no file can have, links in a circle
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
