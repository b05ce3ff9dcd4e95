"""Tables of the report about simulated passes, and about loading bitstreams."""

from __future__ import annotations

from typing import Any

from merp.models.fpga.parts import Part
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.forward_registers import forward_registers
from merp.models.machines.cnn_merp.published_speed import RECONFIGURATION
from merp.models.machines.cnn_merp.reconfiguration import SHARES, bitstreams, least_batch, passes
from merp.models.network.phases import NAMED
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.report.table import Column, Table


def bitstream_size(part: Part) -> str:
    """Return the size of a bitstream in words."""
    bits = part.configuration_bits
    return f"{bits:,} bit a bitstream" if bits else "a bitstream of unknown size"


def reconfiguration_table(choice: PlannedChoice) -> Table:
    """Return the cost of loading per bitstream and for a step, and the batches that amortise it."""
    part = choice.part
    once = choice.board.load_seconds
    order = passes(choice.network)
    rows: list[dict[str, Any]] = []
    for design, phase in dict.fromkeys(order):
        layers = [
            layer.name for layer, p, _ in choice.cycles if (layer.design, p) == (design, phase)
        ]
        rows.append(
            {"bitstream": f"{design}, {phase.upper()}", "layers": " ".join(layers)}
            | _shares(choice, 1, once, [(design, phase)])
        )
    loads = bitstreams(order)
    rows.append(
        {"bitstream": "training step", "layers": "all with a design"}
        | _shares(choice, loads, once, order)
    )
    counts = [
        len(forward_registers(layer.shape, 1, design_of(choice.network, layer)))
        for layer in choice.network.layers
        if layer.design
    ]
    notes = [
        f"Level 1, registers: a layer needs at most {max(counts, default=0)} values on "
        "configuration ports, written while the engine is idle. At a word per cycle this takes "
        "less than a microsecond.",
        f"Level 2, bitstreams: {part.name}, {bitstream_size(part)}, loaded in {once:.4f} s. A step "
        f"loads {loads}: FP forwards, DP backwards, then KU, whose operands are in memory.",
    ]
    if choice.papers and part.name == "xc7k325t":
        notes.append(
            f"The paper has {RECONFIGURATION['seconds']:g} s and {RECONFIGURATION['share']:.0%} "
            f"for layer 2 at {RECONFIGURATION['layer_seconds']:g} s a batch. This is a clock of "
            "about 100 MHz. At the clock above, the layer is faster, and the share is larger."
        )
    return Table(
        id="reconfiguration",
        title="Reconfiguration",
        caption=(
            "Time of loading bitstreams compared with computing (kernel loading included), batch "
            f"{choice.batch}, {choice.clock_mhz:g} MHz. No count, because no bytes are counted. "
            "The last columns: the smallest even batch at which loading is at most that share of "
            "the time. Modelled."
        ),
        columns=[
            Column(key="bitstream", label="bitstream"),
            Column(key="layers", label="layers"),
            Column(key="loads", label="loads", digits=0),
            Column(key="load_seconds", label="loading", unit="s", digits=4),
            Column(key="seconds", label="computing", unit="s", digits=4),
            Column(key="share", label="loading", unit="% of time", digits=1),
            *(
                Column(
                    key=f"batch_{share:.0%}", label=f"at most {share:.0%}", unit="batch", digits=0
                )
                for share in SHARES
            ),
        ],
        rows=rows,
        totals=1,
        notes=notes,
    )


def _shares(
    choice: PlannedChoice, loads: int, once: float, order: list[tuple[str, str]]
) -> dict[str, Any]:
    def seconds(batch: int) -> float:
        cycles = 0
        for layer in choice.network.layers:
            for phase in NAMED:
                if layer.design is not None and (layer.design, phase) in order:
                    found = layer_cycles(choice.network, layer, phase, batch)
                    cycles += found.phase if found else 0
        return choice.seconds(cycles)

    here = seconds(choice.batch)
    return {
        "loads": loads,
        "load_seconds": loads * once,
        "seconds": here,
        "share": 100 * loads * once / (loads * once + here) if here else None,
        **{f"batch_{share:.0%}": least_batch(share, loads * once, seconds) for share in SHARES},
    }
