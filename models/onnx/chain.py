"""The chain of layers that a graph's nodes become, one node after the other.

Whether a layer is possible, and of what size its maps are, the reader of network files says: it is
given each layer as it would stand in one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from merp.models.errors import shown
from merp.models.network.network import Layer
from merp.models.network.network_file import network_of
from merp.models.network.network_keys import AUTO
from merp.models.onnx.folding import Fold
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer, Size
from merp.models.onnx.layer_names import layer_name
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor
from merp.models.params.cnn_merp.sizing import size_design
from merp.models.params.formats import FORMATS
from merp.models.params.shape import Shape

MOST_LAYERS = 512


class Chain:
    """Layers so far, and what the next node gets.

    Attributes:
        graph: whose nodes they are. layers: so far. size: rows, columns, channels of what the last
            one gives. flat: it is a row of features. pooled: the layer has its pooling, and
            activated: its ReLU. ended: the node behind which nothing may come.
        said: what became of nodes that are no layers, a line each.
        partial: layers that no design runs are kept, for their traffic.
    """

    def __init__(self, graph: Graph, name: str, partial: bool) -> None:
        self.graph = graph
        self.name = name
        self.partial = partial
        self.format = next(key for key, fmt in FORMATS.items() if fmt == graph.image.kind.fmt)
        self.layers: list[ModelLayer] = []
        self.size: Size = graph.image.size
        self.flat = graph.image.flat
        self.sums: Shape | None = None
        self.ended: Node | None = None
        self.said: list[str] = []
        self._from: Size = self.size
        self._flattened: Size | None = None

    @property
    def tables(self) -> dict[str, Any]:
        """The tables of a network file."""
        rows, columns, channels = self.graph.image.size
        size = {"rows": rows, "columns": columns, "channels": channels}
        head = {"name": self.name, "format": self.format, "input": size}
        return {"network": head, "layer": [layer.table for layer in self.layers]}

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
            inputs_first=inputs_first,
            flattened=self._flattened,
            nodes=[node],
            output=node.outputs[0],
        )
        front = self.size
        probe = self._probe(node, layer.table, front)
        self._check_design(node, layer, probe)
        self.layers.append(layer)
        self._from, self._flattened = front, None
        self._take(probe)
        self.flat = kind == "fc"

    def add(self, node: Node, keys: dict[str, Any]) -> None:
        """Add ReLU or pooling, ``keys`` of [[layer]], to the last layer.

        Raises:
            BadInput: the layer is not possible.
        """
        layer = self.last(node)
        probe = self._probe(node, layer.table | keys, self._from)
        self._check_design(node, layer, probe)
        layer.table |= keys
        layer.nodes.append(node)
        self._take(probe)

    def fold(self, node: Node, fold: Fold) -> None:
        """Fold what ``node`` does into the last layer, whose sums it takes.

        Raises:
            BadInput: there is none, or something lies between.
        """
        layer = self.last(node)
        if self.activated or self.pooled or self._flattened:
            raise node.refuse("must follow its convolution or full connection directly")
        self._check_type(node, *fold.tensors)
        layer.folds.append(fold)
        layer.folded.append(node)
        layer.nodes.append(node)
        layer.output = node.outputs[0]
        self.said.append(f"{node.label} is folded into {layer.name}, in binary64, rounded once")

    def last(self, node: Node) -> ModelLayer:
        """The last layer, which ``node`` belongs to.

        Raises:
            BadInput: there is none yet.
        """
        if not self.layers:
            raise node.refuse("must follow a convolution or a full connection")
        return self.layers[-1]

    @property
    def activated(self) -> bool:
        """Whether the last layer has ReLU."""
        return bool(self.layers) and bool(self.layers[-1].table["relu"])

    @property
    def pooled(self) -> dict[str, Any] | None:
        """The pooling of the last layer."""
        return self.layers[-1].table.get("pool") if self.layers else None

    @property
    def maps(self) -> int:
        """Maps, or features, of what the next node gets."""
        return self.size[2]

    @property
    def elements(self) -> int:
        """Elements of what the next node gets, of an image."""
        rows, columns, channels = self.size
        return rows * columns * channels

    def flatten(self) -> None:
        """Make the maps a row of features."""
        if not self.flat:
            self._flattened = self.size
        self.flat = True

    def _take(self, probe: Layer) -> None:
        shape = probe.shape
        self.sums = shape
        self.size = shape.pooled_rows, shape.pooled_columns, probe.groups * shape.m

    def _probe(self, node: Node, table: dict[str, Any], size: Size) -> Layer:
        """The layer of a table, as the reader of network files takes it."""
        head = self.tables["network"] | {
            "input": dict(zip(("rows", "columns", "channels"), size, strict=True))
        }
        return network_of(node.where, {"network": head, "layer": [table]}).layers[0]

    def _check_design(self, node: Node, layer: ModelLayer, probe: Layer) -> None:
        """See that a design can be made for the layer, whatever its number of maps."""
        if probe.kind == "fc":  # runs on any design, folded
            return
        smallest = replace(probe.shape, n=1, m=1)
        try:
            size_design([smallest], n_cu=1, r=1, fmt=FORMATS[self.format])
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
