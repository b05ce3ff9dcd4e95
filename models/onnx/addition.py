"""Import Add: a constant is added as a bias, and two layers are added as a residual connection."""

from __future__ import annotations

from merp.models.base.errors import shown
from merp.models.onnx.assembly import Assembly, Value
from merp.models.onnx.branches import may_add
from merp.models.onnx.folding import Bias
from merp.models.onnx.node import Node


def add(assembly: Assembly, node: Node) -> None:
    """Import Add of a constant or of the outputs of two layers."""
    node.takes(2)
    if len(node.inputs) < 2 or not all(node.inputs):
        raise node.refuse("an input is missing: allowed are two")
    known = [name in node.constants for name in node.inputs]
    if any(known):
        _bias(assembly, node, known.index(True))
    else:
        _residual(assembly, node)


def _bias(assembly: Assembly, node: Node, index: int) -> None:
    """Add the constant input ``index`` to the sums of the previous layer."""
    bias = node.required(index)
    each = (assembly.maps,) + (1,) * (0 if assembly.flat else 2)
    # One number for each map, with or without an axis of images; or one number for all maps.
    spread = [(1,) * axes for axes in range(len(each) + 2)]
    if bias.shape not in (each, (1, *each), *spread):
        raise node.bad("constant's size", bias.shape, f"{each}, a bias for each map")
    assembly.fold(node, Bias(bias))


def _residual(assembly: Assembly, node: Node) -> None:
    """Add the output of one layer to the sums of the other layer.

    If both layers can be the adder, the later one is chosen. If the network then has no valid order
    of layers, the earlier one is chosen. The sums are the same.
    """
    for index, name in enumerate(node.inputs, 1):
        if name not in assembly.values:
            raise node.refuse(
                f"input {index} {shown(name)}: must be a constant or the output of a layer"
            )
    values = [assembly.values[name] for name in node.inputs]
    one, other = map(shown, node.inputs)
    layers = [value.layer for value in values if value.layer is not None]
    if len(layers) < 2:
        raise node.refuse("adds the images: allowed are outputs of layers; images have no delta")
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
            f"neither {one} nor {other} are plain sums: must be unused elsewhere, directly after "
            "a convolution or full connection, before addition, ReLU or pooling"
        )
    adder = free.index(True)
    if all(free):
        adder = int(assembly.layers.index(layers[1]) > assembly.layers.index(layers[0]))
        if not may_add(layers[adder], layers[1 - adder], assembly.layers):
            adder = 1 - adder
    assembly.join(node, values[adder], values[1 - adder])


def _free(assembly: Assembly, name: str) -> bool:
    """Return whether a value is a plain sum that no other node uses."""
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
