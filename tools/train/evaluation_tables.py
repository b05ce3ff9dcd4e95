"""The first screen of an evaluation."""

from __future__ import annotations

from rich.console import Console

from merp.tools.common.table import Sheet, console, fixed, table
from merp.tools.train.predict.evaluation import Evaluation

MATRIX = 12
"""Most classes whose confusion matrix is on the first screen."""
FIRST = 15
"""Confused pairs on the first screen."""


def show(found: Evaluation, screen: Console | None = None, *, details: bool) -> None:
    """Print accuracy, loss, and the confusion matrix; of many classes the confused pairs."""
    screen = screen or console()
    prediction = found.prediction
    cycles = "" if prediction.cycles is None else f", {prediction.cycles:,} cycles"
    screen.print(
        f"{prediction.network}, engine {prediction.engine}: {found.images:,} images{cycles}"
    )
    screen.print(f"accuracy {found.accuracy:.2%}, {found.loss_kind} {fixed(found.loss, 4)}")
    small = len(found.confusion) <= MATRIX
    screen.print(_matrix(found) if details or small else _pairs(found))


def _called(found: Evaluation, index: int) -> str:
    name = found.name(index)
    return str(index) if name is None else f"{index} {name}"


def _matrix(found: Evaluation) -> Sheet:
    """Return the confusion matrix; a dot stands for 0."""
    count = len(found.confusion)
    rows = [
        (
            _called(found, index),
            *(f"{cell:,}" if cell else "." for cell in row),
            f"{row[index] / row.sum():.1%}" if row.sum() else "-",
        )
        for index, row in enumerate(found.confusion)
    ]
    columns = ("class", *map(str, range(count)), "right")
    caption = "Rows: class of the image. Columns: predicted class."
    return table("Confusion matrix", columns, rows, caption=caption)


def _pairs(found: Evaluation) -> Sheet:
    pairs = found.confusions
    rows = [
        (
            _called(found, pair["class"]),
            _called(found, pair["taken_for"]),
            f"{pair['images']:,}",
        )
        for pair in pairs[:FIRST]
    ]
    more = len(pairs) - len(rows)
    caption = "--details prints the confusion matrix."
    if more:
        caption = f"{more:,} more pairs. {caption}"
    columns = ("class", "taken for", "images")
    return table("Confused classes", columns, rows, text_columns=2, caption=caption)
