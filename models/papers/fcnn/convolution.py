"""A convolution module: its possible number of kernels, its cycles, and its streamed words.

The module has Nk kernels of K x K. Each kernel processes one window per cycle. The kernels process
``lanes`` images in parallel; the remaining factor of Nk is the number of parallel output maps. The
partial sums over input maps are in DRAM. For every input map, they are read and written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from merp.models.papers.fcnn.resources import BlockResources, Costs

LANES: Final = 12
"""Most parallel images: their words of 32 bits make a stream whose width divides 1536 bits.

source: section V.B
"""

REACHED: Final = 0.977
"""Share of the cycles that compute a window; fitted to layers 2 to 5 of table II."""


@dataclass(frozen=True, kw_only=True)
class ConvolutionTask:
    """A convolution of several images. The streamed maps include borders.

    Attributes:
        n, m: input and output maps.
        k, stride: size and stride of the kernel.
        rows, columns: size of a streamed map.
        out_rows, out_columns: size of a map of sums.
        images: number of images.
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
        """Operations of the convolution; a multiply-add counts as two. source: equation (10)"""
        return 2 * self.n * self.m * self.out_rows * self.out_columns * self.k**2 * self.images

    @property
    def buffer_words(self) -> int:
        """Words of the buffer of windows: K rows of all images. source: equation (9)"""
        return self.columns * self.k * self.images


@dataclass(frozen=True)
class Kernels:
    """The kernels of a module: parallel images (``lanes``) and parallel output maps of each."""

    lanes: int
    maps: int

    @property
    def count(self) -> int:
        """Nk, the number of kernels."""
        return self.lanes * self.maps

    @staticmethod
    def of(count: int) -> Kernels:
        """Split Nk kernels as in tables II and V: up to ``LANES`` parallel images."""
        lanes = min(LANES, count)
        return Kernels(lanes, count // lanes)


def resources(
    task: ConvolutionTask, count: float, costs: Costs, buffers: int, word_bits: int
) -> BlockResources:
    """Return the resources of ``count`` kernels. source: equations (12) and (13)

    Args:
        task: the convolution.
        count: Nk.
        costs: unit costs of the part.
        buffers: 1 in forward propagation; 2 in backward propagation, where gradients need maps and
            deltas.
        word_bits: bits of a word.
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
    """Return the largest Nk for each resource, and for DRAM with ``words_per_cycle``.

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
    """Return the DRAM words per step if no stream waits: inputs, and partial sums in and out."""
    return task.stride * kernels.lanes + 2 * kernels.count


def steps(task: ConvolutionTask, kernels: Kernels) -> float:
    """Return the cycles that compute windows, for all positions of the map with its border.

    Equation (10) has the size of the output instead. It does not reproduce table II.
    """
    positions = task.rows * task.columns / task.stride**2
    return task.n * -(-task.m // kernels.maps) * positions * task.images / kernels.lanes


def cycles(task: ConvolutionTask, kernels: Kernels, words_per_cycle: float) -> float:
    """Return the cycles of a task, which are more if the rate of DRAM is too low."""
    wait = max(1.0, words_per_step(task, kernels) / words_per_cycle)
    return steps(task, kernels) * wait / REACHED


@dataclass(frozen=True)
class DramWords:
    """Words to and from DRAM.

    Attributes:
        inputs: the first read of the input maps.
        again: further reads of the input maps for other output maps.
        partial_in, partial_out: incomplete sums.
        sums: complete sums.
    """

    inputs: int
    again: int
    partial_in: int
    partial_out: int
    sums: int

    @property
    def total(self) -> int:
        """Sum of all words."""
        return self.inputs + self.again + self.partial_in + self.partial_out + self.sums


def words(task: ConvolutionTask, kernels: Kernels, input_words: int) -> DramWords:
    """Return the words of a task. ``input_words`` are those of one image, without borders."""
    inputs = input_words * task.images
    sums = task.m * task.out_rows * task.out_columns * task.images
    partial = (task.n - 1) * sums
    turns = -(-task.m // kernels.maps)
    return DramWords(inputs, (turns - 1) * inputs, partial, partial, sums)
