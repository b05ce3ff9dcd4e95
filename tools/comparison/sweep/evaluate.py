"""One point of a sweep: the costs of a network with the values of the point.

The values replace those in the tables of the network file. A point therefore has the same costs as
such a file in the other verbs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.network.machine_checks import check_network
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.network.network_keys import COMBINED
from merp.models.network.registry import cycles_of, machine_of
from merp.models.network.step_passes import layer_passes
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools.common.shipped import one_by_one
from merp.tools.comparison.sweep.axes import BATCH, CLOCK, OF_STEPS, Point
from merp.tools.comparison.sweep.goals import LOGIC


@dataclass(frozen=True, kw_only=True)
class PointJob:
    """A point, with all data to compute it on another machine, as plain JSON.

    Attributes:
        file: name of the network file for messages.
        tables: tables of the network file.
        point: values by axis.
        goals: names of ``GOALS``.
        batch: images of a step, unless an axis sets them.
        clock_mhz: clock of the engines, unless an axis sets it.
    """

    file: str
    tables: Mapping[str, Any]
    point: Point
    goals: Sequence[str]
    batch: int
    clock_mhz: float


def evaluate(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the costs of a point, from the fields of a ``PointJob``.

    The keys are ``point``; the name of each goal, None if there is no such hardware; and
    ``refused``, the reason in this case.
    """
    job = PointJob(**given)
    found: dict[str, Any] = {"point": dict(job.point)}
    try:
        network = network_at(job.file, job.tables, job.point)
        check_network(network)
        batch = int(job.point.get(BATCH.key, job.batch))
        cycles = _cycles(network, batch) if "time" in job.goals else 0
    except BadInput as error:
        return found | dict.fromkeys(job.goals) | {"refused": str(error)}
    clock = float(job.point.get(CLOCK.key, job.clock_mhz))
    figures: dict[str, Any] = {}
    if "time" in job.goals:
        figures["time"] = cycles / (clock * 1e6)
    if "bytes" in job.goals:
        state = "pooled" if network.backward == COMBINED else "32"
        figures["bytes"] = step_bytes(network, batch, Count(name="all", state=state))["step"]
    if set(LOGIC) & set(job.goals):
        figures |= _logic(network)
    return found | {goal: figures[goal] for goal in job.goals} | {"refused": None}


def network_at(file: str, tables: Mapping[str, Any], point: Point) -> Network:
    """Return the network of a file's ``tables`` with the values of a point in every design.

    Raises:
        BadInput: such a network cannot be built.
    """
    changes = {key: value for key, value in point.items() if key not in OF_STEPS}
    designs = tables.get("design", {})
    if not changes or not isinstance(designs, Mapping):
        return one_by_one(network_of(file, tables))
    laid = {
        name: {**design, **changes} if isinstance(design, Mapping) else design
        for name, design in designs.items()
    }
    return one_by_one(network_of(file, {**tables, "design": laid}))


def _cycles(network: Network, batch: int) -> int:
    """Return the cycles of a step on the designs of a network, with loading.

    Raises:
        BadInput: a machine has no cycle model.
    """
    cycles = 0
    for layer, phase in layer_passes(network):
        found = cycles_of(network, layer, phase, batch)
        if found is None:
            name = machine_of(network.design(layer)).name
            raise BadInput(f"{network.name}: {name} has no model of cycles: allowed without time")
        cycles += found.kernel_load + found.total
    return cycles


def _logic(network: Network) -> dict[str, float]:
    """Return the most resources that any bitstream of the network uses, of each kind."""
    from merp.cosim.synthesis.resources import measure, total  # import only if needed: it is slow
    from merp.testbenches.axi.axi_top import axi_top
    from merp.tools.fpga.bitstream.bitstream import bitstream_of

    streams = {}
    for layer, phase in layer_passes(network):
        bitstream = bitstream_of(network, layer, phase)
        streams[bitstream.name] = bitstream
    used = [
        total(measure(axi_top(each.phase.top()), whole=False)).figures()
        for each in streams.values()
    ]
    return {kind: max(each[kind] for each in used) for kind in LOGIC}
