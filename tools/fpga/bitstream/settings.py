"""A register map and the values of a layer's pass, for any machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from merp.cosim.machines.loader import part_for
from merp.models.base.register_map import RegisterMap
from merp.models.network.network import Network


@dataclass(frozen=True, kw_only=True)
class RegisterQuery:
    """A request for registers.

    Attributes:
        layer: name of the layer, or None.
        phase: name of the phase, or None.
        images: number of images of a run.
        state: whether forward propagation also writes ReLU/pooling masks.
        delta_at: resolution of the stored deltas, or None.
    """

    layer: str | None
    phase: str | None
    images: int
    state: bool
    delta_at: str | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A register map, and the values of a pass.

    Attributes:
        layer: layer of the pass; None without a pass.
        phase: phase of the pass; None without a pass.
        values: values by register; empty without a pass.
    """

    layer: str | None
    phase: str | None
    registers: RegisterMap
    values: Mapping[str, int]


def settings_of(network: Network, asked: RegisterQuery) -> Settings:
    """Return the registers of the engine that runs a layer, and their values.

    Raises:
        BadInput: no engine runs the layer in this way.
    """
    found: Callable[[Network, RegisterQuery], Settings] = part_for(network, "settings")
    return found(network, asked)
