"""Import Add, Sub, Mul, Div and Sum: constants are folded into a layer, two layers are added."""

from __future__ import annotations

from merp.models.base.errors import shown
from merp.models.onnx.assembly import Assembly, Value
from merp.models.onnx.axes import CHANNELS_FIRST
from merp.models.onnx.branches import may_add
from merp.models.onnx.folding import Constant
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.node import Node
from merp.models.onnx.together import Together


def add(assembly: Assembly, node: Node) -> None:
    """Import Add of a constant or of the outputs of two layers."""
    if not _known(node):
        _residual(assembly, node)
    else:
        _constant(assembly, node)


def scale(assembly: Assembly, node: Node) -> None:
    """Import Mul, Sub or Div by a constant, as a part of a normalisation."""
    known = _known(node)
    if not known or (node.operator in ("Sub", "Div") and known != [1]):
        second = "the second input" if node.operator in ("Sub", "Div") else "one input"
        raise node.refuse(f"{second}: must be a constant, that of a normalisation")
    _constant(assembly, node)


def total(assembly: Assembly, node: Node) -> None:
    """Import Sum of one value, which it returns, or of two."""
    if len(node.inputs) > 2:
        raise node.refuse(f"{len(node.inputs)} inputs: allowed are two, several sums in a row")
    if len(node.inputs) == 2:
        add(assembly, node)


def _known(node: Node) -> list[int]:
    """Return the indices of the constants among two inputs."""
    node.takes(2)
    if len(node.inputs) < 2 or not all(node.inputs):
        raise node.refuse("an input is missing: allowed are two")
    return [index for index, name in enumerate(node.inputs) if name in node.constants]


def _constant(assembly: Assembly, node: Node) -> None:
    """Fold the constant input into the previous layer."""
    (index,) = _known(node)
    constant = node.required(index)
    after = () if assembly.flat else assembly.value.axes
    each = (assembly.maps,) + (1,) * (len(after) - 1 - after.index(1) if after else 0)
    # One number for each map, with or without axes in front of it; or one number for all maps.
    most = 2 if assembly.flat else 4
    sizes = [(1,) * more + each for more in range(most + 1 - len(each))]
    if constant.shape not in [*sizes, *((1,) * axes for axes in range(most + 1))]:
        raise node.bad("constant's size", constant.shape, f"{each}, a number for each map")
    assembly.fold(node, Constant(node.operator, constant))


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
    layers = [value.layer for value in values if isinstance(value.layer, ModelLayer)]
    for value in values:
        if isinstance(value.layer, Together):
            raise node.refuse(
                f"adds {value.layer.name}, maps of several layers: must be the output of one layer"
            )
    if len(layers) < 2:
        raise node.refuse("adds the images: allowed are outputs of layers; images have no delta")
    if layers[0] is layers[1]:
        raise node.refuse(
            f"adds {one} and {other}, of the same layer {layers[0].name}: allowed are two layers"
        )
    if _form(values[0]) != _form(values[1]):
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


def _form(value: Value) -> tuple[object, ...]:
    """Return the size of a value and the order of its elements."""
    return value.size, value.flat, value.order


def _by(value: Value) -> str:
    rows, columns, maps = value.size
    size = f"{rows} x {columns} x {maps}"
    if not value.flat:
        return size if value.order == CHANNELS_FIRST else f"{size}, transposed"
    return f"{size} in a row" if rows * columns > 1 else f"{maps} features"
