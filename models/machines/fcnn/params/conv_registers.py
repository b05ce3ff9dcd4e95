"""A run of a convolution module: forward or delta propagation, its registers and its pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from merp.models.base.counters import Counter
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.register_table import RegisterTable, RunRegister
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.grid_registers import grid_registers
from merp.models.machines.fcnn.params.stream_design import StreamDesign

WINDOW = 1
"""Cycles from a beat to its masked windows, and to the start of its sums, in registers."""

LEAVE = 2
"""Cycles from a sum to its word at the port: the memory and the head register of the FIFO."""

COUNTERS = (
    Counter("total", "cycles from the one after start to the last word"),
    Counter("issue", "cycles with a beat of the walk", part=True),
    Counter(
        "stall_kernel", "cycles without a beat: the pass waits for its kernels or biases",
        part=True, stall=True,
    ),
    Counter("stall_input", "cycles without a beat: a map is late", part=True, stall=True),
    Counter(
        "stall_partial",
        "cycles without a beat: a partial sum is late, or its sum of the pass before is",
        part=True, stall=True,
    ),
    Counter("stall_output", "cycles without a beat: sums wait to leave", part=True, stall=True),
    Counter("drain", "cycles after the last beat", part=True),
    Counter("useful", "beats with windows that give sums"),
)  # fmt: skip
"""Counters of a run, in the order of status; the parts add up to the total."""

WORDS = {
    "map_in": "s_axis_map", "kernel": "s_axis_kernel", "bias": "s_axis_bias",
    "partial_in": "s_axis_partial", "sum_out": "m_axis_sum",
}  # fmt: skip
"""The stream of each word counter; a word is an element."""


@dataclass(frozen=True)
class ConvDesign:
    """A convolution module, which ``stream`` describes, and the lengths of its pipeline."""

    stream: StreamDesign

    @property
    def compute_latency(self) -> int:
        """Cycles from a beat to its sums in the registers of the last adders."""
        return WINDOW + self.stream.cu_latency + self.stream.add_latency

    @property
    def latency(self) -> int:
        """L, cycles from a beat to its sums at the port."""
        return self.compute_latency + LEAVE

    @property
    def fifo_words(self) -> int:
        """Places for the sums that are computed before the place of the first one is free again."""
        return self.compute_latency + CREDIT_RETURN


@dataclass(frozen=True)
class StreamRun:
    """A run over some or all input maps of a layer.

    Attributes:
        grid: the walk. Its shape has the input maps of this run only.
        biased: whether sums start at biases; otherwise they start at +0.
        begun: whether sums continue those of an earlier run, which come in as partial sums. Then
            there are no biases.
    """

    grid: Grid
    biased: bool = True
    begun: bool = False

    @classmethod
    def forward(
        cls, shape: Shape, images: int, design: StreamDesign, *, begun: bool = False
    ) -> Self:
        """Return a run of forward propagation.

        Raises:
            ValueError: the run does not fit the design.
        """
        return cls(Grid(shape, images, design), biased=not begun, begun=begun)

    @classmethod
    def deltas(
        cls, layer: Shape, images: int, design: StreamDesign, *, begun: bool = False
    ) -> Self:
        """Return a run of delta propagation; ``layer`` is the layer's forward shape.

        Its maps are the deltas of the layer's outputs.

        Raises:
            ValueError: the run does not fit the design.
        """
        return cls(Grid.of_deltas(layer, images, design), biased=False, begun=begun)

    @property
    def design(self) -> StreamDesign:
        """The module."""
        return self.grid.design

    @property
    def takes_biases(self) -> bool:
        """Whether the port of the biases has words."""
        return self.biased and not self.begun


def _register(
    name: str, most: Callable[[StreamDesign], int], meaning: str, value: Callable[[StreamRun], int]
) -> RunRegister[StreamDesign, StreamRun]:
    return RunRegister(name, 1, most, meaning, value)


def _switch(
    name: str, meaning: str, value: Callable[[StreamRun], bool]
) -> RunRegister[StreamDesign, StreamRun]:
    return RunRegister(name, 0, lambda design: 1, meaning, lambda run: int(value(run)), single=True)


CONV: RegisterTable[StreamDesign, StreamRun] = RegisterTable(
    "config",
    (
        *grid_registers(StreamRun),
        _register(
            "last_maps", lambda design: design.maps_at_once, "output maps of the last block",
            lambda run: run.grid.last_maps,
        ),
        _switch("biased", "sums start at biases, else at +0", lambda run: run.takes_biases),
        _switch(
            "begun", "sums continue those of an earlier run; without biases",
            lambda run: run.begun,
        ),
    ),
)  # fmt: skip
"""Registers of a convolution module."""


def registers(run: StreamRun) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run."""
    return CONV.values(run)
