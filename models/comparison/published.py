"""What the papers print beside our rows, by architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from merp.models.comparison import (
    cnn_merp_rows,
    fcnn_rows,
    fpdeep_rows,
    mazouz_rows,
    rtl_compiler_rows,
)
from merp.models.comparison.printed import Printed, answered
from merp.models.papers.lists import paper

ROWS: Final[Mapping[str, Callable[[], Mapping[str, float]]]] = {
    "cnn-merp": cnn_merp_rows.rows,
    "fcnn": fcnn_rows.rows,
    "rtl-compiler": rtl_compiler_rows.rows,
    "fpdeep": fpdeep_rows.rows,
    "mazouz": mazouz_rows.rows,
}
"""Our values by key; the papers' lists name the keys."""


@cache
def published(name: str) -> tuple[Printed, ...]:
    """Return every number that the paper of an architecture prints, in the paper's order."""
    return answered(paper(name).numbers, ROWS[name]())
