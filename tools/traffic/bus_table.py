"""The table of ``merp traffic --count bus``."""

from __future__ import annotations

from typing import Final

from merp.cosim.board.bus_ways import Crossing
from merp.cosim.board.step_bus import StepBus
from merp.models.network.network import Network
from merp.tools.common.shortened import ROWS, shortened
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import console, fixed, say, table
from merp.tools.traffic.bus import by_phase, further

COLUMNS: Final = ("ports", "padding", "partial", "bus", "beats")


def print_bus(network: Network, batch: int, found: StepBus, *, whole: bool) -> None:
    """Print the bytes of each layer and phase on ports and bus, and the waste by its cause.

    Args:
        network: the network.
        batch: images of the step.
        found: the traffic of the step.
        whole: print every phase, not only those with the most bytes.
    """
    phases = [
        (f"{layer} {phase.upper()}", ways.both)
        for (layer, phase), ways in by_phase(network, found).items()
    ]
    shown = shortened(phases, lambda each: each.bus, len(phases) if whole else ROWS)
    others = {name: ways.both for name, ways in further(found).items()}
    rows = [(name, sum(some, Crossing())) for name, some in shown] + list(others.items())
    notes = [
        f"Count bus: memory of {found.memory_bits} bits, beats of {found.beat_bytes} bytes; no "
        "velocities. bus = ports + padding + partial. padding: unused bits and places of words. "
        "partial: the other bytes of beats that are read; a write moves only its words.",
        *stored_notes(network),
    ]
    if len(shown) < len(phases):
        notes.append("The largest rows; --all: every layer.")
    console().print(
        table(
            f"Bytes on the memory bus of {network.name}, batch {batch}",
            ["phase", *COLUMNS],
            [(name, *(f"{getattr(each, key):,}" for key in COLUMNS)) for name, each in rows],
            totals=len(others),
            caption=" ".join(notes),
        )
    )
    total = others["total"]
    wasted = total.padding + total.partial
    say(
        f"{total.beats:,} beats in {total.bursts:,} bursts of "
        f"{fixed(total.beats / total.bursts, 1)} on average; {wasted:,} bytes wasted "
        f"({100 * wasted / total.bus:.1f} %)"
    )
