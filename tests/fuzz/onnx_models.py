"""Make ONNX models for tests, node by node; a test that makes one ``needs("onnx")``."""

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
    """Return normal random numbers over the root of the inputs to a sum."""
    dice = np.random.default_rng([seed, *shape])
    return (dice.standard_normal(shape) / max(1, np.prod(shape[1:])) ** 0.5).astype(dtype)


def node(operator: str, inputs: str, output: str, name: str = "", **attributes: Any) -> NodeProto:
    """Return a node whose inputs are given as words."""
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
    """Return a model of one input ``x`` and one output; ``sizes_only``: weights without numbers."""
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
    """Return the file of a model in ``folder``."""
    path = folder / name
    path.write_bytes(made.SerializeToString())
    return path


def sized(made: ModelProto) -> ModelProto:
    """Return a model with the sizes of all its values, as exporters write it."""
    return shape_inference.infer_shapes(made, strict_mode=True)


def three_layers(seed: int = 0) -> ModelProto:
    """Return two convolutions, one normalised, pooled, and a full connection after a flattening."""
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
    """Return a chain of ("conv", maps, k, stride, pad, group), ("pool", k, stride), ("fc", m).

    ReLU follows all but the last layer; weights only have sizes, unless ``with_data``.
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
    """Return a chain of one to four convolutions and up to two full connections, all supported."""
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
            around, more = [0] * 4, {}
            if draw.random() < 0.5:
                around = [draw.randrange(min(window, step)) for _ in range(4)]
                more = {"pads": around} | ({"count_include_pad": 1} if kind[0] == "A" else {})
            elif kind == "MaxPool" and draw.random() < 0.5 and window > 1:
                around[2:] = [min(window, step) - 1] * 2
                more = {"ceil_mode": 1}
            add(kind, kernel_shape=[window] * 2, strides=[step] * 2, **more)
            top, left, bottom, right = around
            rows = (top + rows + bottom - window) // step + 1
            columns = (left + columns + right - window) // step + 1
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


class Branches:
    """A model that is put together value by value, with its shapes by name."""

    def __init__(self, size: tuple[int, int, int], seed: int = 0) -> None:
        """``size``: channels, rows, columns."""
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.shapes: dict[str, tuple[int, ...]] = {"x": size}
        self.seed = seed

    def put(self, operator: str, inputs: str, shape: Sequence[int], name: str = "",
            given: Mapping[str, np.ndarray] = {}, **attributes: Any) -> str:  # fmt: skip
        """Add a node of given inputs and constants; return the name of its output, of ``shape``."""
        out = f"v{len(self.nodes)}"
        self.constants.update(given)
        self.nodes.append(node(operator, " ".join((inputs, *given)), out, name, **attributes))
        self.shapes[out] = tuple(shape)
        return out

    def weights(self, *shape: int) -> np.ndarray:
        """Return constants of random numbers."""
        return numbers(*shape, seed=self.seed + len(self.nodes))

    def conv(self, value: str, maps: int, k: int, stride: int = 1, pad: int = 0, name: str = "",
             *, normalised: bool = False) -> str:  # fmt: skip
        """Add a convolution, with a normalisation after it or a bias in it."""
        channels, rows, columns = self.shapes[value]
        shape = maps, *((x + 2 * pad - k) // stride + 1 for x in (rows, columns))
        at = f"w{len(self.nodes)}"
        given = {at: self.weights(maps, channels, k, k)}
        if not normalised:
            given[f"{at}b"] = self.weights(maps)
        out = self.put("Conv", value, shape, name, given, strides=[stride] * 2, pads=[pad] * 4)
        if normalised:
            each = {f"{at}{part}": abs(self.weights(maps)) + 0.5 for part in "stuv"}
            out = self.put("BatchNormalization", out, shape, name and f"{name}/Norm", each)
        return out

    def same(self, operator: str, *inputs: str, name: str = "") -> str:
        """Add a node whose output is as large as its inputs."""
        return self.put(operator, " ".join(inputs), self.shapes[inputs[0]], name)

    def relu6(self, value: str) -> str:
        """Add a Clip from 0 to 6."""
        at = f"c{len(self.nodes)}"
        given = {f"{at}low": np.float32(0), f"{at}high": np.float32(6)}
        return self.put("Clip", value, self.shapes[value], given=given)

    def pool(
        self, value: str, window: int, stride: int, pad: int = 0, kind: str = "MaxPool"
    ) -> str:
        """Add maxima, or averages, of windows."""
        maps, *size = self.shapes[value]
        shape = maps, *((x + 2 * pad - window) // stride + 1 for x in size)
        windows = {"kernel_shape": [window] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return self.put(kind, value, shape, **windows)

    def fc(self, value: str, outputs: int, name: str = "") -> str:
        """Add a full connection with its bias."""
        (features,) = self.shapes[value]
        at = f"w{len(self.nodes)}"
        given = {at: self.weights(outputs, features), f"{at}b": self.weights(outputs)}
        return self.put("Gemm", value, (outputs,), name, given, transB=1)

    def flat(self, value: str) -> str:
        """Flatten the elements of maps."""
        return self.put("Flatten", value, (int(np.prod(self.shapes[value])),))

    def ending(self, value: str) -> ModelProto:
        """Return the model whose output is ``value``."""
        return model(self.nodes, self.constants, size=("N", *self.shapes["x"]), output=value)


def resnet(
    size: tuple[int, int, int],
    stages: Sequence[tuple[int, int]],
    *,
    stem: tuple[int, int, int] = (3, 1, 1),
    pool: tuple[int, int, int] | None = None,
    classes: int = 10,
    seed: int = 0,
) -> ModelProto:
    """Return a ResNet of basic blocks with PyTorch's names and order, each convolution normalised.

    size: channels, rows, columns.
    stages: maps and blocks.
    stem: k, stride and pad of the first convolution.
    pool: window, stride and pad after it.
    """
    made = Branches(size, seed)
    value = made.conv("x", stages[0][0], *stem, "/conv1/Conv", normalised=True)
    value = made.same("Relu", value, name="/relu/Relu")
    value = made.pool(value, *pool) if pool else value
    for number, (maps, blocks) in enumerate(stages, 1):
        for block in range(blocks):
            at, stride = f"/layer{number}/layer{number}.{block}", 2 if number > 1 > block else 1
            beside = value
            value = made.conv(value, maps, 3, stride, 1, f"{at}/conv1/Conv", normalised=True)
            value = made.same("Relu", value, name=f"{at}/relu/Relu")
            value = made.conv(value, maps, 3, 1, 1, f"{at}/conv2/Conv", normalised=True)
            if made.shapes[beside] != made.shapes[value]:
                name = f"{at}/downsample/downsample.0/Conv"
                beside = made.conv(beside, maps, 1, stride, 0, name, normalised=True)
            value = made.same("Add", value, beside, name=f"{at}/Add")
            value = made.same("Relu", value, name=f"{at}/relu_1/Relu")
    value = made.put("GlobalAveragePool", value, (made.shapes[value][0], 1, 1), "/avgpool/Pool")
    return made.ending(made.fc(made.flat(value), classes, "/fc/Gemm"))


BASIC = [(4, 2), (6, 2), (8, 2), (10, 2)]
"""Stages of ResNet-18, with fewer maps (He et al. 2016, table 1)."""


def resnet18(kind: str = "cifar", seed: int = 0) -> ModelProto:
    """Return ResNet-18 for images of 32 x 32, as for CIFAR-10, or of 224 x 224; with few maps."""
    if kind == "cifar":
        return resnet((3, 32, 32), BASIC, seed=seed)
    return resnet((3, 224, 224), BASIC, stem=(7, 2, 3), pool=(3, 2, 1), classes=20, seed=seed)


def random_fires(draw: Random) -> ModelProto:
    """Return blocks whose branches are joined, as in SqueezeNet and Inception, and pooled at will.

    A branch is a convolution of 1 x 1 or 3 x 3, two of them, or a pooling of its own.
    """
    size = draw.randint(1, 3), draw.randint(5, 9), draw.randint(5, 9)
    made = Branches(size, draw.randrange(1 << 30))
    value = made.same("Relu", made.conv("x", draw.randint(2, 4), 3, 1, 1))
    for _ in range(draw.randint(1, 3)):
        if draw.random() < 0.5:
            value = made.same("Relu", made.conv(value, draw.randint(1, 3), 1))
        step = draw.randint(1, 2)
        branches = []
        for kind in draw.sample(["dot", "cross", "both", "pool"], draw.randint(2, 3)):
            maps = draw.randint(1, 4)
            if kind == "pool":
                branches.append(made.pool(value, 3, step, 1))
                continue
            out = value
            if kind == "both":
                out = made.same("Relu", made.conv(out, maps, 1))
            k = 1 if kind == "dot" else 3
            out = made.conv(out, maps, k, step, k // 2, normalised=draw.random() < 0.3)
            branches.append(made.same("Relu", out) if draw.random() < 0.8 else out)
        shapes = [made.shapes[each] for each in branches]
        whole = (sum(maps for maps, *_ in shapes), *shapes[0][1:])
        value = made.put("Concat", " ".join(branches), whole, axis=1)
        if draw.random() < 0.2:
            value = made.same("Relu", value)
        if draw.random() < 0.4 and min(whole[1:]) > 2:
            value = made.pool(value, 2, draw.randint(1, 2))
            if draw.random() < 0.5 and min(made.shapes[value][1:]) > 1:
                value = made.pool(value, 2, 2, kind="AveragePool")
        if min(made.shapes[value][1:]) < 3:
            break
    return made.ending(made.fc(made.flat(value), draw.randint(1, 9)))


def random_branches(draw: Random) -> ModelProto:
    """Return a network of one to four blocks that branch and join, of every supported kind."""
    channels, rows, columns = draw.randint(1, 3), draw.randint(4, 12), draw.randint(4, 12)
    made = Branches((channels, rows, columns), draw.randrange(1 << 30))

    def conv(value: str, maps: int, k: int, stride: int = 1) -> str:
        name = draw.choice(["", f"/block/conv_{len(made.nodes)}/Conv"])
        pad = (k - 1) // 2
        return made.conv(value, maps, k, stride, pad, name, normalised=draw.random() < 0.5)

    def perhaps(operator: str, value: str, chance: float = 0.5) -> str:
        if draw.random() >= chance:
            return value
        if operator == "Relu" and draw.random() < 0.3:
            return made.relu6(value)
        return made.same(operator, value)

    def joined(one: str, other: str) -> str:
        value = made.same("Add", *draw.sample([one, other], 2))
        value = perhaps("Relu", value, 0.7)
        size = made.shapes[value][1:]
        if min(size) > 3 and draw.random() < 0.3:
            kind = draw.choice(["MaxPool", "AveragePool"])
            value = made.pool(value, 2, draw.randint(1, 2), kind=kind)
        return perhaps("Dropout", value, 0.1)

    value = perhaps("Relu", conv("x", draw.randint(1, 4), 3), 0.8)
    for _ in range(draw.randint(1, 4)):
        maps, k = made.shapes[value][0], draw.choice([1, 3])
        kind = draw.choice(["identity", "shortcut", "shortcut first", "itself", "three ways"])
        if kind == "identity":
            middle = perhaps("Relu", conv(value, draw.randint(1, 4), 3))
            value = joined(conv(middle, maps, k), value)
        elif kind == "itself":
            value = joined(conv(value, maps, k), value)
        elif kind == "three ways":  # the last layer that reads the input follows the addition
            middle = conv(conv(value, draw.randint(1, 4), 3), maps, k)
            middle = perhaps("Relu", made.same("Add", middle, value))
            value = joined(conv(value, maps, 3), conv(middle, maps, k))
        else:
            maps, stride = draw.randint(1, 5), draw.randint(1, 2)
            short = conv(value, maps, 1, stride) if kind == "shortcut first" else ""
            main = conv(perhaps("Relu", conv(value, draw.randint(1, 4), 3, stride)), maps, k)
            value = joined(main, short or conv(value, maps, 1, stride))
    if draw.random() < 0.7:
        value = made.fc(made.flat(value), draw.randint(1, 8))
        if draw.random() < 0.5:
            beside = value
            value = made.fc(made.same("Relu", made.fc(value, 3)), made.shapes[beside][0])
            value = made.same("Add", beside, value)
        value = perhaps("Softmax", value, 0.3)
    return made.ending(value)


def random_plain(seed: int, title: str) -> ModelProto:
    """Return a random chain, or network of branches or joined maps, without a last Softmax."""
    make = (random_branches, random_model, random_fires)[seed % 3]
    made = make(Random(f"{title} {seed}"))
    if made.graph.node[-1].op_type == "Softmax":
        del made.graph.node[-1]
        made.graph.output[0].name = made.graph.node[-1].output[0]
    return made
