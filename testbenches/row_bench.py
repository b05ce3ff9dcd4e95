"""The array of the kernel update in rows under test: a script of sweeps and reads, else noise."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.hdl.gradient_bundles import READ_LATENCY
from merp.models.params.design import Design
from merp.models.params.kernel_update_registers import gradient_latency, row_revisit_cycles
from merp.models.params.row import steps
from merp.testbenches.cu_bench import joined
from merp.testbenches.fused_bench import random_windows
from merp.testbenches.gradient_bench import play
from merp.testbenches.trace import Trace

Bits = NDArray[np.uint32]


class RowScript:
    """What happens in which cycle; whatever nothing listens to is noise."""

    def __init__(self, design: Design, seed: int) -> None:
        self.design = design
        self.rng = Random(seed)
        self.cycles: list[dict[str, int]] = []
        self._factors: dict[str, int] = {}
        self._last = -1000  # cycle of the last slot
        self._visited: dict[int, int] = {}  # likewise, by address

    def cycle(self, **values: int) -> None:
        """The next cycle: ports by flattened name."""
        design, rng, width = self.design, self.rng, self.design.fmt.width
        noise = {
            "rst": 0, "slot_valid": 0, "slot_column": rng.randrange(design.max_size),
            "slot_first": rng.getrandbits(1), "slot_last": rng.getrandbits(1),
            "slot_kernel_addr": rng.randrange(design.kernel_words), "slot_delta_word": 0,
            "slot_row_last": 0, "opening": rng.getrandbits(1),
            "window": rng.getrandbits(design.window_width),
            "deltas": rng.getrandbits(design.n_cu * width), "read_enable": 0,
            "read_addr": rng.randrange(design.gradient_words),
            "read_tap_shift": rng.randrange(design.ku_lanes) * width,
            "read_cu_shift": rng.randrange(design.n_cu) * width,
        }  # fmt: skip
        self.cycles.append(noise | self._factors | values)
        self._factors = {}

    def idle(self, cycles: int) -> None:
        """Cycles without a slot."""
        for _ in range(cycles):
            self.cycle()

    def sweep(self, addr: int, opening: bool, windows: Bits, deltas: Bits, rst: int = -1) -> None:
        """A slot for each column of windows (columns, taps) and deltas (columns, n_cu).

        rst: the column in whose cycle the reset is high; it is the last one then.
        """
        width = self.design.fmt.width
        for column, (window, factors) in enumerate(zip(windows, deltas, strict=True)):
            self.cycle(
                slot_valid=1, slot_column=column, slot_first=int(column == 0),
                slot_last=int(column == len(windows) - 1), slot_kernel_addr=addr,
                opening=int(opening), rst=int(column == rst),
            )  # fmt: skip
            if column == rst:
                return
            self._factors = {
                "window": joined(window.tolist(), width),
                "deltas": joined(factors.tolist(), width),
            }
        self._last = self._visited[addr] = len(self.cycles) - 1

    def wait(self, addr: int, columns: int, early: int = 0) -> None:
        """Idle until a sweep to ``addr`` may begin; ``early`` cycles sooner for the address."""
        free = max(
            self._last + steps(self.design),
            self._visited.get(addr, -1000) + row_revisit_cycles(self.design) - early,
        )
        self.idle(max(0, free - (len(self.cycles) + columns - 1)))

    def settle(self) -> None:
        """Wait just long enough for the last slot's gradients."""
        self.idle(self._last + gradient_latency(self.design) + 1 - len(self.cycles))

    def reset(self) -> None:
        """A cycle of reset."""
        self.cycle(rst=1)

    def read(self, addr: int, tap: int, cu: int) -> None:
        """Read the gradient of a tap of the kernel at ``addr``."""
        design, width = self.design, self.design.fmt.width
        word, lane = divmod(tap, design.ku_lanes)
        self.cycle(
            read_enable=1, read_addr=addr + word * design.kernel_words,
            read_tap_shift=lane * width, read_cu_shift=cu * width,
        )  # fmt: skip

    def read_all(self) -> None:
        """Every element, in the order address, tap, CU."""
        for addr in range(self.design.kernel_words):
            for tap in range(self.design.taps):
                for cu in range(self.design.n_cu):
                    self.read(addr, tap, cu)

    def play(self, array: Callable[..., Any]) -> Trace:
        """Run ``row_array`` or ``row_array_fast``."""
        self.idle(READ_LATENCY + 1)
        return play(array, self.design, self.cycles)


def factors(kind: str, columns: int, design: Design, rng: np.random.Generator) -> tuple[Bits, Bits]:
    """Windows (columns, taps) and deltas (columns, n_cu) of a kind of ``fused_bench``."""
    windows, _ = random_windows(kind, design.taps, columns, rng)
    _, deltas = random_windows(kind, design.n_cu, columns, rng)
    return windows.T, deltas.T
