"""Traffic on the memory bus in the steps of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.machines.training.hardware_step import Audits
from merp.models.memory.bus_record import BusRecord, add_to, total_of


def add_passes(so_far: dict[str, BusRecord], audits: Audits) -> None:
    """Add the traffic of a step whose passes were lists of their own, by layer and phase."""
    for (layer, phase), each in audits.items():
        add_to(so_far, f"{layer} {phase}", each.bus)


def bus_answer(bus: Mapping[str, BusRecord]) -> dict[str, Any]:
    """Return the traffic for the answer: of each list, and the sum of all; {} without a memory."""
    total = total_of(bus.values())
    if total is None:
        return {}
    lists = {name: each.answer for name, each in bus.items()}
    return {"bus": {"lists": lists, "total": total.answer}}
