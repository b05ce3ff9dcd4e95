"""Tables of a comparison, for the JSON, the page and the terminal.

A number with a level has its mark in the column's ``basis``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from merp.models.base.ordered_sum import ordered_sum
from merp.models.comparison.compare import OWN, Comparison, MachineAnswer
from merp.models.comparison.figure import LEVELS, Figure, derived
from merp.models.comparison.printed import DEVIATES, REPRODUCED, UNCHECKED
from merp.models.comparison.published import published
from merp.models.comparison.record import COUNTS, RESOURCES, Record
from merp.models.network.phases import PHASES
from merp.models.papers.lists import CLASSES
from merp.tools.report.table import Column, Table

MARKS = {level: level[0] for level in LEVELS} | {"synthesised": "y"}
"""A letter for each level."""

NAME = Column(key="architecture", label="architecture")
TITLES = {"lut": "LUT", "ff": "FF", "bram": "block RAM", "dsp": "DSP"}


def figure(key: str, label: str, unit: str = "", digits: int = 1, scale: float = 1) -> Column:
    """Return a column of figures with their levels."""
    return Column(
        key=key, label=label, unit=unit, digits=digits, scale=scale, basis=f"{key}_level"
    )  # fmt: skip


def put(row: dict[str, Any], key: str, found: Figure | None) -> None:
    """Put a figure and its level into a row; an absent figure counts as 0 and has no level."""
    row[key] = None if found is None else found.value
    row[f"{key}_level"] = found.level if found is not None and found.value else None


def step(asked: Comparison) -> str:
    """Return a sentence about the compared step."""
    word = "its paper's word" if asked.word_bits is None else f"{asked.word_bits}-bit words"
    board = "each on its paper's board" if asked.board == OWN else f"each on {asked.board}"
    work = f"{_operations(asked):,.2f} Gop, the same in all rows" if asked.records else "no record"
    return (
        f"A training step of {asked.network.name}, {_scope(asked)}, batch {asked.batch}: {work}; "
        f"{board} with {word}."
    )


def _scope(asked: Comparison) -> str:
    layers = asked.network.layers
    if asked.scope == tuple(layer.name for layer in layers):
        return "all layers"
    if asked.scope == tuple(layer.name for layer in layers if layer.kind == "conv"):
        return "convolution layers"
    return ", ".join(asked.scope)


def legend() -> str:
    """Return the meaning of the marks."""
    return "Marks: " + ", ".join(f"{mark} {level}" for level, mark in MARKS.items()) + "."


def _records(asked: Comparison) -> Iterator[tuple[MachineAnswer, Record]]:
    """Yield all answers with a record, comparable or not."""
    for each in asked.answers:
        if each.record is not None:
            yield each, each.record


def speed_table(asked: Comparison) -> Table:
    """Return throughput, use and energy of each architecture, for a cluster also per device."""
    rows = []
    for answer in asked.answers:
        row: dict[str, Any] = {"architecture": answer.architecture.name}
        if (record := answer.record) is not None:
            row |= {"board": record.board, "devices": len(record.devices)}
            row |= {"fits": "yes" if record.fits else "no", "clock_mhz": record.clock_mhz.value}
            row |= {"clock_mhz_level": record.clock_mhz.level, "word_bits": record.word_bits}
        if (record := answer.comparable) is not None:
            share = 100 * record.reconfiguration_s.value / record.interval_s.value
            put(row, "images_per_s", record.images_per_s)
            put(row, "gop_per_s", record.gop_per_s)
            row["per_device"] = record.gop_per_s.value / len(record.devices)
            row["per_device_level"] = record.gop_per_s.level
            put(row, "busy", record.busy)
            row["reconfiguration"] = share
            if record.energy_j is not None:
                joule = record.energy_j
                put(row, "joule", Figure(joule.value / record.batch, joule.level))
        rows.append(row)
    return Table(
        id="speed",
        title=f"Throughput, batch {asked.batch}",
        caption="The time includes loading of bitstreams. Busy: useful multiplier-cycles over all "
        "multiplier-cycles.",
        columns=[
            NAME,
            Column(key="board", label="board"),
            Column(key="fits", label="fits"),
            Column(key="devices", label="devices", digits=0),
            figure("clock_mhz", "clock", "MHz", 0),
            Column(key="word_bits", label="word", unit="bits", digits=0),
            figure("images_per_s", "images/s", "", 1),
            figure("gop_per_s", "Gop/s", "", 1),
            figure("per_device", "Gop/s a device", "", 1),
            figure("busy", "busy", "%", 1, 0.01),
            Column(key="reconfiguration", label="bitstreams", unit="% of time", digits=1),
            figure("joule", "energy", "J an image", 2),
        ],
        rows=rows,
    )


def overview(asked: Comparison) -> Table:
    """Return the first screen: speed, and map traffic, the only count of all architectures."""
    keys = ("board", "fits", "devices", "images_per_s")
    speed = speed_table(asked)
    traffic = {row["architecture"]: row for row in traffic_table(asked).rows}
    rows = [
        {**row, **{key: traffic[row["architecture"]].get(key) for key in ("maps", "maps_level")}}
        for row in speed.rows
    ]
    return Table(
        id="overview",
        title=f"Throughput and traffic, batch {asked.batch}",
        caption="MB/GFlop: feature and delta maps that cross to memory or host; 0 if all maps stay "
        "on chip.",
        columns=[
            NAME,
            *(column for column in speed.columns if column.key in keys),
            figure("maps", "MB/GFlop", "", 2),
        ],
        rows=rows,
    )


def _operations(asked: Comparison) -> float:
    return 2 * asked.records[0].macs / 1e9 if asked.records else 0.0


def cycles_table(asked: Comparison) -> Table:
    """Return the cycles of an image by phase, and the bottleneck."""
    rows = []
    for answer in asked.answers:
        row: dict[str, Any] = {"architecture": answer.architecture.name}
        if (record := answer.comparable) is not None:
            for phase in PHASES:
                found = record.cycles(phase)
                put(row, phase, Figure(found.value / record.batch, found.level))
            waits = [wait.value for each in record.rows for wait in each.waits.values()]
            row["waits"] = 100 * ordered_sum(waits) / record.cycles().value
            row["binds"] = _bound(record)
        rows.append(row)
    return Table(
        id="cycles",
        title=f"Cycles by phase, batch {asked.batch}",
        caption="Thousands of cycles of an image, at the clock of each board, summed over layers "
        "and devices, which may work at the same time.",
        columns=[
            NAME,
            Column(key="binds", label="mostly bound by"),
            *(figure(phase, phase.upper(), "10^3 cycles", 1, 1e3) for phase in PHASES),
            Column(key="waits", label="waits", unit="% of them", digits=1),
        ],
        rows=rows,
    )


def _bound(record: Record) -> str:
    """Return the resource that limits the rows with the most cycles."""
    shares: dict[str, float] = {}
    for row in record.rows:
        shares[row.binds] = shares.get(row.binds, 0.0) + row.cycles.value
    return max(shares, key=lambda name: shares[name])


def traffic_table(asked: Comparison) -> Table:
    """Return MB/GFlop by each count, with words on links separately."""
    rows = []
    for answer in asked.answers:
        row: dict[str, Any] = {"architecture": answer.architecture.name}
        if (record := answer.comparable) is not None:
            for count in COUNTS:
                put(row, count, record.mb_per_gflop(record.classes(count)))
            put(row, "partial", record.mb_per_gflop(("partial",)))
            put(row, "link", record.mb_per_gflop(("link",)))
            for phase in PHASES:
                put(row, f"maps_{phase}", record.mb_per_gflop(("maps",), phase))
        rows.append(row)
    return Table(
        id="traffic",
        title=f"Traffic, batch {asked.batch}",
        caption="MB/GFlop. own: the paper's own count; maps: feature and delta maps, each once; "
        "all: all words to memory or host, with partial sums. Links between boards are counted "
        "separately.",
        columns=[
            NAME,
            *(figure(key, name, "MB/GFlop", 2) for key, name in COUNTS.items()),
            figure("partial", "partial sums", "MB/GFlop", 2),
            figure("link", "links", "MB/GFlop", 2),
            *(figure(f"maps_{phase}", f"maps, {phase.upper()}", "MB/GFlop", 2) for phase in PHASES),
        ],
        rows=rows,
    )


def resources_table(asked: Comparison) -> Table:
    """Return the resources of a device, for a cluster of the largest."""
    rows = []
    for answer, record in _records(asked):
        row: dict[str, Any] = {"architecture": answer.architecture.name, "part": record.part}
        for kind in RESOURCES:
            found = [device.used[kind] for device in record.devices if kind in device.used]
            most = max(found, key=lambda each: each.value) if found else None
            put(row, kind, most)
            share = None if most is None else 100 * most.value / record.limits[kind]
            row[f"{kind}_share"] = share
        chip = record.on_chip_bytes
        put(row, "chip", chip)
        rows.append(row)
    return Table(
        id="resources",
        title=f"Resources, batch {asked.batch}",
        caption="Fullest device; shares of the amount that a design may use. LUTs have six inputs; "
        "for Intel FPGAs they are halves of ALMs. Block RAM is of the FPGA's own kind. Neither is "
        "converted. On chip: block RAM of all devices.",
        columns=[
            NAME,
            Column(key="part", label="part"),
            *(
                column
                for kind in RESOURCES
                for column in (
                    figure(kind, TITLES[kind], "", 0),
                    Column(key=f"{kind}_share", label=TITLES[kind], unit="%", digits=1),
                )
            ),
            figure("chip", "on chip", "MB", 2, 1e6),
        ],
        rows=rows,
    )


def excess_table(asked: Comparison) -> Table:
    """Return the resources that do not fit, with need and limit."""
    rows = [
        {"architecture": answer.architecture.name, "device": each.device}
        | {"resource": TITLES[each.resource], "need": each.need, "limit": each.limit}
        for answer, record in _records(asked)
        for each in record.violated
    ]
    return Table(
        id="excess",
        title=f"Plans that do not fit, batch {asked.batch}",
        caption="Such a plan is still shown.",
        columns=[
            NAME,
            Column(key="resource", label="resource"),
            Column(key="device", label="device", digits=0),
            Column(key="need", label="need", digits=0),
            Column(key="limit", label="limit", digits=0),
        ],
        rows=rows,
    )


def notes_table(asked: Comparison) -> Table:
    """Return the omissions of each model, or the reason why it has no sums here."""
    rows = []
    for answer in asked.answers:
        if answer.why is not None:
            rows.append({"architecture": answer.architecture.name, "note": answer.why})
        for note in answer.record.notes if answer.record else ():
            rows.append({"architecture": answer.architecture.name, "note": note})
    return Table(
        id="notes",
        title=f"Omissions of each model, batch {asked.batch}",
        caption="",
        columns=[NAME, Column(key="note", label="note")],
        rows=rows,
    )


def rows_table(record: Record) -> Table:
    """Return all rows of a record."""
    rows = []
    for each in record.rows:
        row: dict[str, Any] = {
            "device": each.device,
            "layer": each.layer,
            "phase": each.phase.upper(),
            "runs_as": each.runs_as,
            "binds": each.binds,
            "gop": 2 * each.macs / 1e9,
        }
        put(row, "cycles", each.cycles)
        for name, classes in (("full", record.classes("full")), ("link", ("link",))):
            moved = [each.bytes[key] for key in classes if key in each.bytes]
            put(row, name, sum(moved[1:], moved[0]) if moved else None)
        rows.append(row)
    return Table(
        id=f"rows-{record.architecture}",
        title=f"{record.architecture}, layer by layer, batch {record.batch}",
        caption=f"{record.word_bits}-bit words, {record.board} at "
        f"{record.clock_mhz.value:g} MHz. Memory and host: count all.",
        columns=[
            Column(key="layer", label="layer"),
            Column(key="phase", label="phase"),
            Column(key="device", label="device", digits=0),
            Column(key="runs_as", label="runs as"),
            Column(key="binds", label="bound by"),
            Column(key="gop", label="work", unit="Gop", digits=2),
            figure("cycles", "cycles", "10^6", 3, 1e6),
            figure("full", "memory and host", "MB", 2, 1e6),
            figure("link", "links", "MB", 2, 1e6),
        ],
        rows=rows,
    )


def published_tables(asked: Comparison) -> list[Table]:
    """Return tables of printed numbers: not reproduced, reproduced, and unchecked."""
    rows = [
        {
            "architecture": answer.architecture.name,
            "place": each.number.place,
            "what": each.number.what,
            "unit": each.number.unit,
            "class": each.number.cls,
            "status": each.status,
            "printed": each.number.value,
            "found": each.found,
            "error": None if each.error is None else 100 * each.error,
            "why": each.number.why or None,
        }
        for answer in asked.answers
        for each in published(answer.architecture.name)
    ]
    return [
        _published_table([row for row in rows if row["status"] == status], status)
        for status in _PUBLISHED
    ]


_PUBLISHED: Final = {
    DEVIATES: ("not-reproduced", "Does not reproduce"),
    REPRODUCED: ("printed", "Printed and reproduced"),
    UNCHECKED: ("unchecked", "Cannot be checked here"),
}
"""Tables of printed numbers by their status."""


def _published_table(rows: list[dict[str, Any]], status: str) -> Table:
    name, title = _PUBLISHED[status]
    says = "; ".join(f"{cls}: {text}" for cls, text in CLASSES.items())
    return Table(
        id=name,
        title=title,
        caption=f"Numbers of each paper's own networks, not of the compared one. {says}.",
        columns=[
            NAME,
            Column(key="place", label="place"),
            Column(key="what", label="what"),
            Column(key="class", label="class"),
            Column(key="unit", label="unit"),
            Column(key="printed", label="printed", digits=2),
            Column(key="found", label="found", digits=2),
            Column(key="error", label="error", unit="%", digits=2),
            Column(key="why", label="why"),
        ],
        rows=rows,
    )


def roofline_table(asked: Comparison) -> Table:
    """Return each architecture under the roof of its devices: multipliers, and external memory."""
    rows = []
    for answer in asked.answers:
        if (record := answer.comparable) is None:
            continue
        moved = record.bytes(record.classes("full"))
        row: dict[str, Any] = {"architecture": answer.architecture.name}
        intensity = 2 * record.macs / moved.value if moved.value else None
        put(row, "intensity", None if intensity is None else Figure(intensity, moved.level))
        peak = 2 * record.multipliers.value * record.clock_mhz.value / 1e3
        put(row, "peak", derived(peak, record.multipliers, record.clock_mhz))
        put(row, "memory_gbs", record.memory_gbs)
        put(row, "gop_per_s", record.gop_per_s)
        rows.append(row)
    return Table(
        id="roofline",
        title=f"Roofs, batch {asked.batch}",
        caption="Operations per byte to memory or host, count all; limits of all multipliers "
        "and of the memory of all devices.",
        columns=[
            NAME,
            figure("intensity", "intensity", "op/B", 1),
            figure("peak", "multipliers", "Gop/s", 1),
            figure("memory_gbs", "memory", "GB/s", 2),
            figure("gop_per_s", "reached", "Gop/s", 1),
        ],
        rows=rows,
    )


def summaries(asked: Comparison) -> list[Table]:
    """Return the tables of the terminal."""
    return [
        speed_table(asked),
        cycles_table(asked),
        traffic_table(asked),
        resources_table(asked),
        excess_table(asked),
        notes_table(asked),
    ]
