"""A comparison as one JSON document: every number, table and sentence of its page."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from merp.models.comparison.compare import Comparison
from merp.models.comparison.figure import LEVELS
from merp.models.comparison.record_json import as_json
from merp.tools.comparison import tables
from merp.tools.comparison.alternatives import alternatives
from merp.tools.comparison.errata import errata_table
from merp.tools.report.table import Table

Json = dict[str, Any]


def document(asked: Comparison, hardware: list[Table]) -> Json:
    """Return the document: the complete records, and the tables of the page.

    Args:
        asked: the comparison.
        hardware: tables of simulations, syntheses and trainings.
    """
    found: list[Table] = []
    sections: list[Json] = []
    comparable = bool(asked.records)

    def section(id: str, title: str, text: str, some: list[Table], chart: str = "") -> None:
        shown = [each for each in some if each.rows]
        found.extend(shown)
        if shown:
            sections.append(
                {
                    "id": id,
                    "title": title,
                    "text": text,
                    "charts": [chart] if chart and comparable else [],
                    "tables": [each.id for each in shown],
                    "tabs": "Architecture",
                }
            )

    section(
        "speed",
        "Throughput",
        "Useful operations per second, for a cluster also per device. Each number has the mark of "
        "its level: do not rank printed, computed, modelled and assumed numbers together.",
        [tables.speed_table(asked)],
        "gops",
    )
    section(
        "cycles",
        "Cycles by phase",
        "Cycles of an image in the three phases, summed over layers and devices.",
        [tables.cycles_table(asked)],
        "phases",
    )
    section(
        "traffic",
        "Traffic",
        "Counts are never mixed: each paper's own, maps only, and all words to memory or host.",
        [tables.traffic_table(asked)],
        "footings",
    )
    section(
        "roofline",
        "Attainable throughput",
        "Each architecture under the roof of its own board: multipliers, and external memory.",
        [tables.roofline_table(asked)],
        "roofline",
    )
    section(
        "resources",
        "Resources",
        "Shares of a device that a design may use, and a list of all excesses.",
        [tables.resources_table(asked), tables.excess_table(asked)],
        "shares",
    )
    section(
        "hardware",
        "In hardware",
        "Counts from simulations of the generated hardware, resources after synthesis by Yosys, "
        "and accuracy in its arithmetic, for the architectures with hardware here.",
        hardware,
    )
    section(
        "layers",
        "Layer by layer",
        "The rows of the sums above.",
        [tables.rows_table(each.record) for each in asked.answers if each.record is not None],
    )
    section(
        "notes",
        "Omissions of each model",
        "Reasons, readings and limits of each record.",
        [tables.notes_table(asked)],
    )
    section(
        "not-reproduced",
        "Printed numbers",
        "Printed values next to values by the papers' own definitions. Values that do not "
        "reproduce are never tuned; values that cannot be checked have a reason.",
        tables.published_tables(asked),
    )
    section(
        "errata",
        "Errata of the papers",
        "Printed values that contradict the paper's own definitions.",
        [errata_table(asked)],
    )
    names = ", ".join(each.architecture.title for each in asked.answers)
    operations = 2 * asked.records[0].macs if asked.records else None
    text = {
        "network": asked.network.name,
        "title": f"{asked.network.name}: {len(asked.answers)} architectures",
        "lead": f"{tables.step(asked)} {tables.legend()}",
        "summary": f"{names}: a training step of {asked.network.name} side by side",
        "batch": asked.batch,
        "scope": list(asked.scope),
        "board": asked.board,
        "word": asked.word_bits or "own",
        "fit": asked.fit,
        "operations": operations,
        "version": metadata.version("merp"),
        "levels": {
            level: {"mark": tables.MARKS[level], "says": says} for level, says in LEVELS.items()
        },
        "headline": _headline(asked, operations),
        "assumptions": _assumptions(),
        "figures": _figures(asked),
        "sections": sections,
        "records": {
            each.architecture.name: as_json(each.record)
            for each in asked.answers
            if each.record is not None
        },
        "reasons": {each.architecture.name: each.why for each in asked.answers if each.why},
        "tables": {each.id: each.json() for each in found},
    }
    return text | {"alternatives": alternatives(text)}


def _headline(asked: Comparison, operations: int | None) -> list[Json]:
    def card(label: str, value: float, digits: int, unit: str, note: str) -> Json:
        return {"label": label, "value": value, "digits": digits, "unit": unit, "note": note}

    count = len(asked.answers)
    fitting = sum(each.fits for each in asked.records)
    cards = [
        card("Compare", len(asked.records), 0, f"of {count}", "the others give their reasons"),
        card("Fit", fitting, 0, f"of {count}", "their boards; the others are marked"),
    ]
    if operations is not None:
        cards.insert(
            0, card("Useful work", operations / 1e9, 1, "Gop a step", "the same for all of them")
        )
    return cards


def _assumptions() -> list[str]:
    levels = "; ".join(f"{tables.MARKS[level]} {level}: {says}" for level, says in LEVELS.items())
    return [
        f"Levels: {levels}. A sum has the weakest level of its terms.",
        "MB is 10^6 bytes, a multiply-add is two operations, GFlop is 10^9 operations. Zeros that "
        "an architecture multiplies are no operations.",
        "The time includes loading of bitstreams; no paper counts it in its throughput.",
        "Costs in money, and the GPUs and CPUs of the papers, are left out.",
    ]


def _figures(asked: Comparison) -> dict[str, str]:
    """Return the caption of each chart, with scope, batch, words and clock."""
    clocks = ", ".join(
        f"{each.architecture} {each.clock_mhz.value:g} MHz with {each.word_bits}-bit words"
        for each in asked.records
    )
    of = f"{tables.step(asked)} {clocks}."
    return {
        "gops": f"Useful operations per second of all devices and of one, logarithmic. {of}",
        "phases": f"Cycles of an image by phase, logarithmic. {of}",
        "footings": f"Traffic by count, logarithmic; absent traffic is 0. {of}",
        "roofline": f"A point for each architecture under its own roof, count all. {of}",
        "shares": f"Shares of a device that a design may use; the line is 100 %. {of}",
    }
