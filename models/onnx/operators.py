"""The supported operators, and the reasons why others are not supported.

docs/onnx.md lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.base.errors import BadInput
from merp.models.onnx.activation import (
    average_pool,
    clip,
    global_average_pool,
    leaky_relu,
    max_pool,
    reduce_mean,
    relu,
    softmax,
)
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.axes import CHANNELS_FIRST
from merp.models.onnx.concatenation import concat
from merp.models.onnx.convolution import batch_normalization, conv, gemm, matmul
from merp.models.onnx.elementwise import add, scale, total
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.node import Node
from merp.models.onnx.padding import pad
from merp.models.onnx.passing import (
    cast,
    dropout,
    flatten,
    identity,
    lrn,
    reshape,
    squeeze,
    transpose,
)
from merp.models.onnx.together import parts_of

OPERATORS: Mapping[str, Callable[[Assembly, Node], None]] = {
    "Conv": conv,
    "Gemm": gemm,
    "MatMul": matmul,
    "Add": add,
    "Sum": total,
    "Mul": scale,
    "Sub": scale,
    "Div": scale,
    "Concat": concat,
    "BatchNormalization": batch_normalization,
    "Relu": relu,
    "Clip": clip,
    "LeakyRelu": leaky_relu,
    "Pad": pad,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "ReduceMean": reduce_mean,
    "Flatten": flatten,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Dropout": dropout,
    "Identity": identity,
    "Cast": cast,
    "LRN": lrn,
    "Softmax": softmax,
    "LogSoftmax": softmax,
}
"""The supported operators, by name. A graph may also have Constant."""

REASONS: Mapping[str, str] = (
    {
        "Attention": "attention is not supported",
        "ConvTranspose": "the engines dilate deltas, not maps of forward propagation",
    }
    | dict.fromkeys(
        ("PRelu", "Sigmoid", "Tanh", "Elu", "HardSwish", "Gelu"),
        "the activations are ReLU, ReLU6 and LeakyRelu",
    )
    | dict.fromkeys(("QLinearConv", "ConvInteger", "QuantizeLinear"), "numbers are floating point")
)
"""Reasons why some operators are not supported."""

CHANNELS_SECOND = frozenset(
    {"Conv", "BatchNormalization", "MaxPool", "AveragePool", "GlobalAveragePool"}
)
"""Operators that take the second axis as channels."""

TAKES_PADDING = frozenset({"Conv", "MaxPool", "AveragePool", "Pad", "Transpose", "Identity"})
"""Operators that may follow a Pad."""


def take(assembly: Assembly, node: Node) -> None:
    """Convert a node with an input that depends on the images to a layer or a part of a layer.

    Raises:
        BadInput: the node is not supported. The message names the node, the operator, the attribute
            and the allowed values.
    """
    if node.domain not in OWN_DOMAINS or node.operator not in OPERATORS:
        raise refusal(node)
    taken = [assembly.values[name] for name in node.inputs if name in assembly.values]
    for value in taken:
        if value.ended is not None:
            raise node.refuse(f"follows {value.ended.label}: allowed is no node after it")
        if value.halved is not None and node.operator != "ReduceMean":
            raise node.refuse(
                f"follows {value.halved.node.label}, a mean over one axis: must be a mean over the "
                "other one of rows and columns"
            )
        if value.padding is not None and node.operator not in TAKES_PADDING:
            raise node.refuse(
                f"follows {value.padding.node.label}: must be a convolution or pooling"
            )
    assembly.value = value = taken[0]
    if node.operator in CHANNELS_SECOND and not value.flat and value.axes != CHANNELS_FIRST:
        raise node.refuse("takes transposed maps: must follow a Transpose to channels first")
    OPERATORS[node.operator](assembly, node)
    node.finish()
    assembly.values[node.outputs[0]] = assembly.value
    assembly.done[node] = parts_of(assembly.value.layer)


def refusal(node: Node) -> BadInput:
    """Return an error about an operator that is not supported."""
    reason = REASONS.get(node.operator) if node.domain in OWN_DOMAINS else None
    why = f" ({reason})" if reason else ""
    return node.refuse(f"is not supported{why}: allowed are {', '.join(OPERATORS)}")
