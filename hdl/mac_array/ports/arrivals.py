"""What intakes and sequencers tell each other: what is there, and what may come."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit
from merp.models.machines.mac_array.params.design import ArrayDesign


class Arrivals:
    """Rows that an intake has taken, for the sequencer that waits for them."""

    def __init__(self, complete: Bit = None) -> None:
        self.arrived = flag()  # pulse: the next rows that slots wait for can be read
        self.complete = flag() if complete is None else complete  # all of the pass can be


class PacedArrivals(Arrivals):
    """The same of an intake that waits for room, and what makes room for it."""

    def __init__(self, complete: Bit = None) -> None:
        super().__init__(complete)
        self.computed = flag()  # pulse: the last slot that needs the oldest rows was issued


class KernelArrivals:
    """Kernels that an intake has taken, for the walk that waits for them."""

    def __init__(self, design: ArrayDesign, loaded: Bit = None) -> None:
        # FP: addresses that are there, of a tile's last one only with its biases. DP: runs.
        self.progress = count(2 * design.kernel_words)  # words, or runs, that are there
        self.loaded = flag() if loaded is None else loaded  # all of the pass are there
