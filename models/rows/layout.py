"""What is simulated: layers as rows, slices of them on the nodes of a chain, links and FIFOs.

The rules that two simulators follow, ``simulator`` and ``reference``, are those of docs/cluster.md;
here stand only the numbers that they start from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

FIFOS: Final = {
    "maps": "input maps in front of a slice, until its sums are computed and the row is sent on",
    "features": "the same rows, kept until the kernels' gradients have used them",
    "sums": "partial sums, or finished maps, of the slices in front",
    "errors": "deltas of the layer's output, until all that use them have",
    "deltas": "deltas of the layer's input from the slices behind",
    "own": "rows of a slice that are put together with those of the other slices so far",
    "send": "rows that wait for a link",
}
"""Kinds of FIFOs that have a size, in rows."""

Place = tuple[str, int]
"""A FIFO: its kind and the slice that reads it; of ``send`` the stream's name and the border."""


@dataclass(frozen=True, kw_only=True)
class LayerRows:
    """A layer as rows of an image.

    Attributes:
        name: of the layer. by_outputs: whether slices have output maps, else input maps.
        inputs, sums, pooled: rows of its input, of its sums, and after pooling.
        outputs: rows that go on: as pooled, or a single one where the next layer takes all at once.
        kernel, stride, top: of the convolution; rows of zeros above.
        window, step, above: of pooling; rows by which the first window hangs over the edge.
        input_words, sum_words, output_words: elements of an image.
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


@dataclass(frozen=True, kw_only=True)
class Slice:
    """What a node has of a layer.

    Attributes:
        node: of the chain. layer: index. begin, end: shares of the layer's maps in front of it, and
            up to its end.
        cycles: of an image, by phase; fp and ku are there.
        update: cycles that its kernels take at the end of a batch.
    """

    node: int
    layer: int
    begin: Fraction
    end: Fraction
    cycles: Mapping[str, int]
    update: int = 0

    @property
    def back(self) -> int | None:
        """Cycles of an image in delta propagation; None where it has none."""
        return self.cycles.get("dp")


@dataclass(frozen=True, kw_only=True)
class Links:
    """Lanes between neighbours, each way.

    Attributes:
        bits_per_cycle: above 0; None: as many as there are. word_bits: of all that crosses.
        latency: cycles from the last bit in to the last bit out.
        carried: words of weights of an image that cross border ``node``, and gradients back.
        shared: one FIFO behind a link for all of its streams, as large as that of maps.
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
        layers: in order. slices: in the order of the chain; nodes count from 0, none is left out.
        images: of the batch. depth: images in flight at most. loss: cycles of an image at the host.
        sizes: rows of FIFOs that differ from ``usual``.
    """

    layers: tuple[LayerRows, ...]
    slices: tuple[Slice, ...]
    links: Links = Links()
    images: int = 1
    depth: int = 4
    loss: int = 0
    sizes: Mapping[Place, int] = field(default_factory=dict)

    def size(self, kind: str, place: int) -> int:
        """Rows of a FIFO; its kind is of ``FIFOS``, or ``send`` with the stream's name."""
        given = self.sizes.get((kind, place))
        return self._usual(kind, place) if given is None else given

    def first(self, index: int) -> bool:
        """Whether a slice is its layer's first."""
        return index == 0 or self.slices[index - 1].layer != self.slices[index].layer

    def last(self, index: int) -> bool:
        """Whether it is its layer's last."""
        return self.first(index + 1) if index + 1 < len(self.slices) else True

    def crosses(self, index: int) -> bool:
        """Whether the next slice is on another node; of the last slice it is not."""
        behind = self.slices[index + 1 : index + 2]
        return any(each.node != self.slices[index].node for each in behind)

    def _usual(self, kind: str, place: int) -> int:
        """With which nothing waits long: a window, what is next, and a row of margin."""
        if kind.startswith("send") or kind in ("sums", "deltas", "own"):
            return 2
        layer = self.layers[self.slices[place].layer]
        if kind == "features":
            return self.depth * layer.inputs
        if kind == "maps":
            return layer.kernel + layer.stride + 1
        sums = (layer.kernel - 1) // layer.stride + 1 + layer.window
        return sums // layer.step + 3
