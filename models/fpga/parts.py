"""FPGAs that the package knows: what the paper used, what boards have, and what bounds a design."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_RAM_BYTES = 4096
"""Data bytes of a RAMB36; its parity bits are left out."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One FPGA.

    Attributes:
        name: of the device, as in the vendor's data sheets.
        order_code: with package and speed grade; a usual one where only the device is named.
        luts: of six inputs. flip_flops. block_rams: RAMB36. dsps: DSP48 slices.
        configuration_bits: of a full bitstream.
        clock_mhz: of the paper's engine on this part; where the paper has none, an assumption.
    """

    name: str
    order_code: str
    luts: int
    flip_flops: int
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
            order_code="xc7k325tffg900-2",
            luts=203_800,
            flip_flops=407_600,
            block_rams=445,
            dsps=840,
            configuration_bits=91_548_896,
            clock_mhz=137.0,
        ),
        # source: DS180 and UG470; 189 MHz: CNN-MERP table 4, which names this part
        Part(
            name="xc7v2000t",
            order_code="xc7v2000tflg1925-1",
            luts=1_221_600,
            flip_flops=2_443_200,
            block_rams=1292,
            dsps=2160,
            configuration_bits=447_337_216,
            clock_mhz=189.0,
        ),
        # source: DS890 and UG570; 189 MHz: CNN-MERP tables 2 and 4 differ in the part's name
        Part(
            name="xcvu440",
            order_code="xcvu440-flga2892-2-e",
            luts=2_532_960,
            flip_flops=5_065_920,
            block_rams=2520,
            dsps=2880,
            configuration_bits=1_031_731_104,
            clock_mhz=189.0,
        ),
        # source: DS180 and UG470; clock: that of the Kintex-7, which is of the same process
        Part(
            name="xc7vx485t",
            order_code="xc7vx485tffg1761-2",
            luts=303_600,
            flip_flops=607_200,
            block_rams=1030,
            dsps=2800,
            configuration_bits=162_187_488,
            clock_mhz=137.0,
        ),
        # source: DS190 and UG585; clock: as above, as its logic is that of the Kintex-7
        Part(
            name="xc7z045",
            order_code="xc7z045ffg900-2",
            luts=218_600,
            flip_flops=437_200,
            block_rams=545,
            dsps=900,
            configuration_bits=106_571_232,
            clock_mhz=137.0,
        ),
        # source: DS180 and UG470; clock: assumed, as Artix-7 is slower
        Part(
            name="xc7a200t",
            order_code="xc7a200tsbg484-1",
            luts=134_600,
            flip_flops=269_200,
            block_rams=365,
            dsps=740,
            configuration_bits=77_845_216,
            clock_mhz=100.0,
        ),
    )
}

DEFAULT = "xc7k325t"
