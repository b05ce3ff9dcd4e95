"""The configuration flash of a board: places of bitstreams, and their addresses for a warm boot.

Source: UG470, "IPROG Using ICAPE2" and "WBSTAR Controlled Pins According to Configuration Mode".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = ("spi", "bpi")
"""Kinds of flash: serial, or parallel with words of 16 bits."""

MOST_FLASH_MIB: Final = 1024
"""Largest flash."""

WARM_BOOT: Final = ("spartan7", "artix7", "kintex7", "virtex7")
"""Families that boot from flash by ICAPE2, as Vivado names them. A Zynq boots by its processor."""

MIB: Final = 1 << 20

SECTOR: Final = 1 << 18
"""A bitstream begins at a multiple of these bytes. They are the largest erase block of the flash
on shipped boards.
"""

SPI_24_BITS: Final = 16
"""Size in MiB up to which SPI flash has addresses of 24 bits."""

LOW: Final = 256
"""With addresses of 32 bits, WBSTAR lacks the low 8 bits. They may have any value, so this number
of dummy bytes precedes each bitstream.
"""


@dataclass(frozen=True, kw_only=True)
class Flash:
    """The flash from which an FPGA configures itself.

    Attributes:
        kind: of ``KINDS``.
        mib: its size, 2^20 bytes.
    """

    kind: str
    mib: int

    @property
    def long_addresses(self) -> bool:
        """Whether it is SPI flash with addresses of 32 bits."""
        return self.kind == "spi" and self.mib > SPI_24_BITS

    def slot(self, bitstream_bits: int) -> int:
        """Return the bytes from the begin of a bitstream to that of the next one."""
        size = -(-bitstream_bits // 8) + self.dummy_bytes
        return -(-size // SECTOR) * SECTOR

    @property
    def dummy_bytes(self) -> int:
        """Erased bytes in front of each bitstream, within its slot."""
        return LOW if self.long_addresses else 0

    def most(self, bitstream_bits: int) -> int:
        """Return the number of bitstreams that fit."""
        return self.mib * MIB // self.slot(bitstream_bits)

    def boot_word(self, slot: int) -> int:
        """Return the word for the register WBSTAR that boots from a slot.

        Args:
            slot: byte address of its begin, a multiple of ``SECTOR``.
        """
        if self.kind == "bpi":
            return slot // 2
        return slot // LOW if self.long_addresses else slot
