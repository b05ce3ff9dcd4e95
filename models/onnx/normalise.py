"""Replace nodes that compute shapes by constants, with onnxscript's constant folding.

Exporters compute the shape of a Reshape from the size of a value: Shape, Gather, Concat. The number
of images is 1 in this computation if the model leaves it open. The library also infers the sizes of
all values. It gets no constants with many elements and no external data: they become inputs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from merp.models.base.errors import BadInput, one_line, shown
from merp.models.onnx.computed import OPERATORS
from merp.models.onnx.graph import PLACE, Graph, place_of
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.node import GRAPH, GRAPHS, TENSOR, Node
from merp.models.onnx.tensor import EXTERNAL, Tensor, code_of

FEW = 64
"""Most elements of a constant for the library; a shape has at most 8."""

NODES = 1 << 12
"""Most nodes of a model that the library gets; it needs about a millisecond for each."""

SEPARATE = 4
"""First version of the format in which initializers are not inputs."""

OF_SHAPES = OPERATORS | {
    "Abs", "Ceil", "Equal", "Floor", "Greater", "Less", "Max", "Min", "Mod", "Not", "ReduceProd",
    "Where",
}  # fmt: skip
"""Operators that exporters use to compute shapes."""


def is_normal(graph: Graph) -> bool:
    """Return whether no node of ``graph`` uses constants alone, or the size of a value."""
    return not any(
        node.operator in ("Shape", "Size")
        or all(each in graph.constants for each in filter(None, node.inputs))
        for node in graph.nodes
    )


def normalised(graph: Graph, model: Any) -> Graph:
    """Return the graph of a ``ModelProto`` without the nodes that compute shapes.

    Raises:
        BadInput: onnxscript is not installed, or cannot compute a value; or there are too many
            nodes.
    """
    if len(graph.nodes) > NODES:
        raise BadInput(
            f"{graph.file}: {len(graph.nodes):,} nodes: allowed are at most {NODES:,} in a model "
            "that computes shapes or weights"
        )
    if not any(graph.output in node.outputs for node in graph.nodes):
        raise BadInput(f"{graph.file}: output {shown(graph.output)}: must be computed by a node")
    try:
        import onnx_ir as ir
        from onnx_ir.passes.common import LiftConstantsToInitializersPass, RemoveUnusedNodesPass
        from onnxscript.optimizer import fold_constants
    except ImportError as error:
        raise BadInput(f"{graph.file}: needs onnxscript: pip install 'merp[onnx]'") from error
    outline = _outline(graph, model)
    try:
        with _silent():
            made = ir.serde.deserialize_model(outline)
            fold_constants(made, onnx_shape_inference=True, should_fold=_is_cheap)
            LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(made)
            RemoveUnusedNodesPass()(made)
            folded = ir.serde.serialize_model(made)
    except Exception as error:  # the library raises whatever its operators raise
        said = one_line(str(error.__cause__ or error), 200)
        raise BadInput(f"{graph.file}: its shapes cannot be computed: {said}") from error
    for node in folded.graph.node:  # the library gives names to nodes without a name
        place = place_of(node)
        node.name = model.graph.node[place].name if place >= 0 else ""
    return Graph(graph.file, folded, graph.folder, graph.constants)


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress warnings of the library about single nodes; the import itself checks all nodes."""
    loggers = [logging.getLogger(name) for name in ("onnx_ir", "onnxscript")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


def _outline(graph: Graph, model: Any) -> Any:
    """Return the model with few numbers; its other constants are inputs."""
    from onnx import helper

    made = type(model)(ir_version=max(model.ir_version, SEPARATE))
    made.opset_import.extend(model.opset_import)
    for node in graph.nodes:
        made.graph.node.append(_outlined(node, model.graph.node[node.index]))
    (image,) = (each for each in model.graph.input if each.name == graph.image.name)
    made.graph.input.append(image)
    first = made.graph.input[0].type.tensor_type.shape.dim[0]
    first.dim_value = graph.image.batch or 1
    for name, tensor in graph.constants.items():
        if _is_small(tensor):
            made.graph.initializer.append(tensor.proto)
            made.graph.initializer[-1].name = name
        else:
            value = helper.make_tensor_value_info(name, code_of(tensor.kind), tensor.shape)
            made.graph.input.append(value)
    made.graph.output.extend(model.graph.output)
    return made


def _outlined(node: Node, proto: Any) -> Any:
    """Return a copy of a node with its place in the model, without the graphs inside of it.

    Raises:
        BadInput: an attribute is external data.
    """
    made = type(proto)()
    made.CopyFrom(proto)
    del made.attribute[:], made.metadata_props[:]
    for each in proto.attribute:
        if each.type == TENSOR and each.t.data_location == EXTERNAL:
            raise node.refuse(f"{shown(each.name)} is external data: allowed is data in the model")
        if each.type not in (GRAPH, GRAPHS):
            made.attribute.append(each)
    made.metadata_props.add(key=PLACE, value=str(node.index))
    return made


def _is_small(tensor: Tensor) -> bool:
    proto = tensor.proto
    return (
        proto is not None
        and proto.data_location != EXTERNAL
        and tensor.kind is not None
        and prod(tensor.shape) <= FEW
    )


def _is_cheap(node: Any) -> bool:
    """Return whether the library computes a node of its representation, from constants alone."""
    inputs = [each.const_value for each in node.inputs if each is not None]
    if node.domain not in OWN_DOMAINS or node.op_type not in OF_SHAPES or len(node.outputs) != 1:
        return False
    if any(each.size > FEW for each in inputs):
        return False
    if node.op_type in ("ConstantOfShape", "Expand"):  # the last input is the size of the output
        return bool(abs(inputs[-1].numpy().astype(float)).prod() <= FEW)
    return True
