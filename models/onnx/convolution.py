"""Import operators that become layers, and the normalisation that is folded into a layer."""

from __future__ import annotations

from typing import Any

from merp.models.base.errors import shown
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.folding import Normalisation
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor
from merp.models.onnx.windows import one_of, pads_of


def conv(assembly: Assembly, node: Node) -> None:
    """Import Conv of two dimensions. Like the convolution of merp, it does not rotate kernels."""
    node.takes(3)
    if assembly.flat:
        raise node.refuse("takes features without rows and columns: must follow maps")
    weight, bias = node.required(1), node.operand(2)
    groups = node.whole("group", 1)
    maps = assembly.maps
    inputs = maps // groups if groups > 0 and maps % groups == 0 else "channels/group"
    shape = weight.shape
    if len(shape) != 4 or min(shape) < 1 or shape[1] != inputs:
        raise node.bad("weights' size", shape, f"(maps, {inputs}, k, k)")
    kernel = node.wholes("kernel_shape", shape[2:])
    if kernel != list(shape[2:]):
        raise node.bad("kernel_shape", kernel, f"{list(shape[2:])}, that of the weights")
    _check_bias(node, bias, shape[0])
    k = one_of(node, "kernel_shape", kernel)
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]: dilated convolutions are not supported")
    stride = one_of(node, "strides", node.wholes("strides", (1, 1)))
    padding = assembly.value.padding
    if padding is not None and padding.value != 0:
        raise padding.node.bad("constant_value", padding.value, "0 before a convolution")
    pads = pads_of(node, assembly.size[:2], k, stride, padding)
    keys: dict[str, Any] = {
        "maps": shape[0],
        "kernel": k,
        "stride": stride,
        # The reader of network files checks padding that differs between sides.
        "pad": pads[0] if len(set(pads)) == 1 else pads,
        "groups": groups,
    }
    assembly.begin(node, "conv", weight, bias, keys)


def gemm(assembly: Assembly, node: Node) -> None:
    """Import Gemm: a fully connected layer with its bias."""
    node.takes(3)
    bias = node.operand(2)
    node.only("transA", 0)
    for name in ("alpha", "beta"):
        value = node.number(name, 1.0)
        if value != 1 and (name == "alpha" or bias is not None):
            raise node.bad(name, value, "1")
    transposed = node.whole("transB", 0)
    if transposed not in (0, 1):
        raise node.bad("transB", transposed, "0 or 1")
    _connect(assembly, node, bias, inputs_first=not transposed)


def matmul(assembly: Assembly, node: Node) -> None:
    """Import MatMul by a constant: a fully connected layer. An Add after it may add a bias."""
    node.takes(2)
    _connect(assembly, node, None, inputs_first=True)


def batch_normalization(assembly: Assembly, node: Node) -> None:
    """Import BatchNormalization in inference; it is folded into the previous layer."""
    node.takes(5)
    node.only("training_mode", 0)
    node.only("spatial", 1)  # exists in operator sets up to 8
    node.number("momentum", 0.9)
    if any(node.outputs[1:]):
        raise node.refuse("outputs statistics: normalisation in training is not supported")
    epsilon = node.number("epsilon", 1e-5)
    scale, shift, mean, variance = (node.required(index) for index in range(1, 5))
    for tensor in (scale, shift, mean, variance):
        if tensor.shape != (assembly.maps,):
            raise node.bad(f"size of {shown(tensor.name)}", tensor.shape, f"({assembly.maps},)")
    assembly.fold(node, Normalisation(scale, shift, mean, variance, epsilon))


def _connect(assembly: Assembly, node: Node, bias: Tensor | None, *, inputs_first: bool) -> None:
    """Begin a fully connected layer of all input elements."""
    if not assembly.flat:
        raise node.refuse("takes maps with rows and columns: must follow a Flatten")
    weight, elements = node.required(1), assembly.elements
    shape = weight.shape
    if len(shape) != 2 or min(shape) < 1 or shape[0 if inputs_first else 1] != elements:
        wanted = f"({elements}, outputs)" if inputs_first else f"(outputs, {elements})"
        raise node.bad("weights' size", shape, wanted)
    outputs = shape[1 if inputs_first else 0]
    _check_bias(node, bias, outputs)
    assembly.begin(node, "fc", weight, bias, {"maps": outputs}, inputs_first=inputs_first)


def _check_bias(node: Node, bias: Tensor | None, maps: int) -> None:
    sizes: list[tuple[int, ...]] = [(maps,)]
    if node.operator == "Gemm":
        sizes += [(1, maps), (1,), (1, 1), ()]  # sizes of biases that are broadcast
    if bias is not None and bias.shape not in sizes:
        raise node.bad("bias' size", bias.shape, f"({maps},)")
