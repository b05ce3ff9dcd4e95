"""An estimate of the longest path between registers of a netlist mapped to 7-series cells.

The estimate walks over the cells with the delays of ``cell_timing``. Placement, routing and clock
skew are unknown. Therefore a path of the finished design may be shorter or longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from merp.models.fpga.cell_timing import LUT, NET, Timing, cell_timing

_CASCADES = {("CO[3]", "CI[0]"), ("PCOUT", "PCIN"), ("ACOUT", "ACIN"), ("BCOUT", "BCIN")}
_IN_A_SLICE = ("LUT", "INV", "MUXF", "CARRY4")


def _net(driver: tuple[str, str], reader: tuple[str, str]) -> float:
    """Return the delay between two pins, each (kind of cell, pin).

    A slice has dedicated wires from a LUT to its multiplexer and carry, and from all of these to a
    register. A carry can only be reached through its LUT; other signals pass through the LUT.
    """
    (kind, pin), (reading, to) = driver, reader
    if (pin, to) in _CASCADES:
        return 0.0
    if reading == "CARRY4" and to.startswith("S"):
        return 0.0 if kind.startswith(("LUT", "INV")) else NET + LUT
    multiplexed = reading.startswith("MUXF") and to in ("I0", "I1")
    if multiplexed or (reading.startswith("FD") and to == "D"):
        return 0.0 if kind.startswith(_IN_A_SLICE) else NET
    return NET


def _pins(cell: Mapping[str, Any], direction: str) -> Iterator[tuple[str, int]]:
    """Yield the pins of a cell with the net on each; constants are omitted."""
    by_bit = cell["type"] == "CARRY4"
    for port, nets in cell["connections"].items():
        if cell["port_directions"][port] == direction:
            for index, net in enumerate(nets):
                if isinstance(net, int):
                    yield (f"{port}[{index}]" if by_bit else port), net


class _Graph:
    """Nets, pins and the delays between them; a pin is (cell, name), a net is a number."""

    def __init__(
        self, cells: Mapping[str, Any], timing: Callable[[str, Mapping[str, Any]], Timing]
    ) -> None:
        self.before: dict[Any, list[tuple[Any, float]]] = {}
        self.launches: dict[Any, float] = {}
        self.captures: list[tuple[Any, float]] = []
        drivers: dict[int, tuple[str, str]] = {}
        for name, cell in cells.items():
            for pin, net in _pins(cell, "output"):
                drivers[net] = (cell["type"], pin)
                self.before[net] = [((name, pin), 0.0)]
        for name, cell in cells.items():
            found = timing(cell["type"], cell.get("parameters", {}))
            inputs = set()
            for pin, net in _pins(cell, "input"):
                inputs.add(pin)
                net_delay = _net(drivers.get(net, ("", "")), (cell["type"], pin))
                delay = 0.0 if found.nets else net_delay  # otherwise it would count at both ends
                self.before.setdefault((name, pin), []).append((net, delay))
            for (pin, out), time in found.through.items():
                if pin in inputs:
                    self.before.setdefault((name, out), []).append(((name, pin), time))
            self.launches |= {(name, out): time for out, time in found.launch.items()}
            self.captures += [
                ((name, pin), time) for pin, time in found.capture.items() if pin in inputs
            ]
        order = TopologicalSorter({to: [at for at, _ in by] for to, by in self.before.items()})
        try:
            self.order = list(order.static_order())
        except CycleError as error:
            raise ValueError("a loop without a register") from error

    def arrivals(self, starts: Mapping[Any, float]) -> dict[Any, float]:
        """Return the latest time at which each net or pin reached from ``starts`` settles."""
        times: dict[Any, float] = {}
        for to in self.order:
            found = [times[at] + time for at, time in self.before.get(to, ()) if at in times]
            if to in starts:
                found.append(starts[to])
            if found:
                times[to] = max(found)
        return times

    def captured(self, times: Mapping[Any, float]) -> float | None:
        """Return the latest time at which a register captures a signal; None if no register
        does.
        """
        return max(
            (times[pin] + setup for pin, setup in self.captures if pin in times), default=None
        )


def block_timing(
    module: Mapping[str, Any], timing: Callable[[str, Mapping[str, Any]], Timing] = cell_timing
) -> Timing:
    """Return the delays of a block from its mapped netlist.

    Args:
        module: ``ports`` and ``cells`` as Yosys' ``write_json`` writes them.
        timing: delays of a cell of this kind with these parameters; blocks inside count as cells.

    Raises:
        ValueError: a cell is not known, or there is a loop without a register.
    """
    graph = _Graph(module["cells"], timing)

    def outputs(times: Mapping[Any, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                latest = max((times[net] for net in port["bits"] if net in times), default=None)
                found |= {} if latest is None else {name: latest}
        return found

    launched = graph.arrivals(graph.launches)
    capture: dict[str, float] = {}
    through: dict[tuple[str, str], float] = {}
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            times = graph.arrivals(dict.fromkeys(port["bits"], 0.0))
            if (captured := graph.captured(times)) is not None:
                capture[name] = captured
            through |= {(name, out): time for out, time in outputs(times).items()}
    inside = graph.captured(launched) or 0.0
    return Timing(
        launch=outputs(launched), capture=capture, through=through, inside=inside, nets=True
    )
