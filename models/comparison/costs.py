"""Unit costs ``ours``: resources of sum-of-products units on FPGAs of the 7 series.

The costs are Yosys results of our own units on a grid of sizes; ``docs/unit_costs.py`` writes the
file. They are fitted as a constant per unit plus a constant per tap. Kernel memories are not
included. Another format, or a kernel beyond the grid, is assumed to have the same cost per tap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from merp.models.comparison.figure import Figure

FILE = Path(__file__).with_name("unit_costs.json")

UNITS: Mapping[int, tuple[str, str]] = {32: ("binary32", "fused"), 16: ("bfloat16", "tree")}
"""Format and kind of the unit for each word width: the smallest unit available."""

KINDS = ("lut", "ff", "dsp")


def units(word_bits: int, k: int, count: int = 1) -> dict[str, Figure]:
    """Return LUT, FF and DSP of ``count`` units of k x k taps.

    Raises:
        KeyError: there is no unit for this word width.
    """
    found = _unit(*UNITS[word_bits])
    inside = k <= max(each["k"] for each in found["grid"])
    level = "synthesised" if inside else "assumed"
    return {
        kind: Figure(
            count * (found["fit"][kind]["unit"] + found["fit"][kind]["tap"] * k * k), level
        )
        for kind in KINDS
    }


@cache
def _unit(fmt: str, kind: str) -> Mapping[str, Any]:
    (found,) = (
        each
        for each in json.loads(FILE.read_text())["units"]
        if (each["format"], each["kind"]) == (fmt, kind)
    )
    return dict(found)
