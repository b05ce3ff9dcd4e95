"""Import Concat of maps: the layers write them into one tensor."""

from __future__ import annotations

from merp.models.base.errors import shown
from merp.models.onnx.assembly import Assembly, Value
from merp.models.onnx.axes import meant
from merp.models.onnx.node import Node
from merp.models.onnx.together import Together, parts_of


def concat(assembly: Assembly, node: Node) -> None:
    """Import Concat along the maps of the outputs of layers, which nothing else uses."""
    values = [_value(assembly, node, index, name) for index, name in enumerate(node.inputs, 1)]
    one = values[0]
    axis = node.whole("axis", 1)
    if meant((0, 1) if one.flat else one.axes, [axis]) != {1}:
        raise node.bad("axis", axis, f"{1 if one.flat else one.axes.index(1)}, that of the maps")
    if len(values) == 1:
        return
    for name, value in zip(node.inputs, values, strict=True):
        if (*value.size[:2], value.flat, value.axes) != (*one.size[:2], one.flat, one.axes):
            raise node.refuse(
                f"joins {shown(node.inputs[0])} and {shown(name)} of different sizes: must have "
                "equal rows and columns"
            )
        if value.flat and value.size[:2] != (1, 1):
            raise node.refuse("joins flattened maps: must join them before Flatten")
    parts = [part for value in values for part in parts_of(value.layer)]
    for part in parts:
        if parts.count(part) > 1:
            raise node.refuse(f"joins the output of {part.name} to itself: must be different maps")
    for name, value in zip(node.inputs, values, strict=True):
        assembly.take_alone(value, name, node)
    size = *one.size[:2], sum(value.size[2] for value in values)
    together = Together(parts=tuple(parts), nodes=[node])
    assembly.value = Value(layer=together, stage=1, size=size, flat=one.flat, axes=one.axes)


def _value(assembly: Assembly, node: Node, index: int, name: str) -> Value:
    if name not in assembly.values:
        raise node.refuse(f"input {index} {shown(name)}: must be the output of a layer")
    value = assembly.values[name]
    if value.layer is None:
        raise node.refuse("joins the images: allowed are outputs of layers")
    return value
