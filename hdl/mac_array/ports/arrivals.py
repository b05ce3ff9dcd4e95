"""Signals between input blocks and sequencers: arrived data, and room for more."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit
from merp.models.machines.mac_array.params.design import ArrayDesign


class Arrivals:
    """Rows that an input block has taken, for the sequencer that waits for them."""

    def __init__(self, complete: Bit = None) -> None:
        self.arrived = flag()  # pulse: the next rows for which slots wait can be read
        self.complete = flag() if complete is None else complete  # all rows of the pass can be read


class PacedArrivals(Arrivals):
    """Arrivals of an input block that waits for room, and the signal that frees room."""

    def __init__(self, complete: Bit = None) -> None:
        super().__init__(complete)
        self.computed = flag()  # pulse: the last slot that uses the oldest rows was issued


class KernelArrivals:
    """Kernels that an input block has taken, for the walk that waits for them."""

    def __init__(self, design: ArrayDesign, loaded: Bit = None) -> None:
        # FP: addresses that have arrived; the last address of a tile counts once its biases have
        # arrived. DP: runs that have arrived.
        self.progress = count(2 * design.kernel_words)  # words, or runs, that have arrived
        self.loaded = flag() if loaded is None else loaded  # all kernels of the pass have arrived
