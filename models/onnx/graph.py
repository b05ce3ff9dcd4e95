"""The graph of a model: its constants, its input, and its nodes."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.onnx import computed
from merp.models.onnx.axes import CHANNELS_FIRST, CHANNELS_LAST, PERMUTATION, Axes
from merp.models.onnx.computed import Computed
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import DIMENSIONS, FLOAT_NAMES, KINDS, ElementType, Tensor

Type = tuple[tuple[int | None, ...] | None, ElementType | None]
"""Size of a value, with None for open axes, and type of its elements."""

SHORT = ("value_float", "value_floats", "value_int", "value_ints")
"""Attributes of Constant for a few numbers; onnxscript converts them to tensors."""

PLACE = "merp.place"
"""Key of the metadata that keeps the place of a node in the model."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """The input of the network.

    Attributes:
        name: name of the value.
        kind: type of its elements.
        batch: number of images, if the model fixes it.
        size: rows, columns, channels. An input without rows and columns has 1 row and 1 column, and
            its features are the channels.
        flat: whether the input has no rows and columns.
        axes: the order of its axes. They are (images, rows, columns, channels) if each node that
            uses the input transposes it from this order.
    """

    name: str
    kind: ElementType
    batch: int | None
    size: tuple[int, int, int]
    flat: bool
    axes: Axes = CHANNELS_FIRST


class Graph:
    """A graph with one input, the images, and one output.

    Attributes:
        file: name of the model in messages.
        folder: folder of the model, for external data.
        constants: the constants, by name.
        image: the input.
        nodes: the nodes that are not constants, in the order of the file.
        opset: version of the operator set.
        output: name of the output.
        users: by the name of a value, the nodes that use it. Constants are left out.
    """

    def __init__(
        self, file: str, model: Any, folder: Path, known: Mapping[str, Tensor] | None = None
    ) -> None:
        """Read the graph of a ``ModelProto``.

        A normalised model is without the numbers of the constants ``known``, and has the places of
        its nodes in the model of the file.

        Raises:
            BadInput: a constant is inconsistent, there is not exactly one input and one output, or
                a node uses a value that no earlier node computes.
        """
        graph = model.graph
        self.file = file
        self.folder = folder
        self.opset = next(x.version for x in model.opset_import if x.domain in ("", "ai.onnx"))
        self.constants = {**(known or {}), **self._initializers(graph)}
        types = {each.name: _type_of(each) for each in graph.value_info}
        self.nodes: list[Node] = []
        for index, proto in enumerate(graph.node):
            node = self._node(index if known is None else place_of(proto), proto)
            if not self._constant(node) and not self._computed(node, proto, types):
                self.nodes.append(node)
        self._check_order(graph)
        self._add_sizes(graph)
        self.image = self._image(graph)
        if len(graph.output) != 1:
            names = ", ".join(shown(each.name) for each in graph.output) or "none"
            raise BadInput(f"{file}: outputs {names}: allowed is one")
        self.output = graph.output[0].name
        self.users = self._used()

    def left(self, done: Container[Node]) -> list[Node]:
        """Return the nodes that are not among ``done``."""
        return [node for node in self.nodes if node not in done]

    def _initializers(self, graph: Any) -> dict[str, Tensor]:
        if graph.sparse_initializer:
            raise BadInput(f"{self.file}: sparse initializers: allowed are dense ones")
        found: dict[str, Tensor] = {}
        for proto in graph.initializer:
            if not proto.name or proto.name in found:
                raise BadInput(
                    f"{self.file}: initializer {shown(proto.name)}: must have a name of its own"
                )
            found[proto.name] = Tensor.of(self.file, proto.name, proto, self.folder)
        return found

    def _node(self, index: int, proto: Any) -> Node:
        return Node(
            file=self.file,
            index=index,
            name=proto.name,
            operator=proto.op_type,
            domain=proto.domain,
            inputs=tuple(proto.input),
            outputs=tuple(proto.output),
            attributes={each.name: each for each in proto.attribute},
            constants=self.constants,
        )

    def _constant(self, node: Node) -> bool:
        """Store the output of a node that is a constant, or another name of a constant.

        Return whether it is.
        """
        if node.operator == "Identity" and node.inputs and node.inputs[0] in self.constants:
            found = self.constants[node.inputs[0]]
        elif node.operator == "Constant" and not node.inputs:
            proto = node.tensor("value")
            if proto is None:
                if any(name in node.attributes for name in SHORT):
                    return False
                raise node.refuse("value is missing: allowed is a tensor of numbers")
            name = node.outputs[0] if node.outputs else ""
            found = Tensor.of(self.file, name, proto, self.folder)
        else:
            return False
        self._store(node, found)
        return True

    def _computed(self, node: Node, proto: Any, types: Mapping[str, Type]) -> bool:
        """Store the output of a node that computes a constant of a known size from constants.

        Return whether it does.
        """
        names = [name for name in node.inputs if name]
        sizes, kind = types.get(node.outputs[0] if node.outputs else "", (None, None))
        shape = [size for size in sizes or () if size is not None]
        if (
            node.operator not in computed.OPERATORS
            or node.domain not in OWN_DOMAINS
            or not names
            or not all(name in self.constants for name in names)
            or sizes is None
            or len(shape) != len(sizes)
        ):
            return False
        name = node.outputs[0]
        where = f"{self.file}: tensor {shown(name)}"
        inputs = {each: self.constants[each] for each in names}
        self._store(
            node,
            Computed(where, name, tuple(shape), kind, None, self.folder, proto, inputs, self.opset),
        )
        return True

    def _store(self, node: Node, constant: Tensor) -> None:
        if len(node.outputs) != 1 or not node.outputs[0] or node.outputs[0] in self.constants:
            raise node.refuse("output: must be one value with a name of its own")
        self.constants[node.outputs[0]] = constant

    def _check_order(self, graph: Any) -> None:
        """Check that each value is computed once, and before it is used."""
        made = {each.name for each in graph.input} | set(self.constants)
        for node in self.nodes:
            for name in node.inputs:
                if name and name not in made:
                    raise node.refuse(
                        f"input {shown(name)} is not computed by an earlier node: allowed is a "
                        "graph without cycles, in order"
                    )
            for name in filter(None, node.outputs):
                if name in made:
                    raise node.refuse(f"output {shown(name)} is computed twice: allowed is once")
                made.add(name)

    def _add_sizes(self, graph: Any) -> None:
        """Store inputs that are only used as weights, as constants without numbers."""
        maps = {node.inputs[0] for node in self.nodes if node.inputs}
        for each in graph.input:
            if each.name in self.constants or each.name in maps:
                continue
            sizes, kind = _type_of(each)
            if sizes is not None and None not in sizes:
                shape = tuple(size for size in sizes if size is not None)
                where = f"{self.file}: tensor {shown(each.name)}"
                self.constants[each.name] = Tensor(where, each.name, shape, kind, None, self.folder)

    def _image(self, graph: Any) -> Image:
        inputs = [each for each in graph.input if each.name not in self.constants]
        if len(inputs) != 1:
            names = ", ".join(shown(each.name) for each in inputs) or "none"
            raise BadInput(f"{self.file}: inputs {names}: allowed is one, of images")
        (proto,) = inputs
        where = f"{self.file}: input {shown(proto.name)}"
        sizes, kind = _type_of(proto)
        if kind is None or kind.fmt is None:
            raise BadInput(f"{where}: type of its elements: must be {FLOAT_NAMES}")
        if sizes is None or len(sizes) not in (2, 4):
            raise BadInput(
                f"{where}: size {shown(sizes)}: must be (images, channels, rows, columns), or "
                "(images, features)"
            )
        fixed = [size for size in sizes[1:] if size is not None and size > 0]
        if len(fixed) < len(sizes) - 1:
            raise BadInput(
                f"{where}: size {shown(tuple(_dimensions(proto)))}: all but the images must be "
                "numbers from 1: export the model for images of one size"
            )
        batch = sizes[0]
        if batch is not None and batch < 1:
            raise BadInput(f"{where}: {batch} images: must be 1 or more, or left open")
        flat = len(sizes) == 2
        axes = CHANNELS_FIRST if flat else self._image_axes(proto.name)
        rows, columns = (1, 1) if flat else (fixed[axes.index(axis) - 1] for axis in (2, 3))
        return Image(
            name=proto.name,
            kind=kind,
            batch=batch,
            size=(rows, columns, fixed[axes.index(1) - 1]),
            flat=flat,
            axes=axes,
        )

    def _image_axes(self, name: str) -> Axes:
        """Return the order of the input's axes, which the nodes that use it show."""
        users = [node for node in self.nodes if name in node.inputs]
        turned = all(
            node.operator == "Transpose" and node.wholes("perm", CHANNELS_FIRST) == PERMUTATION
            for node in users
        )
        return CHANNELS_LAST if users and turned else CHANNELS_FIRST

    def _used(self) -> Mapping[str, list[Node]]:
        users: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(filter(None, node.inputs)):
                if name not in self.constants:
                    users.setdefault(name, []).append(node)
        return users


def place_of(proto: Any) -> int:
    """Return the place of a node in the model of the file; -1 if the node is not in it."""
    return next((int(each.value) for each in proto.metadata_props if each.key == PLACE), -1)


def _type_of(proto: Any) -> Type:
    """Return the size of a ``ValueInfoProto``, with None for open axes, and its element type."""
    tensor = proto.type.tensor_type
    if not tensor.HasField("shape") or len(tensor.shape.dim) > DIMENSIONS:
        return None, KINDS.get(tensor.elem_type)
    sizes = (each.dim_value if each.HasField("dim_value") else None for each in tensor.shape.dim)
    return tuple(sizes), KINDS.get(tensor.elem_type)


def _dimensions(proto: Any) -> list[int | str]:
    """Return the size as in the model, with the names of open axes."""
    dims = proto.type.tensor_type.shape.dim
    return [each.dim_value if each.HasField("dim_value") else each.dim_param for each in dims]
