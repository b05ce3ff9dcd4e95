"""The phases of the MAC array, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.machines.mac_array.phases.delta import Delta
from merp.cosim.machines.mac_array.phases.forward import Forward
from merp.cosim.machines.mac_array.phases.update import Update
from merp.cosim.phases.phase import Phase

PHASES: Mapping[str, Callable[..., Phase]] = {
    each.name: each.of for each in (Forward, Delta, Update)
}
