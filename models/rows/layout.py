"""Input of the simulation: layers as rows, their slices on the nodes of a chain, links and FIFOs.

A node is an FPGA of the chain. docs/cluster.md defines the rules, which two simulators implement:
``simulator`` and ``reference``. This file only defines their input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

FIFOS: Final = {
    "maps": "input maps of a slice, until its sums are computed and the row is sent on",
    "features": "the same rows, kept until the kernels' gradients have used them",
    "sums": "partial sums, or finished maps, of the previous slices",
    "errors": "deltas of the layer's output, until all tasks that use them are done",
    "deltas": "deltas of the layer's input from the following slices",
    "own": "rows of a slice that are put together with the rows of the other slices so far",
    "send": "rows that wait for a link",
}
"""Kinds of FIFOs that have a size, in rows."""

Place = tuple[str, int]
"""A FIFO: its kind and the index of the slice that reads it.

For a ``send`` FIFO, it is ``send`` with the name of the stream, and the border.
"""


@dataclass(frozen=True, kw_only=True)
class LayerRows:
    """A layer as rows of an image.

    Attributes:
        name: name of the layer.
        by_outputs: whether the layer is cut by output maps; otherwise it is cut by input maps.
        inputs: rows of its input maps.
        sums: rows of its sums.
        pooled: rows after pooling.
        outputs: rows sent to the next layer: as many as ``pooled``, or one row if the next layer
            needs all of them together.
        kernel, stride: of the convolution.
        top: rows of zeros above the input maps.
        window, step: of the pooling.
        above: rows of the first pooling window above the edge of the sums.
        input_words, sum_words, output_words: elements of one image.
    """

    name: str
    by_outputs: bool
    inputs: int
    sums: int
    pooled: int
    outputs: int
    kernel: int
    stride: int = 1
    top: int = 0
    window: int = 1
    step: int = 1
    above: int = 0
    input_words: int
    sum_words: int
    output_words: int

    @property
    def late(self) -> int:
        """Rows that the last row of sums completes, less one: pooling windows hang over far."""
        behind = (self.pooled - 1) * self.step + self.window - self.above - self.sums
        return max(0, min(behind // self.step, self.pooled - 1))


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A node's part of a layer.

    Attributes:
        node: index of the node in the chain.
        layer: index of the layer.
        begin, end: range of the part, in fractions of the layer's maps.
        cycles: cycles of one image, by phase; fp and ku are always present.
        update: cycles of the update of its kernels at the end of a batch.
    """

    node: int
    layer: int
    begin: Fraction
    end: Fraction
    cycles: Mapping[str, int]
    update: int = 0

    @property
    def back(self) -> int | None:
        """Cycles of an image in delta propagation; None without delta propagation."""
        return self.cycles.get("dp")


@dataclass(frozen=True, kw_only=True)
class Links:
    """Links between neighbouring nodes, with the same rate in both directions.

    Attributes:
        bits_per_cycle: rate of a direction, above 0; None for an unlimited rate.
        word_bits: bits of every word on a link.
        latency: cycles from the last bit in to the last bit out.
        carried: by border, the words of weights of one image that cross it. The words of gradients
            in the other direction are as many. A border has the index of the node before it.
        shared: whether all streams of a link share one FIFO after it, which has the size of the
            FIFO of maps.
    """

    bits_per_cycle: Fraction | None = None
    word_bits: int = 16
    latency: int = 0
    carried: Mapping[int, int] = field(default_factory=dict)
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A batch on a chain.

    Attributes:
        layers: the layers, in order.
        slices: the slices, in the order of the chain. Nodes are numbered from 0, without gaps.
        links: the links between the nodes.
        images: images of the batch.
        depth: largest number of images in flight.
        loss: cycles of the loss of one image at the host.
        sizes: rows of FIFOs that do not have the default size.
    """

    layers: tuple[LayerRows, ...]
    slices: tuple[Slice, ...]
    links: Links = Links()
    images: int = 1
    depth: int = 4
    loss: int = 0
    sizes: Mapping[Place, int] = field(default_factory=dict)

    def size(self, kind: str, place: int) -> int:
        """Return the rows that a FIFO can hold; ``kind`` and ``place`` are as in ``Place``."""
        given = self.sizes.get((kind, place))
        return self._usual(kind, place) if given is None else given

    def first(self, index: int) -> bool:
        """Return whether a slice is the first one of its layer."""
        return index == 0 or self.slices[index - 1].layer != self.slices[index].layer

    def last(self, index: int) -> bool:
        """Return whether a slice is the last one of its layer."""
        return self.first(index + 1) if index + 1 < len(self.slices) else True

    def crosses(self, index: int) -> bool:
        """Return whether the next slice is on another node; False for the last slice."""
        behind = self.slices[index + 1 : index + 2]
        return any(each.node != self.slices[index].node for each in behind)

    def _usual(self, kind: str, place: int) -> int:
        """Return the default size: a window, the next rows, and a spare row.

        It avoids long waits. The last row of sums may complete several rows at once.
        """
        number = self.slices[place].layer
        layer = self.layers[number]
        if kind.startswith("send") or kind in ("sums", "deltas", "own"):
            return 2 + layer.late
        if kind == "features":
            return self.depth * layer.inputs
        if kind == "maps":
            late = self.layers[number - 1].late if number else 0
            return layer.kernel + layer.stride + 1 + late
        sums = (layer.kernel - 1) // layer.stride + 1 + layer.window
        return sums // layer.step + 3
