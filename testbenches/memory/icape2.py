"""The primitive ICAPE2 of a 7-series FPGA, as its user guide describes it, without its output O.

Source: UG470, "7 Series FPGAs Configuration": Parallel Bus Bit Order, Configuration Packets,
Configuration Registers, SelectMAP ABORT. It shares nothing with the block that drives it.
"""

from __future__ import annotations

SYNC = (0xAA, 0x99, 0x55, 0x66)
TYPE_1, TYPE_2 = 1, 2
NOOP, READ, WRITE = 0, 1, 2
COMMAND_REGISTER, WARM_BOOT_START = 0b00100, 0b10000
IPROG, DESYNC = 0b01111, 0b01101


def _byte(data: int, place: int) -> int:
    """Return a byte of a word on the pins; its uppermost bit is on the lowest pin."""
    pins = data >> 8 * place & 0xFF
    return sum((pins >> at & 1) << 7 - at for at in range(8))


class Icape2:
    """Decode the words that configuration logic receives.

    Attributes:
        loads: WBSTAR at each IPROG.
        faults: words and changes of pins that the user guide does not allow, or that no load needs.
        selected: whether CSIB was low at the last rising edge of the clock.
    """

    def __init__(self) -> None:
        self.loads: list[int] = []
        self.faults: list[str] = []
        self.selected = False
        self._clk = 1
        self._writes: bool | None = None
        self._restart()

    def _restart(self) -> None:
        """Begin as after a configuration: unsynchronized; WBSTAR is 0."""
        self._synchronized = False
        self._recent: list[int] = []
        self._registers: dict[int, int] = {}
        self._register = self._operation = self._left = 0

    def sample(self, clk: int, csib: int, rdwrb: int, i: int) -> bool:
        """Take the pins of a cycle, and return whether a bitstream is loaded from now on."""
        rises = clk and not self._clk
        self._clk = clk
        if not rises:
            return False
        writes = not rdwrb
        if not csib and self.selected and writes != self._writes:
            self.faults.append("RDWRB changes while CSIB is low: ABORT")
        self.selected, self._writes = not csib, writes
        if csib:
            return False
        if not writes:
            self.faults.append("a read, whose output nobody takes")
            return False
        return self._receive(tuple(_byte(i, place) for place in (3, 2, 1, 0)))

    def _receive(self, found: tuple[int, ...]) -> bool:
        if not self._synchronized:
            self._synchronized = found == SYNC
            return False
        word = int.from_bytes(bytes(found), "big")
        if self._left:
            self._left -= 1
            return self._operation == WRITE and self._written(word)
        kind, self._operation = word >> 29, word >> 27 & 3
        if kind == TYPE_1:
            self._register, self._left = word >> 13 & 0x1F, word & 0x7FF
        elif kind == TYPE_2:
            self._left = word & 0x7FFFFFF
        else:
            self.faults.append(f"{word:08x} is no packet")
        if self._operation == READ:
            self.faults.append(f"{word:08x} reads a register")
        return False

    def _written(self, word: int) -> bool:
        """Write a register; return whether this loads a bitstream."""
        self._registers[self._register] = word
        if self._register not in (COMMAND_REGISTER, WARM_BOOT_START):
            self.faults.append(f"register {self._register:05b} is written")
        if self._register != COMMAND_REGISTER:
            return False
        if word & 0x1F == DESYNC:
            self._synchronized = False
        elif word & 0x1F == IPROG:
            self.loads.append(self._registers.get(WARM_BOOT_START, 0))
            self._restart()
            return True
        else:
            self.faults.append(f"command {word:08x}")
        return False
