"""``merp calibrate``: how far our estimate of resources is from Vivado's report."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from merp.models.fpga.resources import KINDS, Resources
from merp.tools.common.arguments import add_tables
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table
from merp.tools.resources.utilisation import read_utilisation
from merp.tools.verbs.resources import add_engine, measured

USES = {"logic": "LUT as logic", "shift": "LUT as shift register", "memory": "LUT as memory"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "report", metavar="REPORT", type=Path, help="what report_utilization wrote, as text"
    )
    add_engine(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    network = open_network(args.network)
    reported = read_utilisation(args.report)
    from merp.cosim.synthesis.resources import total
    from merp.tools.bitstream.engines import engine_of

    engine = engine_of(network, args.layer, args.phase)
    estimate = total(measured(engine))
    rows = compared(reported, estimate)
    if args.json:
        found = {kind: dict(zip(("vivado", "estimate", "error"), row, strict=True))
                 for kind, row in rows.items()}  # fmt: skip
        head = {"network": network.name, "layer": engine.layer, "phase": engine.phase}
        print(json.dumps(head | {"resources": found}, indent=2))
        return 0
    title = f"{network.name} {engine.title}: our estimate against {args.report.name}"
    cells = [
        [USES.get(kind, kind.upper()), f"{vivado:,}", f"{ours:,}", _share(error)]
        for kind, (vivado, ours, error) in rows.items()
    ]
    console().print(table(title, ("", "Vivado", "estimate", "error"), cells))
    return 0


def compared(
    reported: Resources, estimate: Resources
) -> dict[str, tuple[float, float, float | None]]:
    """Vivado's count, ours, and ours over Vivado's less one, by kind; None where Vivado has 0."""
    rows = {}
    for kind in ("lut", *USES, *KINDS[1:]):
        vivado, ours = getattr(reported, kind), getattr(estimate, kind)
        rows[kind] = vivado, ours, ours / vivado - 1 if vivado else None
    return rows


def _share(error: float | None) -> str:
    return "-" if error is None else f"{error:+.1%}"
