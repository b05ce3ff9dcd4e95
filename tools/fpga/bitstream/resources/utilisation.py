"""Read Vivado's ``report_utilization`` of a 7-series part, as text.

Its tables have a row per kind of site and a column ``Used``. After synthesis a name may have an
asterisk, which is not part of the name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.fpga.resources import Resources

_ROWS = {
    "LUT as Logic": "logic",
    "LUT as Shift Register": "shift",
    "LUT as Distributed RAM": "memory",
    "Slice Registers": "ff",
    "Block RAM Tile": "bram",
    "DSPs": "dsp",
}
_SUM = "Slice LUTs"


def read_utilisation(path: Path) -> Resources:
    """Return the resources that a report lists as used.

    Raises:
        BadInput: the file cannot be read, a row is missing, or a figure is not a number.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not text"
        raise BadInput(f"{path}: cannot be read: {reason}") from error
    used = _used(text)
    figures: dict[str, Any] = {}
    for row, kind in {**_ROWS, _SUM: "lut"}.items():
        if row not in used:
            raise BadInput(
                f"{path}: no row {row!r} with a column 'Used': allowed is the output of Vivado's "
                f"report_utilization for a 7-series part"
            )
        value = _number(path, row, used[row], tiles=kind == "bram")
        figures[kind] = value if kind == "bram" else int(value)
    lut = figures.pop("lut")
    found = Resources(**figures)
    if found.lut != lut:
        raise BadInput(f"{path}: {_SUM}: must be the sum of its kinds, {found.lut}, not {lut}")
    return found


def _used(text: str) -> dict[str, str]:
    """Return the column ``Used`` by name of the row. Of equal names the first row has the total."""
    found: dict[str, str] = {}
    column = None
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|\n ").split("|")]
        if "Used" in cells:
            column = cells.index("Used")
        elif column is not None and column < len(cells):
            found.setdefault(cells[0].rstrip("*"), cells[column])
    return found


def _number(path: Path, row: str, text: str, *, tiles: bool) -> float:
    """Return a count; block RAM is counted in halves."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value < 0 or (2 * value if tiles else value) % 1:
        raise BadInput(f"{path}: {row}: Used must be a number of sites, not {text!r}")
    return value
