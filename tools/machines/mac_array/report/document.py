"""The report on a network of the MAC array, with the same terms as CNN-MERP's report."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any, Final

from merp.models.base.fixed import FIXED16
from merp.models.machines.mac_array.step_traffic import array_traffic
from merp.models.papers.lists import paper
from merp.models.traffic.closed_form import total
from merp.models.traffic.count import Count
from merp.tools.common.stored import words_answer
from merp.tools.machines.mac_array.report.paper_table import fit_table, is_papers, printed_table
from merp.tools.machines.mac_array.report.tables import (
    FUSED,
    PAPERS_MACHINE,
    array_cycles_table,
    machines_table,
    time_table,
    words_table,
)
from merp.tools.report.alternatives import alternatives
from merp.tools.report.choice import ReportChoice
from merp.tools.report.measured_table import measured_table
from merp.tools.report.table import Table
from merp.tools.report.traffic import errata_table, traffic_table

Json = dict[str, Any]

COUNTS: Final = (
    ("traffic-paper", "Count maps", Count(), "Count maps: maps and deltas on the array's "
     "ports, padded to whole atoms; pooling and un-pooling in DRAM."),
    ("traffic-full", "Count all, pooling in DRAM", PAPERS_MACHINE, "Count all: all words except "
     "velocities; pooling and un-pooling are passes over DRAM, as in the paper's machine."),
    ("traffic-pooled", "Count all, pooling fused", FUSED, "Count all, state pooled: sums are "
     "pooled at the output, and deltas are stored at pooled resolution. Masks and indices stay "
     "on the chip."),
)  # fmt: skip


def array_document(choice: ReportChoice, beside: Path) -> Json:
    """Return the report, its links relative to the folder ``beside``."""
    network, batch = choice.network, choice.batch
    tables: list[Table] = []
    sections: list[Json] = []

    def section(id: str, title: str, text: str, found: list[Table], *charts: str) -> Json:
        tables.extend(found)
        sections.append(
            {
                "id": id,
                "title": title,
                "text": text,
                "charts": list(charts),
                "tables": [each.id for each in found],
            }
        )
        return sections[-1]

    section(
        "machines",
        "Two machines",
        "Traffic of a training step on the array, and on CNN-MERP.",
        [machines_table(choice)],
    )
    section(
        "traffic",
        "Traffic per layer and phase",
        "Three counts, never mixed. A filled dot marks a number that a hardware simulation "
        "confirmed, a ring a modelled number.",
        [traffic_table(choice, *each, array_traffic(network, batch, each[2])) for each in COUNTS],
        "traffic",
    )
    section(
        "words",
        "Words on ports",
        "Every pass of the array, port by port.",
        [words_table(choice, fused=False), words_table(choice, fused=True)],
    )
    section(
        "cycles",
        "Cycles and memory",
        "The array's time by cause, and the size of its memory.",
        [array_cycles_table(choice), time_table(choice)],
    )
    section(
        "measured",
        "Measured and modelled",
        "The numbers that the hardware confirmed.",
        [measured_table(choice, beside)],
    )
    if is_papers(choice):
        section(
            "paper",
            "The paper's figures",
            "Latencies of the paper come from a model with two fitted rates. A table evaluates "
            "this fit.",
            [printed_table(), fit_table()],
        )
        section(
            "errata",
            "Errata of the paper",
            "Printed values that disagree with their own definitions.",
            [errata_table("the RTL compiler's paper", paper("rtl-compiler").errata)],
        )
    headline = _headline(choice, next(each for each in tables if each.id == "array-cycles"))
    found: Json = {
        "network": network.name,
        "title": f"{network.name}: training on a MAC array",
        "lead": f"Batch {batch}, {FIXED16}, {choice.part.name} at {choice.clock_mhz:g} MHz, "
        f"{choice.bandwidth_gbs:g} GB/s of external memory.",
        "batch": batch,
        **words_answer(network),
        "format": FIXED16,
        "board": choice.board.name,
        "part": choice.part.name,
        "clock_mhz": choice.clock_mhz,
        "bandwidth_gbs": choice.bandwidth_gbs,
        "version": metadata.version("merp"),
        "headline": headline,
        "summary": "; ".join(
            f"{each['label']} {each['value']:,.{each['digits']}f} {each['unit']}"
            for each in headline
        ),
        "assumptions": [
            "MB is 10^6 bytes, a multiply-add is two operations, GFlop is 10^9 operations.",
            "A word has 16 bits, fixed point. FP, DP and KU of a layer have the same number of "
            "operations. The first layer has no DP.",
            "Totals are of convolution layers unless they say otherwise.",
            f"The clock of {choice.clock_mhz:g} MHz is the board's, not a synthesis result.",
        ],
        "figures": {"traffic": "Traffic by layer and phase, count maps."},
        "sections": sections,
        "tables": {each.id: each.json() for each in tables},
    }
    return found | {"alternatives": alternatives(found)}


def _headline(choice: ReportChoice, cycles: Table) -> list[Json]:
    """Return the first questions of an architect."""

    def card(label: str, value: float, digits: int, unit: str, note: str) -> Json:
        return {"label": label, "value": value, "digits": digits, "unit": unit, "note": note}

    def step(count: Count) -> float:
        traffic = array_traffic(choice.network, choice.batch, count)
        found = total(traffic, "step").mb_per_gflop
        assert found is not None
        return found

    image = cycles.rows[-1]
    return [
        card(
            "Training traffic", step(PAPERS_MACHINE), 2, "MB/GFlop",
            "all layers, count all, pooling in DRAM",
        ),
        card(
            "Fused", step(FUSED), 2, "MB/GFlop",
            "all layers, count all, deltas at pooled resolution",
        ),
        card(
            "Cycles", image["cycles"], 0, "an image",
            "flow model, ports without stalls, without pooling passes",
        ),
        card("Array", image["useful"], 1, "% useful", "multiply-adds over those of the array"),
    ]  # fmt: skip
