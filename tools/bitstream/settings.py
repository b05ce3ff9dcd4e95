"""A register map and the values of a layer's pass, of whatever machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from merp.cosim.machines.loader import part_for
from merp.models.base.register_map import RegisterMap
from merp.models.network.network import Network


@dataclass(frozen=True, kw_only=True)
class RegisterQuery:
    """What registers are asked of.

    Attributes:
        layer, phase: None where they are not said. images: of a run.
        state: forward propagation also writes it. delta_at: where deltas lie, if that is said.
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
        layer, phase: of the pass; None of none. values: by register; none of no pass.
    """

    layer: str | None
    phase: str | None
    registers: RegisterMap
    values: Mapping[str, int]


def settings_of(network: Network, asked: RegisterQuery) -> Settings:
    """The registers of what runs a layer, and their values.

    Raises:
        BadInput: nothing runs it so.
    """
    found: Callable[[Network, RegisterQuery], Settings] = part_for(network, "settings")
    return found(network, asked)
