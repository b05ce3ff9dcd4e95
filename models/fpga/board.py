"""A board: a part, its external memory, and the clock of the engine; ``tools/data/boards``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from merp.models.fpga.flash import Flash
from merp.models.fpga.parts import Part

LOAD_MBYTES_S = 132.0
"""16 bit at 66 MHz. source: CNN-MERP section VI"""

ORIGINS: Final = ("printed", "vendor", "derived", "assumed")
"""Possible origins of a figure: a paper, a data sheet, other figures, or none."""

MOST_DEVICES: Final = 1024
"""Largest number of boards of a kind."""

MOST_MIB: Final = 1 << 20
"""Largest external memory: a port has addresses of at most 40 bits."""

MEMORY_BITS: Final = (8, 16, 32, 64)
"""Widths of the data bus of a memory with one controller."""

DDR3: Final = "ddr3"
SDR: Final = "sdr"
MEMORY_KINDS: Final = (DDR3, "ddr4", "lpddr4", SDR)
"""Kinds of external memory, as in the standards of JEDEC; ``sdr`` is SDRAM of single data rate."""

MOST_CELLS: Final = 10**8
"""Largest number of LUTs, flip-flops, block RAMs or DSP blocks of a part."""

MOST_BITS: Final = 10**11
"""Largest size of a bitstream."""

TOPOLOGIES: Final = ("chain",)


@dataclass(frozen=True)
class FigureSource:
    """The origin of a board's figure, of ``ORIGINS``, with an explanation."""

    origin: str
    why: str


UNSAID: Final = FigureSource("assumed", "the board's file does not say")


@dataclass(frozen=True, kw_only=True)
class Usable:
    """Shares of a part's resources that a design may take, above 0, at most 1."""

    lut: float = 1.0
    ff: float = 1.0
    bram: float = 1.0
    dsp: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Link:
    """Lanes from a board to the next one, in each direction.

    Attributes:
        topology: of ``TOPOLOGIES``.
        gbytes_s: of a lane, 10^9 bytes a second.
        latency_cycles: of the engine's clock.
    """

    topology: str
    gbytes_s: float
    lanes: int
    latency_cycles: int


@dataclass(frozen=True, kw_only=True)
class VivadoBoard:
    """A board for which Vivado has board files: presets of its processor, memory and pins.

    Attributes:
        board_part: vendor, board and part, as ``xilinx.com:kc705:part0``.
        pynq: whether a PYNQ image exists for the board.
    """

    board_part: str
    pynq: bool = False


@dataclass(frozen=True, kw_only=True)
class Board:
    """The board on which a network runs.

    Attributes:
        name: as printed.
        part: its FPGA.
        clock_mhz: of the engine.
        gbytes_s: peak of the external memory, 10^9 bytes a second.
        efficiency: share of the peak that streams reach, above 0, at most 1.
        load_mbytes_s: rate at which a bitstream is loaded, 10^6 bytes a second.
        load_s: load time of a bitstream, if it is known; it takes precedence over the rate.
        devices: boards of this kind.
        link: between them, if any.
        usable: usable shares of the part.
        host_gbytes_s: rate to and from the host.
        power_w: of a board at work.
        memory_mib: size of the external memory, 2^20 bytes.
        memory_bits: data bits of the external memory, if it has one controller.
        memory_kind: of ``MEMORY_KINDS``.
        vivado: the board in Vivado, if Vivado has board files for it.
        flash: from which the FPGA configures itself, if it can boot again from there.
        sources: of figures, by their place in the file, as ``memory: gbytes_s``.
    """

    name: str
    part: Part
    clock_mhz: float
    gbytes_s: float
    efficiency: float
    load_mbytes_s: float = LOAD_MBYTES_S
    load_s: float | None = None
    devices: int = 1
    usable: Usable = Usable()
    host_gbytes_s: float | None = None
    power_w: float | None = None
    memory_mib: int | None = None
    memory_bits: int | None = None
    memory_kind: str = DDR3
    link: Link | None = None
    vivado: VivadoBoard | None = None
    flash: Flash | None = None
    sources: Mapping[str, FigureSource] = field(default_factory=dict, compare=False)

    @property
    def bytes_per_cycle(self) -> float:
        """Bytes that the memory moves in a cycle of the engine."""
        return self.gbytes_s * 1e3 * self.efficiency / self.clock_mhz

    @property
    def load_seconds(self) -> float:
        """Load time of one bitstream."""
        if self.load_s is not None:
            return self.load_s
        return self.part.configuration_bits / 8 / (self.load_mbytes_s * 1e6)

    @cached_property
    def room(self) -> Part:
        """The part with the resources that a design may use."""
        return replace(
            self.part,
            luts=int(self.usable.lut * self.part.luts),
            flip_flops=int(self.usable.ff * self.part.flip_flops),
            block_rams=int(self.usable.bram * self.part.block_rams),
            dsps=int(self.usable.dsp * self.part.dsps),
        )
