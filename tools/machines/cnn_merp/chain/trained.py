"""Output of a training on a chain of boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.tools.common.table import table
from merp.tools.machines.cnn_merp.at_once.trained import KEY, ON_PORTS, engines
from merp.tools.train.trained import Shown


def _tables(answer: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tables of the engines and of the links, if there are any."""
    yield from engines(answer)
    if KEY in answer and answer[KEY]["links"]:
        yield _links(answer[KEY])


TRAINED = Shown(on_ports=ON_PORTS, tables=_tables)


def _links(whole: Mapping[str, Any]) -> Any:
    """Return a table of the words on the links."""
    rows = []
    for each in whole["links"]:
        ends = each["border"], each["border"] + 1
        begin, end = ends if each["way"] == "on" else reversed(ends)
        counts = (f"{each[name]:,}" for name in ("closed_form", "sent", "arrived"))
        rows.append([f"{begin} to {end}", each["stream"], *counts])
    caption = (
        "Words of one step (of masks: bytes): by formula, sent onto the link by a node, received "
        f"from the link by the next node. A word takes {whole['link_cycles']} cycle(s)."
    )
    columns = ["link", "words", "closed form", "sent", "arrived"]
    return table("Links between nodes", columns, rows, caption=caption)
