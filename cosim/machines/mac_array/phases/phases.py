"""The phases of the MAC array, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.machines.mac_array.phases.delta import ArrayDeltaPhase
from merp.cosim.machines.mac_array.phases.forward import ArrayForwardPhase
from merp.cosim.machines.mac_array.phases.update import Update
from merp.cosim.phases.phase import HardwarePhase

PHASES: Mapping[str, Callable[..., HardwarePhase]] = {
    each.name: each.of for each in (ArrayForwardPhase, ArrayDeltaPhase, Update)
}
