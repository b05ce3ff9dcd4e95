"""A board under PYNQ whose accelerator is a simulation, for an environment with the package."""

import ctypes
from typing import Any

import numpy as np
from pynq import DefaultIP
from pynq.buffer import PynqBuffer
from pynq.pl_server.device import Device
from simulated_hardware import ADDRESS, SIZE, pass_time, simulated

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.driver import Board
from merp.cosim.board.pynq_device import PynqDevice
from merp.cosim.board.system import System


class SimulatedPl(Device):
    """The device of PYNQ, with registers and memory of a simulated board."""

    def __init__(self, board: Any) -> None:
        super().__init__("simulated")
        self.board = board

    def has_capability(self, name: str) -> bool:
        """Return whether registers are accessed by methods."""
        return name == "REGISTER_RW"

    def read_registers(self, address: int, length: int) -> bytes:
        """Return a register."""
        pass_time(self.board)
        return int(self.board.read32(address & 0xFFF)).to_bytes(length, "little")

    def write_registers(self, address: int, data: bytes) -> None:
        """Write a register."""
        self.board.write32(address & 0xFFF, int.from_bytes(data, "little"))

    def allocate(self, shape: Any, dtype: Any, **_: Any) -> PynqBuffer:
        """Return the arena; the copy of the processor is a cache."""
        found = PynqBuffer(shape, dtype=dtype, device=self, device_address=ADDRESS, coherent=False)
        found.freed, found.bo = True, ADDRESS
        return found

    def flush(self, bo: int, offset: int, address: int, size: int) -> None:
        """Write the cache back."""
        self.board.to_device(Buffer(bo + offset, size), host(address, size))

    def invalidate(self, bo: int, offset: int, address: int, size: int) -> None:
        """Drop the cache."""
        place = Buffer(bo + offset, size)
        host(address, size)[:] = self.board.from_device(place, np.uint8, (size,))


def host(address: int, size: int) -> Any:
    """Return memory of this process."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class SimulatedPynq:
    """A board under PYNQ whose accelerator is a simulation."""

    def open(self, system: System) -> Board:
        """Return the board, after its self-test."""
        device = SimulatedPl(simulated(system))
        Device.active_device = device
        facts = {
            "phys_addr": 0x4000_0000, "addr_range": 0x1000, "fullpath": "merp", "registers": {},
            "device": device, "parameters": {}, "interrupts": {}, "gpio": {},
        }  # fmt: skip
        return PynqDevice(DefaultIP(facts), SIZE).open(system)
