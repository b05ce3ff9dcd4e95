"""Test the row array of the kernel update with a script of sweeps and reads."""

from __future__ import annotations

import numpy as np

from merp.models.base.bits import Bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    gradient_latency,
    row_revisit_cycles,
)
from merp.models.machines.cnn_merp.params.row import steps
from merp.testbenches.arithmetic.fused_bench import random_windows
from merp.testbenches.cnn_merp.gradient_bench import GradientScript


class RowScript(GradientScript):
    """A script of sweeps along rows."""

    def __init__(self, design: EngineDesign, seed: int) -> None:
        super().__init__(design, seed)
        self._last = -1000  # cycle of the last slot
        self._visited: dict[int, int] = {}  # cycle of the last slot by address

    def slot_noise(self) -> dict[str, int]:
        """Return random values for the ports of a slot, except valid and kernel_addr."""
        rng = self.rng
        return {
            "slot_column": rng.randrange(self.design.max_size),
            "slot_first": rng.getrandbits(1), "slot_last": rng.getrandbits(1),
            "slot_delta_word": 0, "slot_row_last": 0,
        }  # fmt: skip

    def sweep(self, addr: int, opening: bool, windows: Bits, deltas: Bits, rst: int = -1) -> None:
        """Add a slot for each column of windows (columns, taps) and deltas (columns, n_cu).

        ``rst``: the column in whose cycle the reset is high; the sweep ends with this column.
        """
        for column, (window, factors) in enumerate(zip(windows, deltas, strict=True)):
            self.slot(
                window.tolist(), factors.tolist(), slot_column=column,
                slot_first=int(column == 0), slot_last=int(column == len(windows) - 1),
                slot_kernel_addr=addr, opening=int(opening), rst=int(column == rst),
            )  # fmt: skip
            if column == rst:
                return
        self._last = self._visited[addr] = len(self.cycles) - 1

    def wait(self, addr: int, columns: int, early: int = 0) -> None:
        """Idle until a sweep to ``addr`` may begin; ``early`` shortens the wait for the address."""
        free = max(
            self._last + steps(self.design),
            self._visited.get(addr, -1000) + row_revisit_cycles(self.design) - early,
        )
        self.idle(max(0, free - (len(self.cycles) + columns - 1)))

    def settle(self) -> None:
        """Wait exactly until the gradients of the last slot are stored."""
        self.idle(self._last + gradient_latency(self.design) + 1 - len(self.cycles))


def factors(
    kind: str, columns: int, design: EngineDesign, rng: np.random.Generator
) -> tuple[Bits, Bits]:
    """Return windows (columns, taps) and deltas (columns, n_cu) of a kind of ``fused_bench``."""
    windows, _ = random_windows(kind, design.taps, columns, rng)
    _, deltas = random_windows(kind, design.n_cu, columns, rng)
    return windows.T, deltas.T
