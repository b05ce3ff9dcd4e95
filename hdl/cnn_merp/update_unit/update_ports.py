"""Bundles that the blocks of the update unit hand to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientRead, UpdateConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


@dataclass(frozen=True)
class Extent:
    """Run-time registers that say which kernels and biases a run updates.

    map          sizes of the layer
    with_biases  (where a pass can do without) biases follow the kernels
    filling      (of a design for fully connected layers) taps that the last input map lacks, which
                 have no elements: the last ones. Stable from start on
    size         (of a design for smaller kernels) rows and columns of a kernel; the taps behind
                 them have no elements. Stable from start on
    """

    map: GradientMapConfig
    with_biases: Bit = None
    filling: Word = None
    size: Word = None

    @property
    def uneven(self) -> bool:
        """Whether kernels may lack taps."""
        return self.filling is not None or self.size is not None


@dataclass(frozen=True)
class UpdateRegisters:
    """Run-time registers of the update unit: what it updates, and by which rule."""

    extent: Extent
    rule: UpdateConfig


class BiasRead:
    """Read of a bias gradient, which comes GRADIENT_READ cycles later."""

    def __init__(self, design: EngineDesign) -> None:
        self.enable = flag()  # a bias gradient is read
        self.index = count(design.groups * design.n_cu - 1)  # output map


class GradientPlace:
    """Where a gradient is: of a kernel or of a bias."""

    def __init__(self, design: EngineDesign) -> None:
        self.kernel = GradientRead(design)
        self.bias = BiasRead(design)


class GradientAccess:
    """Both gradient memories: the read, and what they answer GRADIENT_READ cycles later.

    Of kernels that are gradient_read elements, and they may come round_latency later yet.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.place = GradientPlace(design)
        self.kernel = bits(design.gradient_read * design.fmt.width)  # what a kernel's read gives
        self.bias = bits(design.fmt.width)  # what a bias's read gives


class ListedElement:
    """An element of the streams, or a read of several: whether it is there and what it is."""

    def __init__(self) -> None:
        self.valid = flag()  # it is there
        self.biases = flag()  # it is of the biases
        self.last = flag()  # it is the last of its kind


class KernelEnd:
    """How a walk over reads of several elements learns where kernels end."""

    def __init__(self) -> None:
        self.ends = flag()  # in: the read at hand is its kernel's last one
        self.final_input = flag()  # out: it is of the last input map


class Arrived:
    """A gradient, or a beat of them, where the arithmetic begins.

    ``from_rest`` is there without momentum: the velocity RN(+0 + g), which is g but for the sign
    of zero.
    """

    def __init__(self, width: int, momentum: bool) -> None:
        self.gradient = bits(width)
        self.from_rest: Any = None if momentum else bits(width)


class ParameterStreams:
    """A stream of kernels, order m, n, row, column, and one of biases, order m."""

    def __init__(self, kernel: Stream, bias: Stream) -> None:
        self.kernel = kernel
        self.bias = bias


class Passage:
    """Streams of old words in, and of new ones out."""

    def __init__(self, sink: ParameterStreams, source: ParameterStreams) -> None:
        self.sink = sink
        self.source = source


class Leaving:
    """A word, or a beat, at the end of the pipeline.

    ``tag``: whether it is of the biases, whether it is the last of its kind and, of a beat of
    several elements, a bit for each that says whether it counts.
    """

    def __init__(self, width: int, lanes: int) -> None:
        self.push = flag()
        self.tag = bits(2 + (lanes if lanes > 1 else 0))
        self.data = bits(width)


class RunEnd:
    """The last word of a run's streams: it is transferred in this cycle; it has been."""

    def __init__(self) -> None:
        self.ends = flag()  # it is transferred in this cycle
        self.sent = flag()  # it has been; until the next start


class UpdateProgress:
    """How far a run is.

    ends           the run's last word is transferred in this cycle
    done           it has been; until the next start
    framing_error  a last came with another word than its stream's last; until start
    """

    def __init__(self) -> None:
        self.ends = flag()
        self.done = flag()
        self.framing_error = flag()


class Passing:
    """The old word of a passage that is at hand, and the state of its streams.

    ``places``: how many words may be on their way to the streams of the new ones.
    """

    def __init__(self, width: int, places: int) -> None:
        self.data = bits(width)
        self.valid = flag()
        self.room = flag()  # a place is free
        self.end = RunEnd()
        self.framing_error = flag()
        self.places = places
