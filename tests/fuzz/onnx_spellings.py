"""Spell an ONNX model in another way: each node by others that compute the same."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import onnx_models as made

Nodes = list[Any]


class Spelling:
    """The constants of a model while its nodes are spelt, and names for new values."""

    def __init__(self, model: Any, draw: Random) -> None:
        """``draw`` chooses the spelling of each node."""
        from onnx import numpy_helper

        self.draw = draw
        self.constants = {
            each.name: numpy_helper.to_array(each) for each in model.graph.initializer
        }
        self.computed: Nodes = []
        self.count = 0

    def name(self) -> str:
        """Return a new name."""
        self.count += 1
        return f"n{self.count}"

    def constant(self, value: Any) -> str:
        """Store a constant and return its name."""
        name = self.name()
        self.constants[name] = np.asarray(value)
        return name

    def node(self, operator: str, inputs: str, **attributes: Any) -> Any:
        """Return a node with a new output."""
        return made.node(operator, inputs, self.name(), **attributes)


def respelt(model: Any, draw: Random) -> Any:
    """Return a model that computes the same as ``model``, with other nodes."""
    spelling = Spelling(model, draw)
    size = [each.dim_value or "N" for each in model.graph.input[0].type.tensor_type.shape.dim]
    nodes: Nodes = []
    flat = len(size) == 2
    last = not flat and draw.random() < 0.5  # channels last, at the input
    if last:
        nodes.append(made.node("Transpose", "x", "first", perm=[0, 3, 1, 2]))
        size = [size[0], *size[2:], size[1]]
    for each in model.graph.node:
        node = type(each)()
        node.CopyFrom(each)
        for index, name in enumerate(node.input):
            if last and name == "x":
                node.input[index] = "first"
            elif name in spelling.constants and draw.random() < 0.5:
                node.input[index] = _computed(spelling, name)
        flat = flat or node.op_type in ("Flatten", "Reshape")
        output = node.output[0]
        spelt = SPELLINGS.get(node.op_type, _as_it_is)(spelling, node)
        spelt[-1].output[0] = spelling.name()
        if node.op_type != "Softmax":
            spelt += _nothing(spelling, spelt[-1].output[0], flat)
        spelt[-1].output[0] = output
        nodes += spelt
    return made.model(
        [*spelling.computed, *nodes],
        spelling.constants,
        size=size,
        output=model.graph.output[0].name,
    )


def _as_it_is(spelling: Spelling, node: Any) -> Nodes:
    return [node]


def _computed(spelling: Spelling, name: str) -> str:
    """Return the name of a constant that is computed, with the value of ``name``."""
    value = spelling.constants[name]
    kind = spelling.draw.choice(["Transpose", "Reshape", "Cast", "Concat", "Unsqueeze"])
    if kind == "Transpose" and value.ndim:
        order = list(range(value.ndim))
        spelling.draw.shuffle(order)
        turned = spelling.constant(value.transpose(order))
        back = [order.index(axis) for axis in range(value.ndim)]
        node = spelling.node("Transpose", turned, perm=back)
    elif kind == "Reshape":
        size = spelling.constant(np.array(value.shape, np.int64))
        node = spelling.node("Reshape", f"{spelling.constant(value.reshape(-1))} {size}")
    elif kind == "Cast":
        wider = spelling.constant(value.astype(np.float64 if value.dtype.kind == "f" else np.int32))
        node = spelling.node("Cast", wider, to=1 if value.dtype.kind == "f" else 7)
    elif kind == "Concat" and value.ndim and len(value) > 1:
        parts = [spelling.constant(part) for part in (value[:1], value[1:])]
        node = spelling.node("Concat", " ".join(parts), axis=0)
    else:
        more = spelling.node("Unsqueeze", f"{name} {spelling.constant(np.array([0]))}")
        spelling.computed.append(more)
        node = spelling.node("Squeeze", f"{more.output[0]} {spelling.constant(np.array([0]))}")
    spelling.computed.append(node)
    return str(node.output[0])


def _nothing(spelling: Spelling, value: str, flat: bool) -> Nodes:
    """Return nodes that have no effect on ``value``; often none."""
    if spelling.draw.random() < 0.7:
        return []
    kind = spelling.draw.choice(["Identity", "Cast", "Pad", "AveragePool", "Transpose", "Sum"])
    if kind in ("Identity", "Sum") or (flat and kind != "Cast"):
        return [spelling.node("Identity" if kind != "Sum" else "Sum", value)]
    if kind == "Cast":
        return [spelling.node("Cast", value, to=1)]
    if kind == "Pad":
        return [spelling.node("Pad", f"{value} {spelling.constant(np.zeros(8, np.int64))}")]
    if kind == "AveragePool":
        return [spelling.node("AveragePool", value, kernel_shape=[1, 1])]
    there = spelling.node("Transpose", value, perm=[0, 2, 3, 1])
    return [there, spelling.node("Transpose", there.output[0], perm=[0, 3, 1, 2])]


def _relu(spelling: Spelling, node: Any) -> Nodes:
    limits = [np.float32(0)]
    if spelling.draw.random() < 0.3:
        limits.append(np.finfo(np.float32).max)
    names = [spelling.constant(each) for each in limits]
    clipped = spelling.node("Clip", " ".join([node.input[0], *names]))
    return spelling.draw.choice([[node], [clipped]])


def _average(spelling: Spelling, node: Any) -> Nodes:
    axes = spelling.draw.choice([[2, 3], [3, 2], [-1, -2], [2, -1]])
    return [spelling.node("ReduceMean", node.input[0], axes=axes)]


def _conv(spelling: Spelling, node: Any) -> Nodes:
    found = next((list(each.ints) for each in node.attribute if each.name == "pads"), None)
    if found is None or spelling.draw.random() < 0.5:
        return [node]
    top, left, bottom, right = found
    pads = [0, 0, top, left, 0, 0, bottom, right]
    padded = spelling.node("Pad", f"{node.input[0]} {spelling.constant(np.array(pads))}")
    kept = [each for each in node.attribute if each.name != "pads"]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.input[0] = padded.output[0]
    return [padded, node]


def _normalisation(spelling: Spelling, node: Any) -> Nodes:
    given = [spelling.constants.get(name) for name in node.input[1:]]
    if any(each is None for each in given) or spelling.draw.random() < 0.5:
        return [node]
    scale, shift, mean, variance = (each.reshape(-1, 1, 1) for each in given)
    divisor = np.sqrt(variance + np.float32(1e-5))
    found, value = [], node.input[0]
    for operator, constant in (("Sub", mean), ("Div", divisor), ("Mul", scale), ("Add", shift)):
        inputs = [value, spelling.constant(constant)]
        if operator in ("Mul", "Add") and spelling.draw.random() < 0.5:
            inputs.reverse()
        found.append(spelling.node(operator, " ".join(inputs)))
        value = found[-1].output[0]
    return found


def _flatten(spelling: Spelling, node: Any) -> Nodes:
    value = node.input[0]
    zero, one, rest = (spelling.constant(np.array([each])) for each in (0, 1, -1))
    size = spelling.node("Shape", value)
    kind = spelling.draw.choice(["Flatten", "Gather", "Slice"])
    if kind == "Flatten":
        return [node]
    if kind == "Gather":
        images = spelling.node("Gather", f"{size.output[0]} {zero}", axis=0)
    else:
        images = spelling.node("Slice", f"{size.output[0]} {zero} {one}")
    both = spelling.node("Concat", f"{images.output[0]} {rest}", axis=0)
    return [size, images, both, spelling.node("Reshape", f"{value} {both.output[0]}")]


def _gemm(spelling: Spelling, node: Any) -> Nodes:
    if spelling.draw.random() < 0.5:
        return [node]
    turned = spelling.node("Transpose", node.input[1], perm=[1, 0])
    spelling.computed.append(turned)
    product = spelling.node("MatMul", f"{node.input[0]} {turned.output[0]}")
    return [product, spelling.node("Add", f"{product.output[0]} {node.input[2]}")]


def _add(spelling: Spelling, node: Any) -> Nodes:
    node.op_type = spelling.draw.choice(["Add", "Sum"])
    return [node]


SPELLINGS: dict[str, Callable[[Spelling, Any], Nodes]] = {
    "Relu": _relu,
    "GlobalAveragePool": _average,
    "Conv": _conv,
    "BatchNormalization": _normalisation,
    "Flatten": _flatten,
    "Reshape": _flatten,
    "Gemm": _gemm,
    "Add": _add,
}
"""The operators that have other spellings."""
