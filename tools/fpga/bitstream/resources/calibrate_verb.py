"""``merp calibrate``: compare merp's estimate of resources with Vivado's report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from merp.models.fpga.resources import KINDS, Resources
from merp.tools.common import fields
from merp.tools.common.kinds import File
from merp.tools.common.request import option
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table
from merp.tools.fpga.bitstream.resources.resources_verb import EngineOptions, measured
from merp.tools.fpga.bitstream.resources.utilisation import read_utilisation

USES = {"logic": "LUT as logic", "shift": "LUT as shift register", "memory": "LUT as memory"}


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(EngineOptions, fields.Tables):
    """The options of the command."""

    report: Path = option(
        File(), "text file of Vivado's report_utilization", "REPORT", required=True, after="words"
    )


REQUEST = CalibrateOptions


def run(asked: CalibrateOptions) -> int:
    """Compare and print."""
    network = open_network(asked.network)
    reported = read_utilisation(asked.report)
    from merp.cosim.synthesis.resources import total
    from merp.tools.fpga.bitstream.engines import engine_of

    engine = engine_of(network, asked.layer, asked.phase)
    estimate = total(measured(engine))
    rows = compared(reported, estimate)
    if asked.json:
        found = {kind: dict(zip(("vivado", "estimate", "error"), row, strict=True))
                 for kind, row in rows.items()}  # fmt: skip
        head = {"network": network.name, "layer": engine.layer, "phase": engine.phase}
        print(json.dumps(head | {"resources": found}, indent=2))
        return 0
    title = f"{network.name} {engine.title}: our estimate against {asked.report.name}"
    cells = [
        [USES.get(kind, kind.upper()), f"{vivado:,}", f"{ours:,}", _share(error)]
        for kind, (vivado, ours, error) in rows.items()
    ]
    console().print(table(title, ("", "Vivado", "estimate", "error"), cells))
    return 0


def compared(
    reported: Resources, estimate: Resources
) -> dict[str, tuple[float, float, float | None]]:
    """Return Vivado's count, merp's estimate, and their relative difference, by kind.

    The difference is None if Vivado's count is 0.
    """
    rows = {}
    for kind in ("lut", *USES, *KINDS[1:]):
        vivado, ours = getattr(reported, kind), getattr(estimate, kind)
        rows[kind] = vivado, ours, ours / vivado - 1 if vivado else None
    return rows


def _share(error: float | None) -> str:
    return "-" if error is None else f"{error:+.1%}"
