"""AlexNet's report as the site has it: with the records of ``measure.py``, and a picture of it.

The picture is what a messenger shows of a link to the page. Where the site knows its own address
(``site_url``) the page names the picture by that, as some of them want.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from merp.models.network.phases import PHASES
from merp.models.traffic.published import BATCH
from merp.tools.common.boards import PAPER, open_board
from merp.tools.common.json_file import read_json
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.document import document
from merp.tools.machines.cnn_merp.report.measured import read_records
from merp.tools.report.chart_ink import rows_of
from merp.tools.report.page import page
from merp.tools.report.record import FILE

NAME = "alexnet"
PAGE, PICTURE = f"report/{NAME}.html", f"report/{NAME}.png"
INK, FAINT = "#17191c", "#5d646e"
SERIES = ("#2563c9", "#d97a0b", "#16926a")


def site_report(docs: Path, site_url: str | None) -> dict[str, str | bytes]:
    """Return the page and its picture, by address.

    Args:
        docs: the folder of the pages. site_url: the address of the site, if it is known.

    Raises:
        BadInput: a record is of other hardware than there is now.
    """
    network = open_network(NAME)
    records = docs / "measured" / NAME
    there = (records / FILE).exists() and read_json(records / FILE)["runs"]
    choice = PlannedChoice(
        network=network,
        batch=BATCH,
        board=open_board(PAPER),
        measured=read_records([records] if there else [], network),
    )
    found = document(choice, docs / Path(PAGE).parent)
    picture = f"{site_url.rstrip('/')}/{PICTURE}" if site_url else Path(PICTURE).name
    return {PAGE: page(found, home="../index.html", picture=picture), PICTURE: preview(found)}


def preview(found: Mapping[str, Any]) -> bytes:
    """Return a picture of the report, 1200 x 630: what an architect asks first, and the layers."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(
        0.05, 0.86, f"{found['network']}: memory traffic of training", fontsize=30, weight="bold",
        color=INK,
    )  # fmt: skip
    for place, card in enumerate([*found["headline"][:3], found["headline"][-1]]):
        x = 0.05 + 0.235 * place
        figure.text(x, 0.755, card["label"], fontsize=15, color=FAINT)
        value = f"{card['value']:,.{card['digits']}f}"
        figure.text(x, 0.665, value, fontsize=30, color=INK, weight="bold")
        figure.text(x + 0.022 * len(value) + 0.012, 0.665, card["unit"], fontsize=15, color=FAINT)
    rows = [row for row in rows_of(found, "traffic-paper") if row["layer"].startswith("conv")]
    axes = figure.add_axes((0.1, 0.13, 0.85, 0.45))
    for index, phase in enumerate(PHASES):
        axes.barh(
            [place + (index - 1) * 0.26 for place in range(len(rows))],
            [row[f"{phase}_mb_per_gflop"] or 0 for row in rows],
            height=0.24, color=SERIES[index], label=phase.upper(),
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["layer"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("MB/GFlop, count maps", fontsize=15, color=FAINT)
    axes.tick_params(labelsize=15, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=15, frameon=False, loc="lower right")
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None})
    return image.getvalue()
