"""Bytes of a training step on the memory bus of an accelerator (``--count bus``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from merp.cosim.board.bus_ways import Crossing, Ways
from merp.cosim.board.step_bus import StepBus, step_bus
from merp.models.base.given import given
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.network.registry import machine_that_runs
from merp.tools.common.planned_step import machine_step
from merp.tools.common.stored import words_answer
from merp.tools.traffic.request import BUS


def bus_of(network: Network, batch: int) -> StepBus:
    """Return the traffic of a training step without momentum.

    Raises:
        BadInput: the machine cannot run the step from memory.
    """
    planned = machine_step(network, given("count", BUS))
    return step_bus(planned(network, batch, momentum=False))


def by_phase(network: Network, found: StepBus) -> dict[tuple[str, str], Ways]:
    """Return the traffic of all passes of each layer and phase, in the order of the layers."""
    sums: dict[tuple[str, str], Ways] = {}
    for each in found.lists.values():
        for done, ways in each.passes:
            key = done.layer, done.phase
            sums[key] = sums.get(key, Ways()) + ways
    phases = dict.fromkeys([*PHASES, *(phase for _, phase in sums)])
    keys = [(layer.name, phase) for layer in network.layers for phase in phases]
    return {key: sums[key] for key in keys if key in sums}


def further(found: StepBus) -> dict[str, Ways]:
    """Return the traffic of the command processor, and that of the whole step."""
    lists = found.lists.values()
    return {
        "commands": summed(each.commands for each in lists),
        "records": summed(each.records for each in lists),
        "total": summed(each.total for each in lists),
    }


def summed(ways: Iterable[Ways]) -> Ways:
    """Return the sum."""
    return sum(ways, Ways())


def bus_json(network: Network, batch: int, found: StepBus) -> dict[str, Any]:
    """Return the JSON answer; all figures are bytes, beats and bursts."""
    rows = by_phase(network, found)
    phases = dict.fromkeys([*PHASES, *(phase for _, phase in rows)])
    return {
        "network": network.name,
        "machine": machine_that_runs(network).name,
        "batch": batch,
        "footing": BUS,
        **words_answer(network),
        "memory_bits": found.memory_bits,
        "beat_bytes": found.beat_bytes,
        "layers": [
            {
                "name": layer.name,
                "kind": layer.kind,
                **{phase: _ways_json(rows.get((layer.name, phase))) for phase in phases},
            }
            for layer in network.layers
        ],
        **{name: _ways_json(ways) for name, ways in further(found).items()},
        "lists": [
            {"name": name, "passes": len(each.passes), **_directions(each.total)}
            for name, each in found.lists.items()
        ],
    }


def _ways_json(ways: Ways | None) -> dict[str, Any] | None:
    return None if ways is None else {**_figures(ways.both), **_directions(ways)}


def _directions(ways: Ways) -> dict[str, Any]:
    return {"read": _figures(ways.read), "write": _figures(ways.write)}


def _figures(crossing: Crossing) -> dict[str, int]:
    return {**asdict(crossing), "bus": crossing.bus}
