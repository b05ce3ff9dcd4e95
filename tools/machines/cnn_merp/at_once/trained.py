"""Output of a training with all layers and phases concurrently, besides the traffic of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.models.base.counters import STALLS
from merp.tools.common.table import table

KEY = "pipeline"
"""Key of the machine-readable answer."""

ON_PORTS = (
    "All layers and phases run concurrently. The pipeline's ports carry images, scores, "
    "deltas of the scores, and kernels."
)


def engines(answer: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the table of the engines, if a step ran."""
    if KEY in answer:
        yield _engines(answer[KEY])


def _engines(whole: Mapping[str, Any]) -> Any:
    """Return a table that compares the engines."""
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
        f"{whole['modelled']:,}. At most {whole['in_flight']} of {whole['depth']} allowed "
        f"images were in flight. Total: from an engine's first word to its last."
    )
    columns = ["engine", "total", "slots", *(f"waits: {cause}" for cause in STALLS)]
    return table("Engines, cycles of one step", columns, rows, caption=caption)
