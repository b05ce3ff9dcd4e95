"""A convolution module: how many kernels it may have, its cycles, and the words that it streams.

It has Nk kernels of K x K, a window each in a cycle: for ``lanes`` images at once as many output
maps as the lanes leave kernels for. Sums over input maps lie in DRAM: every input map adds its part
to a partial sum that is read and written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from merp.models.papers.fcnn.resources import BlockResources, Costs

LANES: Final = 12
"""Most images at once: with their words of 32 bits a stream divides 1536 bits. source: V.B"""

REACHED: Final = 0.977
"""Share of the cycles in which a window is computed; fitted to table II's layers 2 to 5."""


@dataclass(frozen=True, kw_only=True)
class ConvolutionTask:
    """A convolution of ``images`` images, borders within the streamed map.

    Attributes:
        n, m: input and output maps. k, stride: of the kernel.
        rows, columns: of the streamed map. out_rows, out_columns: of the sums.
    """

    n: int
    m: int
    k: int
    stride: int = 1
    rows: int
    columns: int
    out_rows: int
    out_columns: int
    images: int

    @property
    def operations(self) -> int:
        """Of the whole convolution; a multiply-add is two. source: equation (10)"""
        return 2 * self.n * self.m * self.out_rows * self.out_columns * self.k**2 * self.images

    @property
    def buffer_words(self) -> int:
        """K rows of all images, from which windows are taken. source: equation (9)"""
        return self.columns * self.k * self.images


@dataclass(frozen=True)
class Kernels:
    """``lanes`` images at once, of each as many output maps: Nk is their product."""

    lanes: int
    maps: int

    @property
    def count(self) -> int:
        """Nk."""
        return self.lanes * self.maps

    @staticmethod
    def of(count: int) -> Kernels:
        """Split Nk as tables II and V do: up to ``LANES`` images."""
        lanes = min(LANES, count)
        return Kernels(lanes, count // lanes)


def resources(
    task: ConvolutionTask, count: float, costs: Costs, buffers: int, word_bits: int
) -> BlockResources:
    """Return what ``count`` kernels take. source: equations (12) and (13)

    Args:
        buffers: 1 forward, 2 backward, where gradients need both maps and deltas.
    """
    buffered = costs.buffer(task.buffer_words, word_bits) * buffers
    return costs.control + costs.tap * (count * task.k**2) + buffered


def bounds(
    task: ConvolutionTask,
    costs: Costs,
    limit: BlockResources,
    words_per_cycle: float,
    word_bits: int,
    buffers: int = 1,
) -> Mapping[str, float]:
    """Return the most kernels by each resource, and by DRAM (``words_per_cycle`` that it moves).

    source: equations (11) and (12), solved for Nk
    """
    fixed = resources(task, 0, costs, buffers, word_bits)
    taps = task.k**2
    found = {"DRAM": words_per_cycle / (2 + task.stride)}
    for name in ("lut", "ff", "dsp", "bram"):
        tap = getattr(costs.tap, name)
        if tap:
            room = getattr(limit, name) - getattr(fixed, name)
            found[name.upper()] = room / (taps * tap)
    return found


def words_per_step(task: ConvolutionTask, kernels: Kernels) -> int:
    """Words to and from DRAM where no stream waits: inputs, partial sums in, and sums out."""
    return task.stride * kernels.lanes + 2 * kernels.count


def steps(task: ConvolutionTask, kernels: Kernels) -> float:
    """Cycles in which windows are computed: over the map as it streams, border included.

    Equation (10) has the size of the output instead, with which table II does not follow.
    """
    positions = task.rows * task.columns / task.stride**2
    return task.n * -(-task.m // kernels.maps) * positions * task.images / kernels.lanes


def cycles(task: ConvolutionTask, kernels: Kernels, words_per_cycle: float) -> float:
    """Return the cycles of a task; DRAM makes them longer where it moves too few words a cycle."""
    wait = max(1.0, words_per_step(task, kernels) / words_per_cycle)
    return steps(task, kernels) * wait / REACHED


@dataclass(frozen=True)
class DramWords:
    """Words to and from DRAM.

    Attributes:
        inputs: once. again: the same maps for further output maps. sums: when they are whole.
        partial_in, partial_out: sums that are not whole yet.
    """

    inputs: int
    again: int
    partial_in: int
    partial_out: int
    sums: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.inputs + self.again + self.partial_in + self.partial_out + self.sums


def words(task: ConvolutionTask, kernels: Kernels, input_words: int) -> DramWords:
    """Return the words of a task whose maps have ``input_words`` of an image, no borders."""
    inputs = input_words * task.images
    sums = task.m * task.out_rows * task.out_columns * task.images
    partial = (task.n - 1) * sums
    turns = -(-task.m // kernels.maps)
    return DramWords(inputs, (turns - 1) * inputs, partial, partial, sums)
