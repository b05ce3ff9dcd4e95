"""Bundles between the blocks of the update unit."""

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
    """Run-time registers for the kernels and biases that a run updates.

    map          sizes of the layer
    with_biases  (if a pass may have no biases) biases follow the kernels
    filling      (of a design for fully connected layers) last taps of the last input map, which
                 have no elements. Stable from start on
    size         (of a design for smaller kernels) rows and columns of a kernel; the taps behind
                 them have no elements. Stable from start on
    """

    map: GradientMapConfig
    with_biases: Bit = None
    filling: Word = None
    size: Word = None

    @property
    def uneven(self) -> bool:
        """Check whether kernels may lack taps."""
        return self.filling is not None or self.size is not None


@dataclass(frozen=True)
class UpdateRegisters:
    """Run-time registers of the update unit: the range and the rule of the update."""

    extent: Extent
    rule: UpdateConfig


class BiasRead:
    """Read of a bias gradient, which follows GRADIENT_READ cycles later."""

    def __init__(self, design: EngineDesign) -> None:
        self.enable = flag()  # a bias gradient is read
        self.index = count(design.groups * design.n_cu - 1)  # output map


class GradientPlace:
    """Place of a gradient, of a kernel or of a bias."""

    def __init__(self, design: EngineDesign) -> None:
        self.kernel = GradientRead(design)
        self.bias = BiasRead(design)


class GradientAccess:
    """Both gradient memories: the read, and the gradients GRADIENT_READ cycles later.

    A read of kernels returns gradient_read elements, possibly round_latency later.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.place = GradientPlace(design)
        self.kernel = bits(design.gradient_read * design.fmt.width)  # gradients of a kernel
        self.bias = bits(design.fmt.width)  # gradient of a bias


class ListedElement:
    """An element of the streams, or a read of several: whether it exists, and its kind."""

    def __init__(self) -> None:
        self.valid = flag()  # the element exists
        self.biases = flag()  # it belongs to the biases
        self.last = flag()  # it is the last one of its kind


class KernelEnd:
    """Signals that report the ends of kernels to a walk over reads of several elements."""

    def __init__(self) -> None:
        self.ends = flag()  # in: the current read is the last one of its kernel
        self.final_input = flag()  # out: it belongs to the last input map


class Arrived:
    """A gradient, or a beat of gradients, at the input of the arithmetic.

    ``from_rest`` is used without momentum. It is the velocity RN(+0 + g), which equals g except for
    the sign of zero.
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

    ``tag`` flags a word of the biases and the last word of its kind. For a beat of several
    elements, it also has a bit per element that counts.
    """

    def __init__(self, width: int, lanes: int) -> None:
        self.push = flag()
        self.tag = bits(2 + (lanes if lanes > 1 else 0))
        self.data = bits(width)


class RunEnd:
    """The last word of the streams of a run: transferred in this cycle, or before."""

    def __init__(self) -> None:
        self.ends = flag()  # the word is transferred in this cycle
        self.sent = flag()  # the word was transferred; until the next start


class UpdateProgress:
    """Progress of a run.

    ends           the last word of the run is transferred in this cycle
    done           the last word was transferred; until the next start
    framing_error  last arrived with a word other than the last of its stream; until start
    """

    def __init__(self) -> None:
        self.ends = flag()
        self.done = flag()
        self.framing_error = flag()


class Passing:
    """The current old word of a passage, and the state of its streams.

    ``places``: capacity for words between the entrance and the streams of the new words.
    """

    def __init__(self, width: int, places: int) -> None:
        self.data = bits(width)
        self.valid = flag()
        self.room = flag()  # a place is free
        self.end = RunEnd()
        self.framing_error = flag()
        self.places = places
