"""Convert the record of a plan's costs to plain JSON values and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from merp.models.comparison.figure import Figure
from merp.models.comparison.record import COUNTS, Device, PhaseRow, Record
from merp.models.network.phases import PHASES

Json = dict[str, Any]

_TOTALS = (
    "latency_s", "interval_s", "reconfiguration_s", "images_per_s", "gop_per_s", "busy", "energy_j",
    "on_chip_bytes",
)  # fmt: skip


def as_json(record: Record) -> Json:
    """Return all of a record, each figure with value and level; ``totals`` has its sums."""
    return {
        **asdict(record),
        "fits": record.fits,
        "violated": [asdict(each) for each in record.violated],
        "totals": totals(record),
    }


def totals(record: Record) -> Json:
    """Return the values derived from rows and times; None for unknown values."""
    figures = {name: getattr(record, name) for name in _TOTALS}
    traffic = {
        name: record.mb_per_gflop(classes)
        for name, classes in [
            *((count, record.classes(count)) for count in COUNTS),
            ("link", ("link",)),
            ("partial", ("partial",)),
        ]
    }
    return {
        "operations": 2 * record.macs,
        **{name: _figure(figure) for name, figure in figures.items()},
        "idle": 1 - record.busy.value,
        "cycles": {phase: asdict(record.cycles(phase)) for phase in PHASES},
        "mb_per_gflop": {name: _figure(figure) for name, figure in traffic.items()},
    }


def _figure(figure: Figure | None) -> Json | None:
    return None if figure is None else asdict(figure)


def record_of(found: Mapping[str, Any]) -> Record:
    """Return the record that ``as_json`` wrote.

    Raises:
        KeyError, TypeError, ValueError: the values are not such a record.
    """
    values = dict(found)
    for name in ("fits", "violated", "totals"):
        del values[name]
    for name in ("clock_mhz", "multipliers", "latency_s", "interval_s", "reconfiguration_s"):
        values[name] = Figure(**values[name])
    for name in ("power_w", "memory_gbs"):
        if values[name] is not None:
            values[name] = Figure(**values[name])
    values["rows"] = tuple(map(_row, values["rows"]))
    values["devices"] = tuple(
        Device(used=_figures(each["used"]), memory=_figures(each["memory"]))
        for each in values["devices"]
    )
    return Record(**values | {key: tuple(values[key]) for key in ("scope", "own", "notes")})


def _row(found: Mapping[str, Any]) -> PhaseRow:
    figures = {key: _figures(found[key]) for key in ("bytes", "waits")}
    return PhaseRow(**{**found, "cycles": Figure(**found["cycles"]), **figures})


def _figures(found: Mapping[str, Any]) -> dict[str, Figure]:
    return {key: Figure(**each) for key, each in found.items()}
