"""Formats in which tensors lie in memory, where they are narrower than the arithmetic's.

A word is rounded once, to nearest even, when it leaves the engine, and is widened exactly when it
comes in: what is stored *is* the rounded number for all who read it later. Partial sums and state
are no such tensors; they stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, Protocol

from merp.models.params.formats import FORMATS, FloatFormat, format_name

Tensor = Literal["maps", "deltas", "kernels", "gradients"]


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The format of each kind of tensor in memory.

    Attributes:
        maps: images, and what forward propagation leaves and adds.
        deltas: what delta propagation takes, adds and leaves.
        kernels: kernels and biases.
        gradients: those that stay in memory from step to step: velocities.
    """

    maps: FloatFormat
    deltas: FloatFormat
    kernels: FloatFormat
    gradients: FloatFormat

    def __repr__(self) -> str:
        """The formats by name."""
        return f"Storage({', '.join(f'{each}={format_name(self.of(each))}' for each in TENSORS)})"

    def of(self, tensor: Tensor) -> FloatFormat:
        """The format of a kind of tensor."""
        found: FloatFormat = getattr(self, tensor)
        return found

    def check(self, fmt: FloatFormat) -> None:
        """Refuse a format whose numbers are not all numbers of ``fmt``, the arithmetic's.

        Raises:
            ValueError: which tensor, and what is allowed.
        """
        for tensor in TENSORS:
            stored = self.of(tensor)
            if stored.exp_bits > fmt.exp_bits or stored.frac_bits > fmt.frac_bits:
                allowed = ", ".join(within(fmt))
                raise ValueError(f"storage of {tensor} must be one of {allowed}: numbers of {fmt}")


TENSORS: Final[tuple[Tensor, ...]] = ("maps", "deltas", "kernels", "gradients")
assert TENSORS == tuple(field.name for field in fields(Storage))


def within(fmt: FloatFormat) -> tuple[str, ...]:
    """Names of the formats whose numbers are all numbers of ``fmt``."""
    return tuple(
        name
        for name, each in FORMATS.items()
        if each.exp_bits <= fmt.exp_bits and each.frac_bits <= fmt.frac_bits
    )


_BY_PHASE: Final[dict[str, dict[str, Tensor]]] = {
    "fp": {"map_in": "maps", "map_out": "maps", "add_in": "maps"},
    "dp": {"delta_in": "deltas", "delta_out": "deltas", "add_in": "deltas"},
    "ku": {
        "map_in": "maps", "delta_in": "deltas",
        "kernel_velocity_in": "gradients", "kernel_velocity_out": "gradients",
        "bias_velocity_in": "gradients", "bias_velocity_out": "gradients",
    },
}  # fmt: skip
_BY_PHASE["bp"] = _BY_PHASE["dp"] | _BY_PHASE["ku"]


def tensor_of(phase: str, port: str) -> Tensor:
    """The kind of tensor on a port of elements of a phase; kernels and biases are on the others."""
    return _BY_PHASE[phase].get(port, "kernels")


class Stores(Protocol):
    """What knows how its tensors lie in memory: a design, or a network."""

    def stored(self, tensor: Tensor) -> FloatFormat:
        """Format of a kind of tensor in memory."""


def element_bytes(phase: str, port: str, of: Stores) -> int:
    """Bytes of an element on a port of a phase, as it is stored."""
    return of.stored(tensor_of(phase, port)).bytes


def formats_of(stores: Stores) -> dict[Tensor, str]:
    """Name of the format of each kind of tensor in memory."""
    return {tensor: format_name(stores.stored(tensor)) for tensor in TENSORS}
