"""The FPGAs whose capacities are known, and their limits for a design; ``data/parts.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Final

RAMB36_BITS: Final = 32_768
"""Data bits of a RAMB36, without its parity bits."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One FPGA.

    Attributes:
        name: of the device, as in the vendor's data sheets.
        order_code: with package and speed grade; a usual one if only the device is named.
        luts: of six inputs; for Lattice's parts, of four; for Intel's, half ALMs.
        flip_flops: number of flip-flops.
        dsps: DSP48 slices, multipliers of 18 x 18, or DSP blocks.
        block_rams: RAMB36, EBR or M20K, each of ``block_bits``.
        configuration_bits: of a full bitstream; 0 if it is not known.
        clock_mhz: of the paper's engine on this part; an assumption if the paper has none.
        family: as in data sheets; empty if the capacities are those of a board's file.
        origin, source: of the capacities; the origin is one of a figure's origins.
    """

    name: str
    order_code: str
    luts: int
    flip_flops: int
    block_rams: int
    dsps: int
    configuration_bits: int
    clock_mhz: float
    block_bits: int = RAMB36_BITS
    family: str = ""
    origin: str = "vendor"
    source: str = ""

    @property
    def memory_bytes(self) -> int:
        """Block RAM in bytes."""
        return self.block_rams * self.block_bits // 8

    @property
    def planned(self) -> bool:
        """Whether our estimates apply to the part: they are for LUTs of six inputs and RAMB36."""
        return self.block_bits == RAMB36_BITS


def _known() -> dict[str, Part]:
    """Return the parts of the data file, by name."""
    text = (files(__package__) / "data" / "parts.toml").read_text(encoding="utf-8")
    found = {}
    for family in tomllib.loads(text)["family"]:
        title, parts = family.pop("title"), family.pop("parts")
        for values in parts:
            names, code = values.pop("names"), values.pop("code")
            for name in names:
                every = family | values
                found[name] = Part(name=name, order_code=name + code, family=title, **every)
    return found


KNOWN: Final = _known()
"""All known parts, family by family, smaller parts first."""

PARTS: Final = {name: part for name, part in KNOWN.items() if part.planned}
"""Parts that our estimates cover."""

DEFAULT: Final = "xc7k325t"

SEVEN_SERIES: Final = tuple(name for name in PARTS if name.startswith("xc7"))
"""Parts for which synthesis is available."""

_LONG: Final = 3
"""Largest number of parts of a family that a list has one by one."""


def listed(names: Iterable[str]) -> str:
    """Return known parts in words: a family with many parts as a range, which is complete."""
    said = []
    for _, family in groupby(names, key=lambda name: KNOWN[name].family):
        some = list(family)
        said += some if len(some) <= _LONG else [f"{some[0]} to {some[-1]}"]
    return ", ".join(said)
