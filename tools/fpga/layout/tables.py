"""The table of ``merp layout``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from merp.tools.common.rows import Row
from merp.tools.common.shortened import ROWS, shortened
from merp.tools.common.table import console, say, table
from merp.tools.fpga.layout.memory_layout import MemoryLayout

WHOLE: Final = 16
"""Arrays that a first screen has at most without a row for others: only one line follows them."""

LEGEND: Final = (
    "bits: of an element. padding: unused bits, and bytes up to the next multiple of 64."
)


def print_layout(found: MemoryLayout, *, whole: bool) -> None:
    """Print the arrays with their addresses, and the bytes of all.

    Args:
        found: the layout.
        whole: print every array, not only the largest ones.
    """
    named = [(row["name"], row) for row in found]
    most = len(named) if whole or len(named) <= WHOLE else ROWS
    shown = shortened(named, lambda row: row["bytes"], most)
    others = len(shown) < len(named)
    console().print(
        table(
            found.title,
            ["array", "size", "bits", "address", "bytes", "padding"],
            [_cells(name, rows) for name, rows in shown],
            text_columns=2,
            totals=int(others),
            caption=f"{LEGEND} The largest arrays; --all: every array." if others else LEGEND,
        )
    )
    many, share = "s" if len(found) > 1 else "", 100 * found.padding / found.bytes
    say(
        f"{len(found):,} array{many}: {found.bytes:,} bytes used, "
        f"{found.padding:,} of them padding ({share:.1f} %)"
    )


def _cells(name: str, rows: Sequence[Row]) -> list[str]:
    place = ["", "", ""]
    if len(rows) == 1:
        (row,) = rows
        size = " x ".join(map(str, row["shape"]))
        place = [size, str(row["element_bits"]), f"{row['address']:#x}"]
    return [name, *place, *(f"{sum(row[key] for row in rows):,}" for key in ("bytes", "padding"))]
