"""Convert the nodes of a graph to layers, one node after the other.

Each layer becomes a table of a network file. The reader of network files checks the table, and
calculates the size of the layer's maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from merp.models.base.errors import BadInput, shown
from merp.models.base.formats import FORMATS
from merp.models.base.toml_section import Section
from merp.models.network.layer_section import output_of, read_input, read_layer
from merp.models.network.network import Layer
from merp.models.network.network_keys import AUTO
from merp.models.network.registry import machine_for
from merp.models.onnx.axes import CHANNELS_FIRST, CHANNELS_LAST, Axes
from merp.models.onnx.folding import Fold
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer, Size
from merp.models.onnx.layer_names import layer_name
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor
from merp.models.onnx.together import Front, Together, parts_of
from merp.models.onnx.windows import Padding

MOST_LAYERS = 512

DIFFERS = "the results differ from those of the model"
"""End of a note on a node that an option changes or omits."""


class HalfMean(NamedTuple):
    """A mean over one axis of maps.

    Attributes:
        node: the ReduceMean.
        axes: the axes of its output.
        axis: the axis, 2 for rows or 3 for columns.
    """

    node: Node
    axes: Axes
    axis: int


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value that depends on the images.

    Attributes:
        layer: the layer or layers that compute the value; None for the images.
        stage: number of the layer's nodes up to this value. The value after the last node is the
            output of the layer.
        size: rows, columns, channels.
        flat: whether the value is a vector of features.
        axes: the order of the axes of maps, and of the maps that were flattened.
        padding: elements around the maps that their layer does not compute, if any.
        halved: a mean over rows or columns alone, which the other mean must follow, if any.
        flattened: the size of the maps that were flattened into the features, channels first. It is
            None if no maps were flattened, or maps with channels last, the order of merp.
        ended: a node that must be the last one, if the value follows such a node.
    """

    layer: Front | None
    stage: int
    size: Size
    flat: bool
    axes: Axes = CHANNELS_FIRST
    padding: Padding | None = None
    halved: HalfMean | None = None
    flattened: Size | None = None
    ended: Node | None = None

    @property
    def order(self) -> Axes:
        """The order of the elements; maps of one element have only one."""
        return CHANNELS_FIRST if self.size[:2] == (1, 1) else self.axes

    @property
    def latest(self) -> bool:
        """Whether the value is after the last node of its layer so far."""
        return self.layer is None or self.stage == len(self.layer.nodes)


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Differences between the model and the network that an import accepts.

    Attributes:
        partial: layers that no design can run, for traffic only, and unsupported nodes at the end.
        without_lrn: local response normalisations, which are omitted.
        count_padding: averages that leave out padding, which counts as zeros.
    """

    partial: bool = False
    without_lrn: bool = False
    count_padding: bool = False


NO_DIFFERENCE = Allowed()


class Assembly:
    """The layers and values of the graph so far, and the input of the current node.

    Attributes:
        graph: the graph of the nodes.
        name: name of the network.
        allowed: differences from the model that are accepted.
        format: number format of the network.
        layers: the layers so far.
        values: the values so far, by name.
        value: input of the current node, and then its output.
        done: the converted nodes. Each has the layers of its output, or none for the images.
        said: notes on nodes that are not layers, one line per node.
    """

    def __init__(self, graph: Graph, name: str, allowed: Allowed) -> None:
        self.graph = graph
        self.name = name
        self.allowed = allowed
        self.format = next(key for key, fmt in FORMATS.items() if fmt == graph.image.kind.fmt)
        self.layers: list[ModelLayer] = []
        image = graph.image
        read_input(Section(graph.file, "network: input", self._head(image.size)["input"]))
        self.value = Value(layer=None, stage=0, size=image.size, flat=image.flat, axes=image.axes)
        self.values = {image.name: self.value}
        self.done: dict[Node, tuple[ModelLayer, ...]] = {}
        self.said: dict[Node, str] = {}

    def tables(self, layers: Sequence[ModelLayer]) -> dict[str, Any]:
        """Return the tables of a network file with the given layers."""
        head = self._head(self.graph.image.size)
        return {"network": head, "layer": [layer.table for layer in layers]}

    def begin(
        self,
        node: Node,
        kind: str,
        weight: Tensor | None,
        bias: Tensor | None,
        keys: dict[str, Any],
        *,
        inputs_first: bool = False,
    ) -> None:
        """Begin a layer at ``node``; ``keys`` belong to [[layer]], pooling of its own, too.

        Raises:
            BadInput: merp does not support the layer.
        """
        if len(self.layers) >= MOST_LAYERS:
            raise node.refuse(f"layer {MOST_LAYERS + 1:,}: allowed are at most {MOST_LAYERS:,}")
        self._check_type(node, weight, bias)
        number = len(self.layers) + 1
        taken = [layer.name for layer in self.layers]
        name = layer_name(kind, node.name, number, taken)
        layer = ModelLayer(
            node=node,
            table={"name": name, **({"relu": False} if weight else {}), **keys, "design": AUTO},
            weight=weight,
            bias=bias,
            source=self.value.layer,
            front=self.size,
            inputs_first=inputs_first,
            flattened=self.value.flattened,
            nodes=[node],
        )
        probe = self._probe(node, layer.table, layer.front)
        self._check_design(layer, node, probe)
        self._take(self.value, node)
        self.layers.append(layer)
        self.value = Value(layer=layer, stage=1, size=output_of(probe), flat=kind == "fc")

    def extend(self, node: Node, keys: dict[str, Any]) -> None:
        """Add ReLU or pooling to the layers before ``node``; ``keys`` belong to [[layer]].

        Raises:
            BadInput: merp does not support the layer.
        """
        front = self.changed(node)
        maps, parts = self.maps, parts_of(front)
        size = self.size
        for part in parts:
            table = part.extended(keys)
            probe = self._probe(node, table, part.front)
            part.table = table
            self._check_design(part, node, probe)
            size = output_of(probe)
        self._belongs(node, front, (*size[:2], maps))

    def fold(self, node: Node, fold: Fold) -> None:
        """Fold the operation of ``node`` into the layer whose sums it uses.

        Raises:
            BadInput: there is no such layer, or another node is between them.
        """
        layer = self.changed(node)
        flattened = self.flat and (self.value.flattened or self.size[:2] != (1, 1))
        if isinstance(layer, Together) or not layer.plain or flattened:
            raise node.refuse(
                "must follow its convolution or full connection directly: elsewhere it needs a "
                "block that scales maps"
            )
        self._check_type(node, *fold.tensors)
        layer.folds.append(fold)
        layer.folded.append(node)
        self._belongs(node, layer, self.size)
        self.said[node] = f"{node.label} is folded into {layer.name}, in binary64 with one rounding"

    def join(self, node: Node, adder: Value, other: Value) -> None:
        """Add the output ``other`` to the sums of the layer of ``adder``; ``node`` is the Add.

        Raises:
            BadInput: one of them is not the output of its layer, or ``other`` is already added.
        """
        self.value = adder
        layer = self.changed(node)
        assert isinstance(layer, ModelLayer)
        assert isinstance(other.layer, ModelLayer)
        for each in self.layers:
            if each.added is other.layer and each.adding is not None:
                raise node.refuse(
                    f"adds the output of {other.layer.name}, as {each.adding.label} does: allowed "
                    "is one addition of it"
                )
        self._take(other, node)
        layer.added, layer.adding = other.layer, node
        self._belongs(node, layer, self.size)

    def last(self, node: Node) -> Front:
        """Return the layer or layers before ``node``.

        Raises:
            BadInput: the input of the node is the images.
        """
        if self.value.layer is None:
            raise node.refuse("must follow a convolution or a full connection")
        return self.value.layer

    def changed(self, node: Node) -> Front:
        """Return the layer or layers before ``node``, of which the node becomes a part.

        Raises:
            BadInput: another node also uses its value.
        """
        layer = self.last(node)
        self._check_latest(self.value, node)
        if layer.taken is not None:
            raise _taken_twice(layer, node, layer.taken)
        return layer

    def others(self, value: Value, node: Node) -> list[Node]:
        """Return the nodes besides ``node`` that use a value, under any name.

        Nodes that pass a value on give it another name. They are done, and their users count.
        """
        same = value.layer, value.stage
        names = [name for name, each in self.values.items() if (each.layer, each.stage) == same]
        users = [user for name in names for user in self.graph.users.get(name, ())]
        found = [user for user in users if user is not node and user not in self.done]
        if value.layer is not None and value.layer.taken is not None:
            found.append(value.layer.taken)
        return found

    def take_alone(self, value: Value, name: str, node: Node) -> None:
        """Record that ``node``, and no other node, uses the output ``name`` of layers.

        Raises:
            BadInput: another node uses it, too.
        """
        others = self.others(value, node)
        if others:
            raise node.refuse(
                f"joins {shown(name)}, which {others[0].label} uses, too: must be its only use: "
                "elsewhere it needs a block that copies maps"
            )
        self._take(value, node)
        for part in parts_of(value.layer):
            part.taken = node

    def end(self, node: Node) -> None:
        """Mark ``node`` as the last node; no other node may follow it."""
        self.value = replace(self.value, ended=node)

    @property
    def size(self) -> Size:
        """Rows, columns and channels of the node's input."""
        return self.value.size

    @property
    def flat(self) -> bool:
        """Whether the node's input is a vector of features."""
        return self.value.flat

    @property
    def activated(self) -> bool:
        """Whether the previous layer has ReLU."""
        return self.value.layer is not None and self.value.layer.activated

    @property
    def pooled(self) -> dict[str, Any] | None:
        """The pooling of the previous layer."""
        return self.value.layer.pooled if self.value.layer else None

    @property
    def maps(self) -> int:
        """Number of maps, or features, of the node's input."""
        return self.size[2]

    @property
    def elements(self) -> int:
        """Number of elements of the node's input for one image."""
        rows, columns, channels = self.size
        return rows * columns * channels

    def flatten(self, node: Node) -> None:
        """Convert the maps to a vector of features.

        Raises:
            BadInput: the order of the axes is neither that of ONNX nor that of merp.
        """
        if self.flat:
            return
        order = self.value.order
        if self.value.axes[0] != 0 or order not in (CHANNELS_FIRST, CHANNELS_LAST):
            raise node.refuse("takes transposed maps: allowed are channels in front or at the end")
        flattened = self.size if order == CHANNELS_FIRST else None
        self.value = replace(self.value, flat=True, flattened=flattened)

    def unflatten(self) -> None:
        """Convert features to maps of one element."""
        self.value = replace(self.value, flat=False, flattened=None, axes=CHANNELS_FIRST)

    def transpose(self, axes: Axes) -> None:
        """Give the axes of the maps another order."""
        self.value = replace(self.value, axes=axes)

    def halve(self, mean: HalfMean | None) -> None:
        """Note a mean over one axis of the maps, or that both means are complete."""
        self.value = replace(self.value, halved=mean)

    def pad(self, padding: Padding) -> None:
        """Add elements around the maps, for the convolution or pooling that follows."""
        self.value = replace(self.value, padding=padding)

    def _belongs(self, node: Node, layer: Front, size: Size) -> None:
        """Make ``node`` a part of a layer, whose output then has the size ``size``."""
        layer.nodes.append(node)
        self.value = replace(self.value, stage=len(layer.nodes), size=size, padding=None)

    def _take(self, value: Value, node: Node) -> None:
        """Record that ``node`` uses or adds the output of a layer; the layer is then complete."""
        if value.layer is None:
            if self.layers:
                first = self.layers[0].node
                raise node.refuse(
                    f"uses the images, as {first.label} does: allowed is one such layer"
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
        """Read a table of a network file, of a layer that takes maps of size ``front``."""
        section = Section(node.where, "layer", table)
        name, designs = section.name(), {AUTO: None}
        return read_layer(section, name, front, designs, {}, FORMATS[self.format])

    def _check_design(self, layer: ModelLayer, node: Node, probe: Layer) -> None:
        """Check that a design can run the layer with any number of maps."""
        if probe.kind == "fc":  # any design runs a fully connected layer, in folded form
            return
        smallest, numbers = replace(probe.shape, n=1, m=1), FORMATS[self.format]
        try:
            machine_for(numbers).check_size(smallest, numbers)
        except ValueError as error:
            if not self.allowed.partial:
                raise node.refuse(f"no design: {error}") from error
            layer.traffic_only = str(error)
            layer.table.pop("design", None)

    def _check_type(self, node: Node, *tensors: Tensor | None) -> None:
        for tensor in tensors:
            if tensor is not None and tensor.kind != self.graph.image.kind:
                found = "unknown" if tensor.kind is None else tensor.kind.name
                wanted = self.graph.image.kind.name
                raise node.refuse(
                    f"{shown(tensor.name)} is of type {found}: must be {wanted}, like the images"
                )


def _taken_twice(layer: Front, node: Node, other: Node) -> BadInput:
    return node.refuse(
        f"uses the same value as {other.label}: allowed is the output of {layer.name}, after its "
        "normalisation, addition, ReLU and pooling"
    )
