"""What a training on a chain of boards shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.tools.common.table import table
from merp.tools.machines.cnn_merp.at_once.trained import KEY, ON_PORTS, engines
from merp.tools.train.trained import Shown


def _tables(answer: Mapping[str, Any]) -> Iterator[Any]:
    """The engines, and the links if there are any."""
    yield from engines(answer)
    if KEY in answer and answer[KEY]["links"]:
        yield _links(answer[KEY])


TRAINED = Shown(on_ports=ON_PORTS, tables=_tables)


def _links(whole: Mapping[str, Any]) -> Any:
    """What crossed the links, as a table."""
    rows = []
    for each in whole["links"]:
        ends = each["border"], each["border"] + 1
        begin, end = ends if each["way"] == "on" else reversed(ends)
        counts = (f"{each[name]:,}" for name in ("closed_form", "sent", "arrived"))
        rows.append([f"{begin} to {end}", each["stream"], *counts])
    caption = (
        "Words of one step, of states bytes: by formula, out of a node onto the link, off the link "
        f"into the next. A word takes {whole['link_cycles']} cycle(s)."
    )
    columns = ["link", "words", "closed form", "sent", "arrived"]
    return table("Links between nodes", columns, rows, caption=caption)
