"""The FPGA resources of a design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from merp.models.fpga.parts import Part

FLIP_FLOPS: Final = "ff"
KINDS: Final = ("lut", FLIP_FLOPS, "bram", "dsp")
TITLES: Final = {"lut": "LUT", "ff": "FF", "bram": "RAMB36", "dsp": "DSP"}
"""Printed names of the kinds."""

# LUTs of a memory of each kind. source: UG474, tables 2-3 and 2-4
_LUT_MEMORIES = {
    "RAM16X1D": 2, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4,
    "RAM16X1S": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4,
}  # fmt: skip
_FREE = ("CARRY4", "MUXF", "GND", "VCC")  # they are in the slices of the LUTs


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Cells of the 7 series.

    Attributes:
        logic, shift, memory: LUTs as logic, as shift registers and as memory.
        ff: flip-flops.
        bram: block RAM in RAMB36; a RAMB18 is half of one.
        dsp: DSP48.
    """

    logic: int = 0
    shift: int = 0
    memory: int = 0
    ff: int = 0
    bram: float = 0
    dsp: int = 0

    @property
    def lut(self) -> int:
        """LUTs of all uses."""
        return self.logic + self.shift + self.memory

    def __add__(self, other: Resources) -> Resources:
        """Return the sum of both."""
        names = self.__dataclass_fields__
        return Resources(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __mul__(self, count: int) -> Resources:
        """Return ``count`` times the resources."""
        names = self.__dataclass_fields__
        return Resources(**{name: count * getattr(self, name) for name in names})

    def figures(self) -> dict[str, float]:
        """Return the counts of the paper's table 2."""
        return {kind: getattr(self, kind) for kind in KINDS}


def capacity(part: Part) -> Resources:
    """Return the resources of a part."""
    return Resources(logic=part.luts, ff=part.flip_flops, bram=part.block_rams, dsp=part.dsps)


def count_cells(cells: Mapping[str, int]) -> Resources:
    """Return the resources of cells, by kind.

    An inverter counts as a LUT, though placement may absorb it.

    Raises:
        ValueError: a kind is not known.
    """
    found: Counter[str] = Counter()
    halves = 0  # of a RAMB36
    for kind, count in cells.items():
        if kind.startswith(("LUT", "INV")):
            found["logic"] += count
        elif kind.startswith("SRL"):
            found["shift"] += count
        elif kind.startswith("FD"):
            found["ff"] += count
        elif kind.startswith("DSP48"):
            found["dsp"] += count
        elif kind in ("RAMB18E1", "RAMB36E1"):
            halves += count * (1 if kind == "RAMB18E1" else 2)
        elif kind in _LUT_MEMORIES:
            found["memory"] += count * _LUT_MEMORIES[kind]
        elif not kind.startswith(_FREE):
            raise ValueError(f"cells of kind {kind} are not counted as anything")
    return Resources(bram=halves / 2, **found)
