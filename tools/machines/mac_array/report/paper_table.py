"""Tables of the report about the RTL compiler's paper: its printed numbers, and fits to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from merp.models.comparison.published import published
from merp.models.machines.mac_array.comparison.fit import BATCH, held_out, without_machine
from merp.models.machines.mac_array.comparison.paper import DESIGNS, of_paper
from merp.models.machines.mac_array.rtl_compiler.latency import KERNEL_RATE, MAP_RATE
from merp.tools.report.choice import ReportChoice
from merp.tools.report.table import MODELLED, Column, Table

FITTED: Final = "fitted"

KINDS: Final = {
    "E": MODELLED, "D": MODELLED, "F": FITTED, "P": FITTED, "N": "does not reproduce",
    "U": "not checked",
}  # fmt: skip
"""The origin of a number next to a printed number, by class of reproduction."""


def printed_table() -> Table:
    """Return every number that the paper prints."""
    rows: list[Mapping[str, Any]] = [
        {
            "what": each.number.what,
            "place": each.number.place,
            "unit": each.number.unit,
            "printed": each.number.value,
            "found": each.found,
            "error": None if each.error is None else 100 * each.error,
            "basis": KINDS[each.number.cls],
            "why": each.number.why,
        }
        for each in published("rtl-compiler")
    ]
    return Table(
        id="printed",
        title="Printed numbers of the paper",
        caption=(
            "The three networks of table II (no count: the tables have no bytes). Fitted: by "
            "two rates, or two numbers of a straight line. Modelled: follows from counts, or from "
            "other printed numbers. None is measured, because the paper's machine is not available."
        ),
        columns=[
            Column(key="what", label="figure"),
            Column(key="place", label="place"),
            Column(key="unit", label="unit"),
            Column(key="printed", label="printed", digits=2),
            Column(key="found", label="here", digits=2),
            Column(key="error", label="error", unit="%", digits=2),
            Column(key="basis", label="here is"),
            Column(key="why", label="read as"),
        ],
        rows=rows,
    )


def fit_table() -> Table:
    """Return the evaluation of the fit to the nine latencies."""
    nothing = without_machine()
    rows: list[Mapping[str, Any]] = [
        {
            "what": "rates of all nine latencies",
            "kernel_rate": KERNEL_RATE,
            "map_rate": MAP_RATE,
            "error": 100 * max(
                (design.epoch(batch) / printed - 1
                 for design in DESIGNS for batch, printed in design.epochs.items()),
                key=abs,
            ),
            "basis": FITTED,
        }
    ]  # fmt: skip
    for design in DESIGNS:
        found = held_out(design)
        rows.append(
            {
                "what": f"{design.times}X by the rates of the others",
                "kernel_rate": found.kernel_rate,
                "map_rate": found.map_rate,
                "printed": found.printed,
                "found": found.found,
                "error": 100 * found.error,
                "basis": "held out",
            }
        )
    rows += [
        {
            "what": f"{design.times}X without a machine: {1e6 * nothing.linear:.0f} X + "
            f"{1e6 * nothing.square:.1f} X^2 us an image",
            "printed": 1e6 * design.each_image,
            "found": 1e6 * nothing.seconds(design),
            "error": 100 * nothing.error(design),
            "basis": FITTED,
        }
        for design in DESIGNS
    ]
    return Table(
        id="fit",
        title="The evidence of nine latencies",
        caption=(
            "Rates are shares of the memory's peak that kernels and maps reach (no count). Held "
            f"out: seconds of an epoch, batch {BATCH}, of the network that is excluded from the "
            "fit of the rates. Without a machine: two numbers for three networks, us an image. "
            "They fit equally well. Therefore the latencies prove little; words and cycles on "
            "pins must support the claim."
        ),
        columns=[
            Column(key="what", label="fit"),
            Column(key="kernel_rate", label="kernels", digits=3),
            Column(key="map_rate", label="maps", digits=3),
            Column(key="printed", label="printed", digits=2),
            Column(key="found", label="here", digits=2),
            Column(key="error", label="error, worst", unit="%", digits=2),
            Column(key="basis", label="is"),
        ],
        rows=rows,
    )


def is_papers(choice: ReportChoice) -> bool:
    """Return whether the paper prints figures of this network."""
    return of_paper(choice.network) is not None
