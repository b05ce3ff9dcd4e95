"""The layers that a graph's nodes become, one node after the other.

Whether a layer is possible, and of what size its maps are, the reader of network files says: it is
given each layer as it would stand in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.formats import FORMATS
from merp.models.network.network import Layer
from merp.models.network.network_file import network_of
from merp.models.network.network_keys import AUTO
from merp.models.network.registry import machine_for
from merp.models.onnx.folding import Fold
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer, Size
from merp.models.onnx.layer_names import layer_name
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor

MOST_LAYERS = 512


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value that depends on the images.

    Attributes:
        layer: whose sums or output it is; None of the images.
        stage: nodes that the layer had then; it is the layer's output if no more come.
        size: rows, columns, channels. flat: it is a row of features.
        flattened: the size of the maps whose elements those are; None if they are no maps'.
        ended: the node behind which nothing may come.
    """

    layer: ModelLayer | None
    stage: int
    size: Size
    flat: bool
    flattened: Size | None = None
    ended: Node | None = None

    @property
    def latest(self) -> bool:
        """Whether no node has changed its layer since."""
        return self.layer is None or self.stage == len(self.layer.nodes)


class Assembly:
    """Layers so far, the values of the graph so far, and the one that the next node gets.

    Attributes:
        graph: whose nodes they are. layers: so far. values: by name. value: what the node takes.
        done: nodes so far, each with the layer whose its output is; None of the images.
        said: what became of nodes that are no layers, a line each.
        partial: layers that no design runs are kept, for their traffic.
    """

    def __init__(self, graph: Graph, name: str, partial: bool) -> None:
        self.graph = graph
        self.name = name
        self.partial = partial
        self.format = next(key for key, fmt in FORMATS.items() if fmt == graph.image.kind.fmt)
        self.layers: list[ModelLayer] = []
        self.value = Value(layer=None, stage=0, size=graph.image.size, flat=graph.image.flat)
        self.values = {graph.image.name: self.value}
        self.done: dict[Node, ModelLayer | None] = {}
        self.said: dict[Node, str] = {}

    def tables(self, layers: Sequence[ModelLayer]) -> dict[str, Any]:
        """The tables of a network file of some of the layers."""
        head = self._head(self.graph.image.size)
        return {"network": head, "layer": [layer.table for layer in layers]}

    def begin(
        self,
        node: Node,
        kind: str,
        weight: Tensor,
        bias: Tensor | None,
        keys: dict[str, Any],
        *,
        inputs_first: bool = False,
    ) -> None:
        """Begin a layer, without ReLU and pooling, at ``node``; ``keys`` of [[layer]].

        Raises:
            BadInput: the layer is not possible.
        """
        if len(self.layers) >= MOST_LAYERS:
            raise node.refuse(f"layer {MOST_LAYERS + 1:,}: allowed are at most {MOST_LAYERS:,}")
        self._check_type(node, weight, bias)
        number = len(self.layers) + 1
        taken = [layer.name for layer in self.layers]
        name = layer_name(kind, node.name, number, taken)
        layer = ModelLayer(
            node=node,
            table={"name": name, **keys, "relu": False, "design": AUTO},
            weight=weight,
            bias=bias,
            source=self.value.layer,
            front=self.size,
            inputs_first=inputs_first,
            flattened=self.value.flattened,
            nodes=[node],
            output=node.outputs[0],
        )
        probe = self._probe(node, layer.table, layer.front)
        self._check_design(layer, node, probe)
        self._take(self.value, node)
        self.layers.append(layer)
        self.value = Value(layer=layer, stage=1, size=_output(probe), flat=kind == "fc")

    def extend(self, node: Node, keys: dict[str, Any]) -> None:
        """Add ReLU or pooling, ``keys`` of [[layer]], to the layer whose value ``node`` takes.

        Raises:
            BadInput: the layer is not possible.
        """
        layer = self.changed(node)
        probe = self._probe(node, layer.table | keys, layer.front)
        self._check_design(layer, node, probe)
        layer.table |= keys
        self._belongs(node, layer, _output(probe))

    def fold(self, node: Node, fold: Fold) -> None:
        """Fold what ``node`` does into the layer whose sums it takes.

        Raises:
            BadInput: there is none, or something lies between.
        """
        layer = self.changed(node)
        if not layer.plain or self.value.flattened:
            raise node.refuse("must follow its convolution or full connection directly")
        self._check_type(node, *fold.tensors)
        layer.folds.append(fold)
        layer.folded.append(node)
        layer.output = node.outputs[0]
        self._belongs(node, layer, self.size)
        self.said[node] = f"{node.label} is folded into {layer.name}, in binary64, rounded once"

    def join(self, node: Node, adder: Value, other: Value) -> None:
        """Let the layer of ``adder`` add the output ``other`` to its sums, at ``node``.

        Raises:
            BadInput: one of them is not what its layer gives, or ``other`` is added already.
        """
        self.value = adder
        layer = self.changed(node)
        for each in self.layers:
            if other.layer is not None and each.added is other.layer and each.adding is not None:
                raise node.refuse(
                    f"adds the output of {other.layer.name}, as {each.adding.label} does: allowed "
                    "is one addition of it"
                )
        self._take(other, node)
        layer.added, layer.adding = other.layer, node
        self._belongs(node, layer, self.size)

    def last(self, node: Node) -> ModelLayer:
        """The layer whose value ``node`` takes.

        Raises:
            BadInput: it takes the images.
        """
        if self.value.layer is None:
            raise node.refuse("must follow a convolution or a full connection")
        return self.value.layer

    def changed(self, node: Node) -> ModelLayer:
        """The same, for ``node`` to become a part of it.

        Raises:
            BadInput: something else takes its value, too.
        """
        layer = self.last(node)
        self._check_latest(self.value, node)
        if layer.taken is not None:
            raise _taken_twice(layer, node, layer.taken)
        return layer

    def end(self, node: Node) -> None:
        """Let nothing follow ``node``."""
        self.value = replace(self.value, ended=node)

    @property
    def size(self) -> Size:
        """Rows, columns, channels of what the node gets."""
        return self.value.size

    @property
    def flat(self) -> bool:
        """Whether the node gets a row of features."""
        return self.value.flat

    @property
    def activated(self) -> bool:
        """Whether the layer in front has ReLU."""
        return self.value.layer is not None and self.value.layer.activated

    @property
    def pooled(self) -> dict[str, Any] | None:
        """The pooling of the layer in front."""
        return self.value.layer.pooled if self.value.layer else None

    @property
    def maps(self) -> int:
        """Maps, or features, of what the node gets."""
        return self.size[2]

    @property
    def elements(self) -> int:
        """Elements of what the node gets, of an image."""
        rows, columns, channels = self.size
        return rows * columns * channels

    def flatten(self) -> None:
        """Make the maps a row of features."""
        if not self.flat:
            self.value = replace(self.value, flat=True, flattened=self.size)

    def _belongs(self, node: Node, layer: ModelLayer, size: Size) -> None:
        """Make ``node`` a part of a layer, and its output the layer's, of a size."""
        layer.nodes.append(node)
        self.value = replace(self.value, stage=len(layer.nodes), size=size)

    def _take(self, value: Value, node: Node) -> None:
        """Let ``node`` take or add the output of a layer, which is complete then."""
        if value.layer is None:
            if self.layers:
                first = self.layers[0].node
                raise node.refuse(
                    f"takes the images, as {first.label} does: allowed is one layer that does"
                )
            return
        self._check_latest(value, node)
        value.layer.taken = node

    def _check_latest(self, value: Value, node: Node) -> None:
        if value.layer is not None and not value.latest:
            raise _taken_twice(value.layer, node, value.layer.nodes[value.stage])

    def _head(self, images: Size) -> dict[str, Any]:
        size = dict(zip(("rows", "columns", "channels"), images, strict=True))
        return {"name": self.name, "format": self.format, "input": size}

    def _probe(self, node: Node, table: dict[str, Any], front: Size) -> Layer:
        """The layer of a table alone, as the reader of network files takes it."""
        tables = {"network": self._head(front), "layer": [table]}
        return network_of(node.where, tables).layers[0]

    def _check_design(self, layer: ModelLayer, node: Node, probe: Layer) -> None:
        """See that a design can be made for the layer, whatever its number of maps."""
        if probe.kind == "fc":  # runs on any design, folded
            return
        smallest, numbers = replace(probe.shape, n=1, m=1), FORMATS[self.format]
        try:
            machine_for(numbers).check_size(smallest, numbers)
        except ValueError as error:
            if not self.partial:
                raise node.refuse(f"no design: {error}") from error
            layer.traffic_only = str(error)
            layer.table.pop("design", None)

    def _check_type(self, node: Node, *tensors: Tensor | None) -> None:
        for tensor in tensors:
            if tensor is not None and tensor.kind != self.graph.image.kind:
                found = "unknown" if tensor.kind is None else tensor.kind.name
                wanted = self.graph.image.kind.name
                raise node.refuse(
                    f"{shown(tensor.name)} is of type {found}: must be {wanted}, as the images are"
                )


def _output(layer: Layer) -> Size:
    shape = layer.shape
    return shape.pooled_rows, shape.pooled_columns, layer.biases


def _taken_twice(layer: ModelLayer, node: Node, other: Node) -> BadInput:
    return node.refuse(
        f"takes what {other.label} takes, too: allowed is that of the output of {layer.name}, "
        "behind normalisation, addition, ReLU and pooling"
    )
