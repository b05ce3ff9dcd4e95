"""What a training with all layers and phases at once shows beside the traffic of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.models.base.counters import STALLS
from merp.tools.common.table import table

KEY = "pipeline"
"""Of the answer for machines."""

ON_PORTS = (
    "All layers and phases run at once; on the ports of the pipeline are images, scores, "
    "their deltas, and kernels."
)


def engines(answer: Mapping[str, Any]) -> Iterator[Any]:
    """The engines side by side, as a table, where a step ran."""
    if KEY in answer:
        yield _engines(answer[KEY])


def _engines(whole: Mapping[str, Any]) -> Any:
    """The engines side by side, as a table."""
    rows = [
        [
            f"{each['layer']} {each['phase']}",
            *(f"{each[name]:,}" for name in ("total", "issue")),
            *(f"{each['stall'][cause]:,}" for cause in STALLS),
        ]
        for each in whole["engines"]
    ]
    caption = (
        f"One step takes {whole['cycles']:,} cycles, by the model of rows "
        f"{whole['modelled']:,}; {whole['in_flight']} of at most "
        f"{whole['depth']} images were on their way at once. Total: from an engine's first word "
        "to its last."
    )
    columns = ["engine", "total", "slots", *(f"waits: {cause}" for cause in STALLS)]
    return table("Engines side by side, cycles of one step", columns, rows, caption=caption)
