"""FPGAs that the report knows: what the paper used, and what bounds a design on them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from merp.models.errors import BadInput

BLOCK_RAM_BYTES = 4096
"""Data bytes of a RAMB36; its parity bits are left out."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One FPGA.

    Attributes:
        name: as in the vendor's data sheets.
        block_rams: RAMB36. dsps: DSP48 slices.
        configuration_bits: of a full bitstream.
        clock_mhz: clock of the paper's engine on this part.
    """

    name: str
    block_rams: int
    dsps: int
    configuration_bits: int
    clock_mhz: float

    @property
    def memory_bytes(self) -> int:
        """Block RAM in bytes."""
        return self.block_rams * BLOCK_RAM_BYTES


PARTS = {
    part.name: part
    for part in (
        # source: DS180 and UG470; 137 MHz: CNN-MERP table 4
        Part(
            name="xc7k325t",
            block_rams=445,
            dsps=840,
            configuration_bits=91_548_896,
            clock_mhz=137.0,
        ),
        # source: DS180 and UG470; 189 MHz: CNN-MERP table 4, which names this part
        Part(
            name="xc7v2000t",
            block_rams=1292,
            dsps=2160,
            configuration_bits=447_337_216,
            clock_mhz=189.0,
        ),
        # source: DS890 and UG570; 189 MHz: CNN-MERP tables 2 and 4 differ in the part's name
        Part(
            name="xcvu440",
            block_rams=2520,
            dsps=2880,
            configuration_bits=1_031_731_104,
            clock_mhz=189.0,
        ),
    )
}

DEFAULT = "xc7k325t"


def part_named(name: str) -> Part:
    """Return the part called ``name``.

    Raises:
        BadInput: it is not known.
    """
    if name not in PARTS:
        near = "".join(f"; did you mean {n}?" for n in get_close_matches(name, PARTS, 1))
        raise BadInput(f"--part {name}: allowed are {', '.join(PARTS)}{near}")
    return PARTS[name]
