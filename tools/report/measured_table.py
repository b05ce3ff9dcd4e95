"""The table of the report with the results of simulations, for every machine."""

from __future__ import annotations

import os
from pathlib import Path

from merp.tools.report.choice import ReportChoice
from merp.tools.report.table import LAYER, PHASE, Column, Table


def measured_table(choice: ReportChoice, beside: Path) -> Table:
    """Return the results of simulations; links are relative to the folder ``beside``."""
    rows = []
    for index, found in enumerate(choice.measured):
        rows.append(
            {
                "record": index + 1,
                "layer": found.layer.name,
                "phase": found.phase.upper(),
                "groups": f"{found.groups} of {found.layer.groups}",
                "images": found.images,
                "engine": found.engine,
                "result": "confirmed" if found.confirms else "; ".join(found.faults),
                "words": found.words_compared,
                "deltas": "-" if found.of_forward else found.deltas,
                "measured_cycles": found.cycles["total"],
                "modelled_cycles": found.modelled,
                "difference": (
                    None if found.modelled is None else found.modelled - found.cycles["total"]
                ),
                "command": found.command,
                "fingerprint": found.fingerprint[:16],
                "elaboration_sha": found.fingerprint,
                "link": Path(os.path.relpath(found.record, beside)).as_posix(),
            }
        )
    notes = [
        "A record confirms bytes if every word equals the golden model, and if four counts of the "
        "words of each port agree. These are the closed form, the schedule walker, the hardware's "
        "counters and the monitors on its pins. Maps and deltas are alike in every image, which "
        "gives the count of a batch. A figure is measured if the bytes of a record agree with it "
        "port by port."
    ]
    if not rows:
        notes = [
            "No record was given: --measured DIR, a folder of merp simulate -o DIR. All numbers of "
            "this page are modelled."
        ]
    return Table(
        id="measured",
        title="Measured in hardware simulation",
        caption=(
            "Runs of the given records. Cycles from the first map word in to the last word out, of "
            "the simulated images and groups. Count: each record counts every port; a figure of "
            "count maps or all is marked if a record moved it on each port."
        ),
        columns=[
            Column(key="record", label="record", digits=0),
            LAYER,
            PHASE,
            Column(key="groups", label="groups"),
            Column(key="images", label="images", digits=0),
            Column(key="deltas", label="deltas at"),
            Column(key="result", label="result"),
            Column(key="words", label="words compared", digits=0),
            Column(key="measured_cycles", label="measured", unit="cycles", digits=0),
            Column(key="modelled_cycles", label="modelled", unit="cycles", digits=0),
            Column(key="difference", label="model off by", unit="cycles", digits=0),
            Column(key="engine", label="engine"),
            Column(key="fingerprint", label="elaboration"),
            Column(key="command", label="command"),
        ],
        rows=rows,
        notes=notes,
    )
