"""Test the arrays of the kernel update with a script of slots and reads.

A slot is a cycle in which the array begins to multiply one window by deltas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ
from merp.testbenches.block.trace import Trace, run_block
from merp.testbenches.cnn_merp.cu_bench import joined


class GradientScript(ABC):
    """A script of cycles; unused inputs carry noise."""

    def __init__(self, design: EngineDesign, seed: int | str) -> None:
        self.design = design
        self.rng = Random(seed)
        self.cycles: list[dict[str, int]] = []
        self._factors: dict[str, int] = {}

    @abstractmethod
    def slot_noise(self) -> dict[str, int]:
        """Return noise for the ports of a slot, except valid and kernel_addr."""

    def cycle(self, **values: int) -> None:
        """Add the next cycle; ``values`` are ports by flattened name."""
        design, rng, width = self.design, self.rng, self.design.fmt.width
        in_bits = width if design.kernel_port == 1 else 0  # a wider port needs no shift
        noise = {
            "rst": 0, "slot_valid": 0, "slot_kernel_addr": rng.randrange(design.kernel_words),
            "opening": rng.getrandbits(1), "window": rng.getrandbits(design.window_width),
            "deltas": rng.getrandbits(design.n_cu * width), "read_enable": 0,
            "read_addr": rng.randrange(design.gradient_words),
            "read_tap_shift": rng.randrange(design.gradient_lanes) * in_bits,
            "read_cu_shift": rng.randrange(design.n_cu) * in_bits,
        }  # fmt: skip
        self.cycles.append(noise | self.slot_noise() | self._factors | values)
        self._factors = {}

    def slot(self, window: Sequence[int], deltas: Sequence[int], **values: int) -> None:
        """Add a slot; its window and its deltas follow one cycle later."""
        self.cycle(slot_valid=1, **values)
        width = self.design.fmt.width
        self._factors = {"window": joined(window, width), "deltas": joined(deltas, width)}

    def reset(self) -> None:
        """Add a cycle of reset."""
        self.cycle(rst=1)

    def idle(self, cycles: int) -> None:
        """Add cycles without a slot."""
        for _ in range(cycles):
            self.cycle()

    def read(self, addr: int, tap: int, cu: int) -> None:
        """Read the gradient of a tap of the kernel at ``addr``."""
        design, width = self.design, self.design.fmt.width
        word, lane = divmod(tap, design.gradient_lanes)
        self.cycle(
            read_enable=1, read_addr=addr + word * design.kernel_words,
            read_tap_shift=lane * width, read_cu_shift=cu * width,
        )  # fmt: skip

    def read_all(self) -> None:
        """Read every element, in the order address, tap, CU."""
        for addr in range(self.design.kernel_words):
            for tap in range(self.design.taps):
                for cu in range(self.design.n_cu):
                    self.read(addr, tap, cu)

    def play(self, array: Callable[..., Any]) -> Trace:
        """Run an array of the design's ``ku_kind``."""
        design = self.design
        self.idle(GRADIENT_READ + 1)
        args = {
            "clk": flag(), "rst": flag(),
            "slot": RowSlot(design) if design.ku_kind == "row" else Slot(design),
            "opening": flag(), "window": bits(design.window_width),
            "deltas": bits(design.n_cu * design.fmt.width), "read": GradientRead(design),
            "gradient": bits(design.gradient_read * design.fmt.width), "design": design,
        }  # fmt: skip
        cycles = self.cycles
        return run_block(
            array, args, tuple(cycles[0]), lambda t, _: cycles[t], len(cycles), quick=True
        )


def read_out(trace: Trace) -> list[int]:
    """Return the elements that were read, in the order of the reads."""
    enable, gradient = trace.column("read_enable"), trace.column("gradient")
    return [gradient[t + GRADIENT_READ] for t, on in enumerate(enable) if on]
