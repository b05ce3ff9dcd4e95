"""The known FPGAs: devices of papers and of boards, and their limits for a design."""

from __future__ import annotations

from dataclasses import dataclass

RAMB36_BITS = 32_768
"""Data bits of a RAMB36, without its parity bits."""

M20K_BITS = 20_480


@dataclass(frozen=True, kw_only=True)
class Part:
    """One FPGA.

    Attributes:
        name: of the device, as in the vendor's data sheets.
        order_code: with package and speed grade; a usual one if only the device is named.
        luts: of six inputs; for Intel's parts, half ALMs.
        flip_flops: number of flip-flops.
        dsps: DSP48 slices, or DSP blocks.
        block_rams: RAMB36, or M20K, each of ``block_bits``.
        configuration_bits: of a full bitstream; 0 if it is not known.
        clock_mhz: of the paper's engine on this part; an assumption if the paper has none.
        source: of the capacities.
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
    source: str = ""

    @property
    def memory_bytes(self) -> int:
        """Block RAM in bytes."""
        return self.block_rams * self.block_bits // 8

    @property
    def planned(self) -> bool:
        """Whether our estimates apply to the part: they are for LUTs of six inputs and RAMB36."""
        return self.block_bits == RAMB36_BITS


PARTS = {
    part.name: part
    for part in (
        # 137 MHz: CNN-MERP table 4
        Part(
            name="xc7k325t",
            order_code="xc7k325tffg900-2",
            luts=203_800,
            flip_flops=407_600,
            block_rams=445,
            dsps=840,
            configuration_bits=91_548_896,
            clock_mhz=137.0,
            source="DS180 and UG470",
        ),
        # 189 MHz: CNN-MERP table 4, which names this part
        Part(
            name="xc7v2000t",
            order_code="xc7v2000tflg1925-1",
            luts=1_221_600,
            flip_flops=2_443_200,
            block_rams=1292,
            dsps=2160,
            configuration_bits=447_337_216,
            clock_mhz=189.0,
            source="DS180 and UG470",
        ),
        # 189 MHz: CNN-MERP tables 2 and 4 differ in the part's name
        Part(
            name="xcvu440",
            order_code="xcvu440-flga2892-2-e",
            luts=2_532_960,
            flip_flops=5_065_920,
            block_rams=2520,
            dsps=2880,
            configuration_bits=1_031_731_104,
            clock_mhz=189.0,
            source="DS890 and UG570",
        ),
        # clock: that of the Kintex-7, which has the same process
        Part(
            name="xc7vx485t",
            order_code="xc7vx485tffg1761-2",
            luts=303_600,
            flip_flops=607_200,
            block_rams=1030,
            dsps=2800,
            configuration_bits=162_187_488,
            clock_mhz=137.0,
            source="DS180 and UG470",
        ),
        # clock: as above, because its logic is that of the Kintex-7
        Part(
            name="xc7z045",
            order_code="xc7z045ffg900-2",
            luts=218_600,
            flip_flops=437_200,
            block_rams=545,
            dsps=900,
            configuration_bits=106_571_232,
            clock_mhz=137.0,
            source="DS190 and UG585",
        ),
        # clock: assumed, because Artix-7 is slower
        Part(
            name="xc7a200t",
            order_code="xc7a200tsbg484-1",
            luts=134_600,
            flip_flops=269_200,
            block_rams=365,
            dsps=740,
            configuration_bits=77_845_216,
            clock_mhz=100.0,
            source="DS180 and UG470",
        ),
        # clock: that of the Kintex-7, which has the same process
        Part(
            name="xc7vx690t",
            order_code="xc7vx690tffg1761-2",
            luts=433_200,
            flip_flops=866_400,
            block_rams=1470,
            dsps=3600,
            configuration_bits=229_878_496,
            clock_mhz=137.0,
            source="DS180 and UG470",
        ),
        # clock: as above, because its logic is that of the Kintex-7
        Part(
            name="xc7z100",
            order_code="xc7z100ffg900-2",
            luts=277_400,
            flip_flops=554_800,
            block_rams=755,
            dsps=2020,
            configuration_bits=139_330_784,
            clock_mhz=137.0,
            source="DS190 and UG585",
        ),
    )
}

FOREIGN = {
    part.name: part
    for part in (
        Part(
            name="5SGSD8",
            order_code="5SGSMD8N2F45C2",
            luts=524_800,
            flip_flops=1_049_600,
            block_rams=2567,
            dsps=1963,
            configuration_bits=0,
            clock_mhz=150.0,
            block_bits=M20K_BITS,
            source="F-CNN table III",
        ),
        Part(
            name="1SG280",
            order_code="1SG280LU3F50E3VG",
            luts=1_866_240,
            flip_flops=3_732_480,
            block_rams=11_721,
            dsps=5760,
            configuration_bits=0,
            clock_mhz=240.0,
            block_bits=M20K_BITS,
            source="Intel's product table of Stratix 10 GX",
        ),
    )
}
"""Parts of the other papers, which our estimates do not cover; clocks are the papers'."""

DEFAULT = "xc7k325t"

SEVEN_SERIES = tuple(name for name in PARTS if name.startswith("xc7"))
"""Parts for which synthesis is available."""
