"""Designs that MyHDL, or an export that keeps their hierarchy, may convert into something else."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from myhdl import ResetSignal, Signal, intbv

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.convert import convert
from trap_processes import choices, clashes, counts, tables, wrapping
from trap_wiring import (
    aliases,
    concats,
    direct,
    flattened,
    indexed,
    slices,
    starts,
)


def _clk() -> Any:
    return Signal(bool(0))


def _signed(width: int, value: int = 0) -> Any:
    half = 1 << (width - 1)
    return Signal(intbv(value, min=-half, max=half))


Design = tuple[Callable[..., Any], Callable[[], Mapping[str, Any]], tuple[str, ...]]

DESIGNS: dict[str, Design] = {
    "slices": (
        slices,
        lambda: dict(clk=_clk(), d=bits(16), s=_signed(8), q=bits(16), b=flag(), n=flag(1)),
        ("d", "s"),
    ),
    "concats": (
        concats,
        lambda: dict(clk=_clk(), a=bits(5), b=bits(6), s=_signed(4, -3), one=bits(1), y=bits(16)),
        ("a", "b", "s", "one"),
    ),
    "aliases": (aliases, lambda: dict(clk=_clk(), d=bits(16), q=bits(16), r=bits(16)), ("d",)),
    "tables": (
        tables,
        lambda: dict(clk=_clk(), d=bits(2)) | {f"q{i}": bits(4) for i in range(4)},
        ("d",),
    ),
    "starts": (
        starts,
        lambda: dict(clk=_clk(), d=bits(16), q0=bits(16), q1=bits(16, 5), q2=bits(16, 5)),
        ("d",),
    ),
    "indexed": (
        indexed,
        lambda: dict(clk=_clk(), sel=bits(2), d=bits(16), q=bits(16)),
        ("sel", "d"),
    ),
    "clashes": (clashes, lambda: dict(clk=_clk(), Count=bits(8), y=bits(8)), ("Count",)),
    "flattened": (
        flattened,
        lambda: dict(clk=_clk(), d=bits(16), q0=bits(8), q1=bits(8)),
        ("d",),
    ),
    "wrapping": (
        wrapping,
        lambda: dict(
            clk=_clk(),
            rst=ResetSignal(0, active=1, isasync=False),
            step=_signed(6),
            position=_signed(8, -7),
            low=bits(5),
        ),
        ("rst", "step"),
    ),
    "choices": (
        choices,
        lambda: {name: bits(8) for name in ("delta", "alpha", "echo", "bravo", "charlie", "y")},
        ("delta", "alpha", "echo", "bravo", "charlie"),
    ),
    "counts": (counts, lambda: dict(clk=_clk(), d=bits(8), ones=bits(4), first=bits(4)), ("d",)),
    "direct": (direct, lambda: dict(clk=_clk(), d=bits(16), source=Stream(16)), ("d",)),
}
"""By name: the block, what makes its arguments, and the inputs that a bench drives."""


def digest(folder: Path) -> str:
    """Digest of the exports of all designs, in both languages, below ``folder``."""
    total = hashlib.sha256()
    for name, (function, make, _) in DESIGNS.items():
        for hdl in ("vhdl", "verilog"):
            for file in convert(function, make(), hdl, folder / hdl / name).files:
                total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()
