"""Add: of a constant a bias, of two layers a residual connection."""

from __future__ import annotations

from merp.models.base.errors import shown
from merp.models.onnx.assembly import Assembly, Value
from merp.models.onnx.branches import may_add
from merp.models.onnx.folding import Bias
from merp.models.onnx.node import Node


def add(assembly: Assembly, node: Node) -> None:
    """Add of a constant or of what a layer gives."""
    node.takes(2)
    if len(node.inputs) < 2 or not all(node.inputs):
        raise node.refuse("an input is missing: allowed are two")
    known = [name in node.constants for name in node.inputs]
    if any(known):
        _bias(assembly, node, known.index(True))
    else:
        _residual(assembly, node)


def _bias(assembly: Assembly, node: Node, index: int) -> None:
    """Add input ``index``, a constant, to the sums of the layer in front."""
    bias = node.required(index)
    each = (assembly.maps,) + (1,) * (0 if assembly.flat else 2)
    # One number for each map, with or without an axis of images; or one number for all.
    spread = [(1,) * axes for axes in range(len(each) + 2)]
    if bias.shape not in (each, (1, *each), *spread):
        raise node.bad("constant's size", bias.shape, f"{each}, a bias for each map")
    assembly.fold(node, Bias(bias))


def _residual(assembly: Assembly, node: Node) -> None:
    """Let one of two layers add the output of the other one to its sums.

    Where each of them could, the later one does, if there is an order of layers then: the same
    sums either way.
    """
    for index, name in enumerate(node.inputs, 1):
        if name not in assembly.values:
            raise node.refuse(
                f"input {index} {shown(name)} is neither a constant nor of a layer: must be one"
            )
    values = [assembly.values[name] for name in node.inputs]
    one, other = map(shown, node.inputs)
    layers = [value.layer for value in values if value.layer is not None]
    if len(layers) < 2:
        raise node.refuse("adds the images: allowed are outputs of layers, as images have no delta")
    if layers[0] is layers[1]:
        raise node.refuse(
            f"adds {one} and {other}, of the same layer {layers[0].name}: allowed are two layers"
        )
    if values[0].size != values[1].size or values[0].flat != values[1].flat:
        raise node.refuse(
            f"adds {one} of {_by(values[0])} and {other} of {_by(values[1])}: must be of the same "
            "size, maps are not broadcast"
        )
    free = [_free(assembly, name) for name in node.inputs]
    if not any(free):
        raise node.refuse(
            f"neither {one} nor {other} are plain sums: must be those of a convolution or full "
            "connection that nothing else takes, with no addition, ReLU or pooling between"
        )
    adder = free.index(True)
    if all(free):
        adder = int(assembly.layers.index(layers[1]) > assembly.layers.index(layers[0]))
        if not may_add(layers[adder], layers[1 - adder], assembly.layers):
            adder = 1 - adder
    assembly.join(node, values[adder], values[1 - adder])


def _free(assembly: Assembly, name: str) -> bool:
    """Whether a value is sums that only the one node takes that asks."""
    value, users = assembly.values[name], assembly.graph.users[name]
    return (
        value.layer is not None
        and value.layer.plain
        and value.layer.taken is None
        and len(users) == 1
    )


def _by(value: Value) -> str:
    rows, columns, maps = value.size
    size = f"{rows} x {columns} x {maps}"
    if not value.flat:
        return size
    return f"{size} in a row" if rows * columns > 1 else f"{maps} features"
