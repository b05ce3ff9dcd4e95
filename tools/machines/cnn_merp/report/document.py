"""The report as one JSON document, the source of every number, table and sentence of the page."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.formats import format_name
from merp.models.machines.cnn_merp.reconfiguration import bitstreams, passes
from merp.models.network.phases import NAMED, has_phase
from merp.models.traffic import published
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.common.stored import stored_formats, words_answer
from merp.tools.machines.cnn_merp.report.board import bitstreams_table, plan_table, plan_text
from merp.tools.machines.cnn_merp.report.bounds import bounds_table, variants_table
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.inference import inference_table
from merp.tools.machines.cnn_merp.report.passes import bitstream_size, reconfiguration_table
from merp.tools.machines.cnn_merp.report.speed import (
    attainable_table,
    cycles_table,
    roofline_table,
    throughput_table,
)
from merp.tools.machines.cnn_merp.report.traffic import staircase_table, traffic_tables
from merp.tools.report.alternatives import alternatives
from merp.tools.report.measured_table import measured_table
from merp.tools.report.table import Table
from merp.tools.report.traffic import errata_table

Json = dict[str, Any]

NO_DESIGN = "No layer of this network names a design. Therefore only its traffic is known."


def document(choice: PlannedChoice, beside: Path) -> Json:
    """Return the report; links to records are relative to the folder ``beside``."""
    network, part = choice.network, choice.part
    traffic = traffic_tables(choice)
    tables: list[Table] = [*traffic, measured_table(choice, beside)]
    sections: list[Json] = []

    def section(id: str, title: str, text: str, found: list[Table], *charts: str) -> None:
        tables.extend(each for each in found if each not in tables)
        sections.append(
            {
                "id": id,
                "title": title,
                "text": text,
                "charts": list(charts),
                "tables": [each.id for each in found],
            }
        )

    if choice.convolutions:
        section(
            "strategies",
            "Savings of each strategy",
            "From a datapath that fetches two operands for each multiply-add to one that reads and "
            "writes every map once.",
            [staircase_table(choice)],
            "staircase",
        )
    section(
        "traffic",
        "Traffic per layer and phase",
        "Three counts, never mixed. A filled dot marks a number that a hardware simulation "
        "confirmed, a ring a modelled number.",
        traffic,
        "traffic",
    )
    if choice.cycles:
        throughput = throughput_table(choice)
        section(
            "throughput",
            "Throughput",
            "The peak of the multipliers, and the share that the schedule reaches.",
            [throughput] if throughput else [],
        )
    section(
        "attainable",
        "Throughput limit of the memory",
        "Throughput is at most bandwidth over traffic.",
        [attainable_table(choice)],
        "attainable",
    )
    if choice.cycles:
        section(
            "roofline",
            "The limit of each layer",
            "A layer below the slope is limited by memory, otherwise by its CUs or by the "
            "port that its schedule waits for.",
            [roofline_table(choice)],
            "roofline",
        )
    if choice.convolutions:
        fused = inference_table(choice)
        section(
            "bounds",
            "Distance to the lower bounds",
            "The part of the traffic that no schedule can avoid.",
            [bounds_table(choice)],
        )
        section(
            "variants",
            "Below the paper",
            "Steps with less traffic than the paper's step, each marked as measured by records or "
            "modelled by a formula.",
            [variants_table(choice), *((fused,) if fused else ())],
            "variants",
        )
    if choice.cycles:
        section(
            "cycles",
            "Cycles, efficiency, reconfiguration",
            "The time of a training step by cause, and the cost of a change of the design.",
            [cycles_table(choice), reconfiguration_table(choice)],
            "cycles",
        )
    section("board", "On a board", *_on_board(choice))
    section(
        "measured",
        "Measured and modelled",
        "The numbers that the hardware confirmed.",
        [tables[len(traffic)]],
    )
    if choice.papers:
        section(
            "errata",
            "Errata of the paper",
            "Printed values that disagree with their own definitions.",
            [errata_table("CNN-MERP", published.ERRATA)],
        )
    headline = _headline(choice)
    found = {
        "network": network.name,
        "title": f"{network.name}: memory traffic of training",
        "lead": f"Batch {choice.batch}, {format_name(network.fmt)}, {part.name} at "
        f"{choice.clock_mhz} MHz, {choice.bandwidth_gbs} GB/s of external memory.",
        "batch": choice.batch,
        **words_answer(network),
        "format": format_name(network.fmt),
        "board": choice.board.name,
        "part": part.name,
        "memory_bytes": part.memory_bytes,
        "clock_mhz": choice.clock_mhz,
        "bandwidth_gbs": choice.bandwidth_gbs,
        "version": metadata.version("merp"),
        "staircase_layer": _staircase_layer(choice),
        "headline": headline,
        "summary": "; ".join(
            f"{each['label']} {each['value']:,.{each['digits']}f} {each['unit']}"
            for each in headline
        ),
        "assumptions": _assumptions(choice),
        "figures": _figures(choice),
        "sections": sections,
        "tables": {each.id: each.json() for each in tables},
    }
    return found | {"alternatives": alternatives(found)}


def _on_board(choice: PlannedChoice) -> tuple[str, list[Table]]:
    """Return the text about the plan and its tables, or the reason for their absence."""
    found = choice.plan
    if isinstance(found, BadInput):
        return f"There is no plan: {found}.", []
    return plan_text(found), [plan_table(choice, found), bitstreams_table(found)]


def _figures(choice: PlannedChoice) -> dict[str, str]:
    """Return the caption of each chart."""
    return {
        "staircase": f"FP of {_staircase_layer(choice)} after each strategy, count maps.",
        "traffic": "Traffic by layer and phase, count maps.",
        "attainable": "Throughput that the external memory supports; each line with its own count.",
        "roofline": "Each pass below its roof, count all with deltas at pooled resolution.",
        "variants": "A training step, convolution layers, count all, one more change per stair.",
        "cycles": "Time of each pass, all groups, modelled.",
    }


def _staircase_layer(choice: PlannedChoice) -> str | None:
    """Return the paper's own layer, else the layer with most operations."""
    if choice.papers:
        return published.STAIRCASE_LAYER
    layers = choice.convolutions
    return max(layers, key=lambda layer: layer.operations()).name if layers else None


def _headline(choice: PlannedChoice) -> list[Json]:
    """Return the first questions of an architect."""

    def of(count: Count, phase: str) -> Any:
        layers = network_traffic(choice.network_on(count), choice.batch, count)
        some = [each for each in layers if each.layer.kind == "conv"] or list(layers)
        return total(some, phase)

    def card(label: str, value: float, digits: int, unit: str, note: str) -> Json:
        return {"label": label, "value": value, "digits": digits, "unit": unit, "note": note}

    # the same for every card: numbers of different counts cannot be compared
    full = Count(name="all", state="pooled")
    count = "count all, deltas at pooled resolution"
    cards = [
        card(label, of(full, phase).mb_per_gflop, 2, "MB/GFlop", count)
        for label, phase in (("Forward traffic", "fp"), ("Training traffic", "step"))
    ]
    if choice.cycles:
        seconds = choice.seconds(sum(found.phase for _, _, found in choice.cycles))
        operations = sum(found.operations for _, _, found in choice.cycles)
        loads = bitstreams(passes(choice.network))
        loading = loads * choice.board.load_seconds
        traffic = network_traffic(choice.network, choice.batch, full)
        by_name = {each.layer.name: each for each in traffic}
        moved = sum(getattr(by_name[layer.name], p).bytes for layer, p, _ in choice.cycles)
        cards += [
            card(
                "Training throughput", operations / seconds / 1e9, 1, "GFlop/s",
                f"cycle model, {choice.clock_mhz:g} MHz, layers with a design",
            ),
            card(
                "Step", seconds, 2, "s",
                f"batch {choice.batch}; {loads} bitstreams add {loading:.2f} s",
            ),
            card(
                "Memory needed", moved / seconds / 1e9, 2, "GB/s",
                f"mean of the step, of {choice.bandwidth_gbs:g}; {count}",
            ),
        ]  # fmt: skip
    own = {
        (layer.name, phase)
        for layer in choice.network.layers
        for phase in NAMED
        if has_phase(choice.network, layer, phase)
    }
    passed = {(x.layer.name, x.phase) for x in choice.measured if x.confirms} & own
    every = len(own)
    cards.append(
        card("Confirmed in hardware", len(passed), 0, f"of {every}", "phases of layers, simulated")
    )
    return cards


def _assumptions(choice: PlannedChoice) -> list[str]:
    network = choice.network
    words = f"A word is {8 * network.fmt.bytes} bit ({format_name(network.fmt)})"
    if network.storage is not None:
        words = (
            f"Numbers are computed in {format_name(network.fmt)} and stored as: "
            f"{stored_formats(network)}"
        )
    lines = [
        "MB is 10^6 bytes, a multiply-add is two operations, GFlop is 10^9 operations.",
        f"{words}. FP, DP and KU of a layer have the same number of operations. The first layer "
        "has no DP.",
        "Totals are of convolution layers unless they say otherwise.",
        f"{choice.part.name}: {choice.part.memory_bytes:,} bytes of block RAM, "
        f"{bitstream_size(choice.part)}; the clock of {choice.clock_mhz:g} MHz is an assumption, "
        "not a synthesis result.",
    ]
    if not choice.cycles:
        lines.append(NO_DESIGN)
    return lines
