"""The first screen of a prediction."""

from __future__ import annotations

from merp.tools.common.table import console, fixed, table
from merp.tools.train.predict.prediction import Prediction

FIRST = 14
"""Images on the first screen."""


def show(found: Prediction, top: int, *, details: bool) -> None:
    """Print the ``top`` classes of each image; without ``details``, of the first images only."""
    screen = console()
    cycles = "" if found.cycles is None else f", {found.cycles:,} cycles"
    screen.print(
        f"{found.network}, engine {found.engine}: {len(found):,} image(s), "
        f"{found.outputs.shape[1]:,} outputs{cycles}"
    )
    screen.print(_of_one(found, top, details) if len(found) == 1 else _of_all(found, top, details))


def _of_one(found: Prediction, top: int, details: bool) -> object:
    rows = found.top(0, top)
    shown = list(rows if details else rows[: FIRST + 1])
    named = found.labels is not None
    cells = [
        (
            *((str(row["label"]),) if named else ()),
            str(row["class"]),
            fixed(row["output"], 4),
            fixed(row["softmax"], 4),
        )
        for row in shown
    ]
    columns = (*(("label",) if named else ()), "class", "output", "softmax")
    more = len(rows) - len(shown)
    caption = f"{more:,} more classes: --details" if more else ""
    title = "Largest outputs"
    return table(title, columns, cells, text_columns=int(named), caption=caption)


def _of_all(found: Prediction, top: int, details: bool) -> object:
    shown = range(len(found) if details else min(FIRST, len(found)))
    rows = []
    for image in shown:
        first, *others = found.top(image, top)
        name = str(first["class"]) if first["label"] is None else f"{first['label']}"
        then = ", ".join(str(each["label"] or each["class"]) for each in others)
        numbers = fixed(first["output"], 4), fixed(first["softmax"], 4)
        rows.append((str(image), name, then, *numbers))
    columns = ("image", "class", "then", "output", "softmax")
    more = len(found) - len(shown)
    caption = f"{more:,} more images: --details; -o FILE.npz writes all outputs" if more else ""
    return table("Largest outputs", columns, rows, text_columns=3, caption=caption)
