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
    """Return the document: the records in full, and the tables that the page shows.

    hardware: tables of what was simulated, synthesised and trained.
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
        "Useful operations a second, a cluster also by the device. Each number bears the mark of "
        "its level: what was printed, computed, modelled or assumed does not rank together.",
        [tables.speed_table(asked)],
        "gops",
    )
    section(
        "cycles",
        "Cycles by phase",
        "What the three phases of an image take, summed over layers and devices.",
        [tables.cycles_table(asked)],
        "phases",
    )
    section(
        "traffic",
        "Traffic",
        "Counts are never mixed: what each paper counts, maps alone, all that crosses.",
        [tables.traffic_table(asked)],
        "footings",
    )
    section(
        "roofline",
        "What the memory feeds",
        "Each architecture under the roof of its own board: multipliers, and external memory.",
        [tables.roofline_table(asked)],
        "roofline",
    )
    section(
        "resources",
        "Resources",
        "Shares of what a design may take of a device. What exceeds them is listed.",
        [tables.resources_table(asked), tables.excess_table(asked)],
        "shares",
    )
    section(
        "hardware",
        "In hardware",
        "What simulations of the generated hardware counted, what Yosys made of it, and what was "
        "learned in its numbers: of the architectures that are in hardware here.",
        hardware,
    )
    section(
        "layers",
        "Layer by layer",
        "The rows whose sums stand above.",
        [tables.rows_table(each.record) for each in asked.answers if each.record is not None],
    )
    section(
        "notes",
        "What each leaves out",
        "Reasons, readings and limits of each record.",
        [tables.notes_table(asked)],
    )
    section(
        "not-reproduced",
        "Printed numbers",
        "What the papers print beside what their definitions give; what does not reproduce is "
        "never tuned, and what cannot be checked has its reason.",
        tables.published_tables(asked),
    )
    section(
        "errata",
        "Errata of the papers",
        "Where printed values and their own definitions part.",
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
        card("Compare", len(asked.records), 0, f"of {count}", "the others say why they do not"),
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
        "Loading bitstreams is within the time; no paper counts it in its throughput.",
        "Nothing is said of money; GPUs and CPUs of the papers are left out.",
    ]


def _figures(asked: Comparison) -> dict[str, str]:
    """Caption of each chart: each says scope, batch, words and clock."""
    clocks = ", ".join(
        f"{each.architecture} {each.clock_mhz.value:g} MHz with {each.word_bits}-bit words"
        for each in asked.records
    )
    of = f"{tables.step(asked)} {clocks}."
    return {
        "gops": f"Useful operations a second of all devices and of one, logarithmic. {of}",
        "phases": f"Cycles of an image by phase, logarithmic. {of}",
        "footings": f"Traffic by count, logarithmic; what is not there is 0. {of}",
        "roofline": f"A point for each architecture under its own roof, count all. {of}",
        "shares": f"Shares of what a design may take; the line is all of it. {of}",
    }
