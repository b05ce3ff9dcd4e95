"""ResNet-50 as PyTorch exports it for evaluation: batch normalisation folded in, random weights."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCKS = ((3, 64), (4, 128), (6, 256), (3, 512))
"""Of each stage: its blocks, and the maps of their first two convolutions."""

CLASSES = 1000


class _Graph:
    """Nodes and weights, in order."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)

    def add(self, kind: str, inputs: list[str], name: str, **keys: object) -> str:
        """Add a node, and return its output."""
        self.nodes.append(helper.make_node(kind, inputs, [f"{name}_out"], name=name, **keys))
        return f"{name}_out"

    def parameters(self, name: str, *shape: int) -> list[str]:
        """Add weights of a shape and biases of zero, and return their names."""
        weight = self._random.standard_normal(shape, dtype=np.float32)
        each = {f"{name}.weight": weight, f"{name}.bias": np.zeros(shape[0], np.float32)}
        self.weights += [numpy_helper.from_array(values, key) for key, values in each.items()]
        return list(each)

    def convolution(
        self, x: str, shape: tuple[int, int, int], name: str, *, stride: int = 1, relu: bool = True
    ) -> str:
        """Add a convolution of so many maps in and out and of a kernel size."""
        n, m, k = shape
        y = self.add(
            "Conv", [x, *self.parameters(name, m, n, k, k)], name, kernel_shape=[k, k],
            strides=[stride] * 2, pads=[k // 2] * 4,
        )  # fmt: skip
        return self.add("Relu", [y], f"{name}.relu") if relu else y

    def block(self, x: str, maps: tuple[int, int], name: str, *, stride: int, first: bool) -> str:
        """Add a bottleneck of so many maps in and, but for the last convolution, inside."""
        n, width = maps
        y = self.convolution(x, (n, width, 1), f"{name}.conv1")
        y = self.convolution(y, (width, width, 3), f"{name}.conv2", stride=stride)
        y = self.convolution(y, (width, 4 * width, 1), f"{name}.conv3", relu=False)
        if first:
            shape = n, 4 * width, 1
            x = self.convolution(x, shape, f"{name}.downsample", stride=stride, relu=False)
        return self.add("Relu", [self.add("Add", [y, x], f"{name}.add")], f"{name}.relu")


def write_resnet50(file: Path) -> None:
    """Write the model for images of 3 x 224 x 224, some 100 MB."""
    graph = _Graph()
    x = graph.convolution("input", (3, 64, 7), "conv1", stride=2)
    x = graph.add("MaxPool", [x], "maxpool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    maps = 64
    for stage, (blocks, width) in enumerate(BLOCKS, 1):
        for place in range(blocks):
            stride = 2 if place == 0 and stage > 1 else 1
            name = f"layer{stage}.{place}"
            x = graph.block(x, (maps, width), name, stride=stride, first=place == 0)
            maps = 4 * width
    x = graph.add("Flatten", [graph.add("GlobalAveragePool", [x], "avgpool")], "flatten", axis=1)
    x = graph.add("Gemm", [x, *graph.parameters("fc", CLASSES, maps)], "fc", transB=1)
    ends = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("input", [1, 3, 224, 224]), (x, [1, CLASSES]))
    )
    made = helper.make_graph(graph.nodes, "resnet50", *([end] for end in ends), graph.weights)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, file)
