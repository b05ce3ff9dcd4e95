"""Tables of the report that only the MAC array has: its machines, ports, cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from merp.models.base.formats import BFLOAT16
from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.array_traffic import OF_VELOCITIES, PASSES, port_words
from merp.models.machines.mac_array.geometry import geometry
from merp.models.machines.mac_array.params.window import largest_window
from merp.models.machines.mac_array.passes import design_of, sized
from merp.models.machines.mac_array.step_traffic import array_traffic
from merp.models.network.network import Layer
from merp.models.network.phases import PHASES, has_phase
from merp.models.traffic.closed_form import LayerTraffic, network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.report.choice import ReportChoice
from merp.tools.report.table import LAYER, MEASURED, MODELLED, PHASE, Column, Table

MB: Final = 1e6
PAPERS_MACHINE: Final = Count(name="all", state="32")
FUSED: Final = Count(name="all", state="pooled")

PORTS: Final = (
    "map_in", "map_out", "delta_in", "kernel_in", "kernel_out", "gradient_in", "gradient_out",
    *OF_VELOCITIES,
)  # fmt: skip


def machines_table(choice: ReportChoice) -> Table:
    """Return a step's bytes on the array, and on CNN-MERP with words of the same width."""
    network, batch = choice.network, choice.batch
    bare = tuple(replace(layer, design=None) for layer in network.layers)
    floats = replace(network, numbers=BFLOAT16, layers=bare, designs={})
    found: list[tuple[str, str, Sequence[LayerTraffic]]] = [
        ("MAC array", "in DRAM", array_traffic(network, batch, PAPERS_MACHINE)),
        ("MAC array", "fused", array_traffic(network, batch, FUSED)),
        ("CNN-MERP", "fused, state pooled", network_traffic(floats, batch, FUSED)),
        ("CNN-MERP", "activations kept", network_traffic(floats, batch, PAPERS_MACHINE)),
    ]
    rows = []
    for machine, pooling, layers in found:
        step = total(layers, "step")
        maps = sum(step.streams.get(port, 0) for port in ("map_in", "map_out", "delta_in"))
        array = machine == "MAC array"
        rows.append(
            {
                "machine": machine,
                "pooling": pooling,
                "step_bytes": step.bytes,
                "mb_per_gflop": step.mb_per_gflop,
                "maps_mb_per_gflop": maps / step.operations * 1e3 if array else None,
                "basis": MEASURED if array and _seen(choice, layers) else MODELLED,
            }
        )
    return Table(
        id="machines",
        title="The same network on two machines",
        caption=(
            f"Count all, batch {batch}, words of 16 bits, all layers, a training step. The "
            "array reads kernels in FP and DP and moves gradients for every image, CNN-MERP once "
            "a batch. Velocities are excluded."
        ),
        columns=[
            Column(key="machine", label="machine"),
            Column(key="pooling", label="pooling and un-pooling"),
            Column(
                key="step_bytes", label="step", unit="MB", digits=2, scale=MB, basis="basis"
            ),
            Column(key="mb_per_gflop", label="step", unit="MB/GFlop", digits=3),
            Column(key="maps_mb_per_gflop", label="maps alone", unit="MB/GFlop", digits=3),
        ],
        rows=rows,
    )  # fmt: skip


def _seen(choice: ReportChoice, layers: Sequence[LayerTraffic]) -> bool:
    """Return whether records moved the bytes of every phase of all layers."""
    return all(
        figure is None or choice.saw(each.layer, phase, figure, every_port=True)
        for each in layers
        for phase, figure in (("fp", each.fp), ("dp", each.dp), ("ku", each.ku))
    )


def words_table(choice: ReportChoice, *, fused: bool) -> Table:
    """Return the words on every port in each pass of a step."""
    network, batch = choice.network, choice.batch
    rows = []
    for layer in network.layers:
        design = design_of(network, layer)
        seen = geometry(network, layer, largest_window(design.max_kernel, design.reach))
        for name in PASSES:
            words = port_words(seen, design, batch, name, fused=fused, momentum=design.momentum)
            if words:
                known = {port: words.get(port) for port in PORTS}
                rows.append({"layer": layer.name, "pass": name, **known, "basis": MODELLED})
    machine = "fused" if fused else "dram"
    said = (
        "sums are pooled at the output, deltas stored at pooled resolution"
        if fused
        else "pooling and un-pooling are passes over DRAM, as in the paper's machine"
    )
    return Table(
        id=f"words-{machine}",
        title="Pooling fused" if fused else "Pooling in DRAM",
        caption=(
            f"Count all: words of 16 bits on the array's ports, batch {batch}: {said}. Map rows "
            "are padded to atoms, kernels to whole lanes. The first image reads no gradients, "
            "the last one writes none."
        ),
        columns=[
            LAYER,
            Column(key="pass", label="pass"),
            *(
                Column(key=port, label=port.replace("_", " "), digits=0, basis="basis")
                for port in PORTS
            ),
        ],
        rows=rows,
    )  # fmt: skip


def array_cycles_table(choice: ReportChoice) -> Table:
    """Return the cycles of each pass of an image by cause, without stalls of the ports."""
    rows: list[dict[str, Any]] = []
    for layer, phase in _phases(choice):
        design = design_of(choice.network, layer)
        work = sized(choice.network, layer, phase, fused=False)
        found = array_cycles(work, design, kernel_first=design.kernel_first)
        macs = layer.operations() // 2
        rows.append(
            {
                "layer": layer.name,
                "phase": phase.upper(),
                "cycles": found.total,
                "issue": found.issue,
                "stall_kernel": found.stall_kernel,
                "stall_input": found.stall_input,
                "stall_output": found.stall_output,
                "fill": found.fill,
                "drain": found.drain,
                "useful": 100 * macs / (design.macs * found.total),
                "kernel_first": array_cycles(work, design, kernel_first=True).total,
            }
        )
    counts = ("cycles", "issue", "stall_kernel", "stall_input", "stall_output", "fill", "drain")
    sums: dict[str, Any] = {key: sum(row[key] for row in rows) for key in (*counts, "kernel_first")}
    useful = ordered_sum(row["useful"] * row["cycles"] for row in rows)
    rows.append({"layer": "all", "phase": "", **sums, "useful": useful / sums["cycles"]})
    return Table(
        id="array-cycles",
        title="Cycles by cause",
        caption=(
            "An image, every port a beat per cycle (no count: no bytes are counted), by the flow "
            "model, which equals the hardware's counters. Pooling and un-pooling passes over DRAM "
            "are not included. Useful: multiply-adds of the layer divided by the array's peak. "
            "Last column: as in the paper's machine, no slot before all kernels are loaded."
        ),
        columns=[
            LAYER,
            PHASE,
            *(Column(key=key, label=key.replace("_", " "), digits=0) for key in counts),
            Column(key="useful", label="useful", unit="%", digits=1),
            Column(key="kernel_first", label="cycles, kernels first", digits=0),
        ],
        rows=rows,
        totals=1,
    )


def time_table(choice: ReportChoice) -> Table:
    """Return the time of an image from its cycles, and from its words on the board's memory."""
    cycles = array_cycles_table(choice).rows
    traffic = array_traffic(choice.network, choice.batch, PAPERS_MACHINE)
    rows: list[dict[str, Any]] = []
    for phase in PHASES:
        own = [row for row in cycles if row["phase"] == phase.upper()]
        moved = total(traffic, phase)
        rows.append(
            {
                "phase": phase.upper(),
                "cycles": ordered_sum(row["cycles"] for row in own),
                "bytes": moved.bytes / choice.batch,
            }
        )
    sums = {key: ordered_sum(row[key] for row in rows) for key in ("cycles", "bytes")}
    rows.append({"phase": "all", **sums})
    for row in rows:
        row["array_us"] = 1e6 * choice.seconds(row["cycles"])
        row["memory_us"] = row["bytes"] / choice.bandwidth_gbs / 1e3
        row["basis"] = MODELLED
    return Table(
        id="time",
        title="An image: array and memory",
        caption=(
            f"Count all, pooling in DRAM: cycles at {choice.clock_mhz:g} MHz without stalls of the "
            f"ports, and the time of the pass's words at {choice.bandwidth_gbs:g} GB/s. A batch of "
            f"{choice.batch} shares words that it moves once. Neither is the paper's "
            "latency, whose machine reaches only a part of both rates."
        ),
        columns=[
            PHASE,
            Column(key="cycles", label="cycles", digits=0),
            Column(key="array_us", label="array", unit="us", digits=1, basis="basis"),
            Column(key="bytes", label="moved", unit="MB", digits=3, scale=MB),
            Column(key="memory_us", label="memory", unit="us", digits=1, basis="basis"),
        ],
        rows=rows,
        totals=1,
    )


def _phases(choice: ReportChoice) -> Iterator[tuple[Layer, str]]:
    for layer in choice.network.layers:
        for phase in PHASES:
            if has_phase(choice.network, layer, phase):
                yield layer, phase
