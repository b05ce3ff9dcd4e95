"""Run-time registers of a gradient module: its walk, and the words of its streams."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.counters import Counter
from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.grid_registers import grid_registers
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@dataclass(frozen=True)
class GradientRun:
    """A run that computes the gradients of a group of a layer.

    Attributes:
        grid: the walk over the layer's input, with its forward shape.

    Raises:
        ValueError: the grid is dilated, or a stream has more words than a register can hold.
    """

    grid: Grid

    def __post_init__(self) -> None:
        """Check the run."""
        if self.grid.dilation != 1:
            raise ValueError(f"dilation must be 1 in a gradient run, not {self.grid.dilation}")
        for key in ("map_words", "delta_words", "gradient_words"):
            if getattr(self, key) > COUNT_MAX:
                raise ValueError(f"{key} must be at most {COUNT_MAX}, not {getattr(self, key)}")

    @property
    def map_words(self) -> int:
        """Beats of the input: every map, once for each block of output maps."""
        return self.grid.passes * self.grid.map_beats

    @property
    def delta_words(self) -> int:
        """Beats of deltas: those of every block, once for each input map."""
        return self.grid.passes * self.grid.out_beats

    @property
    def gradient_words(self) -> int:
        """Gradients of kernels and biases."""
        shape = self.grid.shape
        return shape.m * (shape.n * shape.k**2 + 1)


def _most_words(design: StreamDesign) -> int:
    return COUNT_MAX


_register = RunRegister[StreamDesign, GradientRun]

GRADIENT: RegisterTable[StreamDesign, GradientRun] = RegisterTable(
    "config",
    (
        *grid_registers(GradientRun),
        _register(
            "last_maps", 1, lambda design: design.maps_at_once, "output maps of the last block",
            lambda run: run.grid.last_maps,
        ),
        _register(
            "map_words", 1, _most_words, "beats of the input, of all passes",
            lambda run: run.map_words,
        ),
        _register(
            "delta_words", 1, _most_words, "beats of deltas, of all passes",
            lambda run: run.delta_words,
        ),
        _register(
            "gradient_words", 1, _most_words, "gradients of kernels and biases",
            lambda run: run.gradient_words,
        ),
    ),
)  # fmt: skip
"""Registers of the module, in the order of their signals."""

COUNTERS = (
    Counter("total", "cycles from the one after start to the end of the run"),
    Counter("issue", "beats of the walk", part=True),
    Counter(
        "drain", "cycles in which sums of a pass are stored and read, or gradients leave", part=True
    ),
    Counter(
        "stall_output", "cycles in which sums wait for places of the output", part=True, stall=True
    ),
    Counter("stall_map", "cycles in which a beat waits for the input", part=True, stall=True),
    Counter("stall_delta", "cycles in which it waits for deltas only", part=True, stall=True),
    Counter("useful", "beats with deltas"),
)
"""In the order of their signals; ``total`` is the sum of the parts."""

WORDS = {
    "map_in": "s_axis_map", "delta_in": "s_axis_delta", "gradient_out": "m_axis_gradient",
}  # fmt: skip
"""The stream of each word counter; a word is an element."""
