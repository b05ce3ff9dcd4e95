"""Formats in which tensors are stored in memory, if they are narrower than the arithmetic's format.

A word is rounded once, to nearest even, when it leaves the engine. It is widened exactly when it is
read again. All later readers use the rounded number. Partial sums and ReLU/pooling masks are not
affected; they keep their formats.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, Literal

from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FORMATS, FloatFormat, format_name

Tensor = Literal["maps", "deltas", "kernels", "gradients"]

StoredFormat = FloatFormat | ByteImage
"""Formats of elements in memory; only the network's image can be in bytes."""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The format of each kind of tensor in memory.

    Attributes:
        maps: maps that forward propagation reads, writes and adds.
        deltas: deltas that delta propagation reads, adds and writes.
        kernels: kernels and biases.
        gradients: gradients that stay in memory from step to step: velocities.
        image: the network's input, for the design of the first layer; None: same as ``maps``.
    """

    maps: FloatFormat
    deltas: FloatFormat
    kernels: FloatFormat
    gradients: FloatFormat
    image: StoredFormat | None = None

    @classmethod
    def alike(cls, fmt: FloatFormat) -> Storage:
        """Return a storage with one format for everything."""
        return cls(maps=fmt, deltas=fmt, kernels=fmt, gradients=fmt)

    def __repr__(self) -> str:
        """Return the formats by name."""
        formats = ", ".join(f"{name}={each}" for name, each in self.names().items())
        return f"Storage({formats})"

    def names(self) -> dict[str, str]:
        """Return the format of each kind of tensor, and of the image if it has its own."""
        image = {} if self.image is None else {"image": stored_name(self.image)}
        return image | {tensor: format_name(self.of(tensor)) for tensor in TENSORS}

    @property
    def of_image(self) -> StoredFormat:
        """The format of the image."""
        return self.maps if self.image is None else self.image

    @property
    def between_layers(self) -> Storage:
        """The same storage for layers that do not read the image."""
        return replace(self, image=None)

    def of(self, tensor: Tensor) -> FloatFormat:
        """Return the format of a kind of tensor."""
        found: FloatFormat = getattr(self, tensor)
        return found

    def check(self, fmt: FloatFormat) -> None:
        """Refuse a format with numbers that are not numbers of the arithmetic's format ``fmt``.

        Raises:
            ValueError: a format is not allowed; the message gives the tensor and the allowed
                formats.
        """
        for tensor in TENSORS:
            stored = self.of(tensor)
            if stored.exp_bits > fmt.exp_bits or stored.frac_bits > fmt.frac_bits:
                allowed = ", ".join(within(fmt))
                raise ValueError(f"storage of {tensor} must be one of {allowed}: numbers of {fmt}")
        if isinstance(self.image, ByteImage):
            self.image.words(fmt)
        elif self.image is not None and format_name(self.image) not in within(fmt):
            allowed = ", ".join((*within(fmt), BYTE))
            raise ValueError(f"storage of image must be one of {allowed}: numbers of {fmt}")


TENSORS: Final[tuple[Tensor, ...]] = ("maps", "deltas", "kernels", "gradients")
assert (*TENSORS, "image") == tuple(field.name for field in fields(Storage))

BYTE: Final = "uint8"
"""Name of the format of an image in bytes."""


def stored_name(stored: StoredFormat) -> str:
    """Return the name of a format in memory; for an image in bytes, with the values of its
    bytes.
    """
    return str(stored) if isinstance(stored, ByteImage) else format_name(stored)


def within(fmt: FloatFormat) -> tuple[str, ...]:
    """Return the names of the formats whose numbers are all numbers of ``fmt``."""
    return tuple(
        name
        for name, each in FORMATS.items()
        if each.exp_bits <= fmt.exp_bits and each.frac_bits <= fmt.frac_bits
    )


_BY_PHASE: Final[dict[str, dict[str, Tensor]]] = {
    "fp": {"map_out": "maps", "between_out": "maps", "add_in": "maps"},
    "dp": {"delta_in": "deltas", "delta_out": "deltas", "add_in": "deltas"},
    "ku": {
        "delta_in": "deltas",
        "kernel_velocity_in": "gradients", "kernel_velocity_out": "gradients",
        "bias_velocity_in": "gradients", "bias_velocity_out": "gradients",
    },
}  # fmt: skip
_BY_PHASE["ff"] = _BY_PHASE["fp"]
_BY_PHASE["bp"] = _BY_PHASE["dp"] | _BY_PHASE["ku"]


class Stores:
    """Base of objects that know how their tensors are stored: a design, a network, or a layer.

    Attributes:
        fmt: format of the arithmetic.
        storage: formats in memory; None: all are ``fmt``.
    """

    if TYPE_CHECKING:  # a field in some subclasses, computed in others

        @property
        def fmt(self) -> FloatFormat:
            """Format of the arithmetic."""

    storage: Storage | None

    def stored(self, tensor: Tensor) -> FloatFormat:
        """Return the format of a kind of tensor in memory."""
        return self.fmt if self.storage is None else self.storage.of(tensor)

    @property
    def stored_input(self) -> StoredFormat:
        """Format of the maps that forward propagation reads; for a network, of its image."""
        return self.fmt if self.storage is None else self.storage.of_image


@dataclass(frozen=True)
class InMemory(Stores):
    """Tensors of a layer in memory."""

    fmt: FloatFormat
    storage: Storage | None


def port_format(phase: str, port: str, of: Stores) -> StoredFormat:
    """Return the format of the elements on a port of a phase."""
    if port == "map_in":
        return of.stored_input
    return of.stored(_BY_PHASE[phase].get(port, "kernels"))


def element_bytes(phase: str, port: str, of: Stores) -> int:
    """Return the bytes of a stored element on a port of a phase."""
    return port_format(phase, port, of).bytes
