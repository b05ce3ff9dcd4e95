"""ONNX models for tests, made node by node; a test that makes one ``needs("onnx")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

with suppress(ImportError):
    from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

FLOAT = 1  # TensorProto.FLOAT
OPSET = 17
Sizes = Sequence[int | str | None]


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Normal random numbers over the root of the inputs to a sum."""
    dice = np.random.default_rng([seed, *shape])
    return (dice.standard_normal(shape) / max(1, np.prod(shape[1:])) ** 0.5).astype(dtype)


def node(operator: str, inputs: str, output: str, name: str = "", **attributes: Any) -> NodeProto:
    """A node whose inputs are given as words."""
    return helper.make_node(operator, inputs.split(), [output], name=name, **attributes)


def model(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, np.ndarray] | Sequence[TensorProto] = (),
    *,
    size: Sizes = ("N", 1, 8, 8),
    output: str = "y",
    kind: int = FLOAT,
    opset: int = OPSET,
    sizes_only: Mapping[str, Sequence[int]] = {},
) -> ModelProto:
    """A model of one input ``x`` and one output; ``sizes_only``: weights without numbers."""
    if isinstance(constants, Mapping):
        constants = [numpy_helper.from_array(each, name) for name, each in constants.items()]
    inputs = {"x": size, **sizes_only}
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, kind, list(each)) for name, each in inputs.items()],
        [helper.make_tensor_value_info(output, kind, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def saved(folder: Path, made: ModelProto, name: str = "net.onnx") -> Path:
    """The file of a model in ``folder``."""
    path = folder / name
    path.write_bytes(made.SerializeToString())
    return path


def sized(made: ModelProto) -> ModelProto:
    """A model that says the sizes of all its values, as those of exporters do."""
    return shape_inference.infer_shapes(made, strict_mode=True)


def three_layers(seed: int = 0) -> ModelProto:
    """Two convolutions, one normalised, pooled, and a full connection behind a flattening."""
    nodes = [
        node("Conv", "x conv1.weight", "a", "/conv1/Conv", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "a scale shift mean variance", "b", "/norm/BatchNormalization"),
        node("Relu", "b", "c", "/relu/Relu"),
        node("MaxPool", "c", "d", "/pool/MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "d conv2.weight conv2.bias", "e", "/conv2/Conv"),
        node("MaxPool", "e", "f", "/pool_1/MaxPool", kernel_shape=[2, 2], strides=[1, 1]),
        node("Relu", "f", "g", "/relu_1/Relu"),
        node("Flatten", "g", "h", "/Flatten"),
        node("Gemm", "h fc.weight fc.bias", "y", "/fc/Gemm", transB=1),
    ]
    dice = np.random.default_rng(seed)
    constants = {
        "conv1.weight": numbers(3, 2, 3, 3, seed=seed),
        "scale": dice.uniform(0.5, 1.5, 3).astype(np.float32),
        "shift": numbers(3, seed=seed + 1),
        "mean": numbers(3, seed=seed + 2),
        "variance": dice.uniform(0.5, 1.5, 3).astype(np.float32),
        "conv2.weight": numbers(4, 3, 3, 3, seed=seed),
        "conv2.bias": numbers(4, seed=seed),
        "fc.weight": numbers(5, 4 * 2 * 1, seed=seed),
        "fc.bias": numbers(5, seed=seed),
    }
    return model(nodes, constants, size=("N", 2, 10, 8))


def chain(
    size: tuple[int, int, int], layers: Sequence[Sequence[Any]], *, with_data: bool = False
) -> ModelProto:
    """A chain of ("conv", maps, k, stride, pad, group), ("pool", k, stride), ("fc", outputs).

    ReLU is behind all but the last; weights are sizes alone, unless ``with_data``.
    """
    channels, rows, columns = size
    elements, value, sizes, nodes = 0, "x", {}, []

    def add(operator: str, weights: Sequence[int] = (), **attributes: Any) -> None:
        nonlocal value
        name, inputs = f"{operator}_{len(nodes)}", value
        if weights:
            sizes[f"{name}.w"], sizes[f"{name}.b"] = list(weights), [weights[0]]
            inputs += f" {name}.w {name}.b"
        value = f"v{len(nodes)}"
        nodes.append(node(operator, inputs, value, name, **attributes))

    for number, (kind, *values) in enumerate(layers, 1):
        if kind == "conv":
            maps, k, stride, pad, group = values
            add("Conv", (maps, channels // group, k, k), strides=[stride] * 2, pads=[pad] * 4,
                group=group)  # fmt: skip
            channels = maps
            rows, columns = ((x + 2 * pad - k) // stride + 1 for x in (rows, columns))
        elif kind == "pool":
            k, stride = values
            add("MaxPool", kernel_shape=[k, k], strides=[stride, stride])
            rows, columns = ((x - k) // stride + 1 for x in (rows, columns))
        else:
            if not elements:
                add("Flatten")
                elements = channels * rows * columns
            add("Gemm", (values[0], elements), transB=1)
            elements = values[0]
        if kind != "pool" and number < len(layers):
            add("Relu")
    made = {name: numbers(*shape) for name, shape in sizes.items()} if with_data else {}
    return model(
        nodes, made, size=("N", *size), output=value, sizes_only={} if with_data else sizes
    )


LENET = ((1, 28, 28), [("conv", 20, 5, 1, 0, 1), ("pool", 2, 2), ("conv", 50, 5, 1, 0, 1),
         ("pool", 2, 2), ("fc", 500), ("fc", 10)])  # fmt: skip
ALEXNET = ((3, 224, 224), [("conv", 96, 11, 4, 2, 1), ("pool", 3, 2), ("conv", 256, 5, 1, 2, 2),
           ("pool", 3, 2), ("conv", 384, 3, 1, 1, 1), ("conv", 384, 3, 1, 1, 2),
           ("conv", 256, 3, 1, 1, 2), ("pool", 3, 2), ("fc", 4096), ("fc", 4096),
           ("fc", 1000)])  # fmt: skip
VGG16 = (
    (3, 224, 224),
    [
        layer
        for maps, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
        for layer in (*[("conv", maps, 3, 1, 1, 1)] * count, ("pool", 2, 2))
    ]
    + [("fc", 4096), ("fc", 4096), ("fc", 1000)],
)


def random_model(draw: Random) -> ModelProto:
    """A chain of one to four convolutions and up to two full connections, of all that is taken."""
    rows, columns, channels = draw.randint(4, 14), draw.randint(4, 14), draw.randint(1, 4)
    size = ("N", channels, rows, columns)
    nodes: list[NodeProto] = []
    constants: dict[str, np.ndarray] = {}
    value, seed = "x", draw.randrange(1 << 30)

    def add(operator: str, given: Mapping[str, np.ndarray] = {}, **attributes: Any) -> None:
        nonlocal value
        constants.update(given)
        out = f"v{len(nodes)}"
        called = draw.choice(["", f"/block/{operator.lower()}_{len(nodes)}/{operator}"])
        nodes.append(node(operator, " ".join((value, *given)), out, called, **attributes))
        value = out

    def weights(*shape: int) -> np.ndarray:
        return numbers(*shape, seed=seed + len(nodes))

    for _ in range(draw.randint(1, 4)):
        k = draw.randint(1, min(5, rows, columns))
        stride, pads = draw.randint(1, 2), [draw.randint(0, k - 1)] * 4
        if draw.random() < 0.5:
            pads = [draw.randint(0, k - 1) for _ in range(4)]
        groups = draw.choice([g for g in range(1, channels + 1) if channels % g == 0])
        maps = groups * draw.randint(1, 4)
        name = f"w{len(nodes)}"
        given = {name: weights(maps, channels // groups, k, k)}
        if draw.random() < 0.7:
            given[f"{name}b"] = weights(maps)
        padded = draw.choice([{"pads": pads}, {"auto_pad": "VALID"}])
        top, left, bottom, right = padded.get("pads", [0] * 4)
        add("Conv", given, strides=[stride] * 2, group=groups, **padded)
        channels = maps
        rows = (rows + top + bottom - k) // stride + 1
        columns = (columns + left + right - k) // stride + 1
        if draw.random() < 0.4:
            each = {f"{part}{len(nodes)}": abs(weights(maps)) + 0.5 for part in "abcd"}
            add("BatchNormalization", each)
        first = draw.random() < 0.5
        if first:
            add("Relu")
        kind = draw.choice(["MaxPool", "AveragePool", "GlobalAveragePool", ""])
        window = draw.randint(1, 3)
        if kind == "GlobalAveragePool" and rows == columns:
            add(kind)
            rows = columns = 1
        elif kind in ("MaxPool", "AveragePool") and window <= min(rows, columns):
            step = draw.randint(max(1, window - 1), 3)
            add(kind, kernel_shape=[window] * 2, strides=[step] * 2)
            rows, columns = ((x - window) // step + 1 for x in (rows, columns))
            if not first and kind == "MaxPool" and draw.random() < 0.5:
                add("Relu")
        if draw.random() < 0.2:
            add("Dropout")
    elements = channels * rows * columns
    if draw.random() < 0.7:
        if draw.random() < 0.5:
            add("Flatten")
        else:
            add("Reshape", {f"s{len(nodes)}": np.array([draw.choice([0, -1]), elements])})
        for _ in range(draw.randint(1, 2)):
            outputs, name = draw.randint(1, 9), f"w{len(nodes)}"
            if draw.random() < 0.5:
                add("Gemm", {name: weights(outputs, elements), f"{name}b": weights(outputs)},
                    transB=1)  # fmt: skip
            else:
                add("MatMul", {name: weights(elements, outputs)})
                add("Add", {f"{name}b": weights(outputs)})
            elements = outputs
            if draw.random() < 0.5:
                add("Relu")
        if draw.random() < 0.3:
            add("Softmax")
    return model(nodes, constants, size=size, output=value)
