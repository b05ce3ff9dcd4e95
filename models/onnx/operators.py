"""The operators that are taken, and why some are not; docs/onnx.md lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.base.errors import BadInput
from merp.models.onnx.activation import (
    average_pool,
    global_average_pool,
    max_pool,
    relu,
    softmax,
)
from merp.models.onnx.addition import add
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.convolution import batch_normalization, conv, gemm, matmul
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.node import Node
from merp.models.onnx.passing import dropout, flatten, identity, reshape, squeeze

OPERATORS: Mapping[str, Callable[[Assembly, Node], None]] = {
    "Conv": conv,
    "Gemm": gemm,
    "MatMul": matmul,
    "Add": add,
    "BatchNormalization": batch_normalization,
    "Relu": relu,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "Flatten": flatten,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "Dropout": dropout,
    "Identity": identity,
    "Softmax": softmax,
    "LogSoftmax": softmax,
}
"""By name; beside these a graph may have Constant."""

REASONS: Mapping[str, str] = (
    {
        "Attention": "attention is not built",
        "Concat": "a layer takes the maps of one layer",
        "ConvTranspose": "the engines dilate deltas, not maps of forward propagation",
        "LRN": "local response normalisation is not built",
        "Pad": "padding is that of a convolution: give it there",
        "Sum": "two layers are added by Add",
    }
    | dict.fromkeys(
        ("LeakyRelu", "PRelu", "Clip", "Sigmoid", "Tanh", "Elu", "HardSwish", "Gelu"),
        "the activation is ReLU",
    )
    | dict.fromkeys(("QLinearConv", "ConvInteger", "QuantizeLinear"), "numbers are floating point")
)
"""Of operators that are not taken, where there is one to say."""


def take(assembly: Assembly, node: Node) -> None:
    """Take a node, of which a value depends on the images, into the layers.

    Raises:
        BadInput: names node, operator, attribute, and what is allowed.
    """
    if node.domain not in OWN_DOMAINS or node.operator not in OPERATORS:
        raise refusal(node)
    taken = [assembly.values[name] for name in node.inputs if name in assembly.values]
    for value in taken:
        if value.ended is not None:
            raise node.refuse(f"follows {value.ended.label}: allowed is nothing behind it")
    assembly.value = taken[0]
    OPERATORS[node.operator](assembly, node)
    node.finish()
    assembly.values[node.outputs[0]] = assembly.value
    assembly.done[node] = assembly.value.layer


def refusal(node: Node) -> BadInput:
    """The complaint that an operator is not taken."""
    reason = REASONS.get(node.operator) if node.domain in OWN_DOMAINS else None
    why = f" ({reason})" if reason else ""
    return node.refuse(f"is not supported{why}: allowed are {', '.join(OPERATORS)}")
