"""The supported operators, and the reasons why others are not supported.

docs/onnx.md lists them.
"""

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
"""The supported operators, by name. A graph may also have Constant."""

REASONS: Mapping[str, str] = (
    {
        "Attention": "attention is not supported",
        "Concat": "a layer takes the maps of one layer",
        "ConvTranspose": "the engines dilate deltas, not maps of forward propagation",
        "LRN": "local response normalisation is not supported",
        "Pad": "padding belongs to a convolution: set it there",
        "Sum": "two layers are added by Add",
    }
    | dict.fromkeys(
        ("LeakyRelu", "PRelu", "Clip", "Sigmoid", "Tanh", "Elu", "HardSwish", "Gelu"),
        "the only activation is ReLU",
    )
    | dict.fromkeys(("QLinearConv", "ConvInteger", "QuantizeLinear"), "numbers are floating point")
)
"""Reasons why some operators are not supported."""


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
    assembly.value = taken[0]
    OPERATORS[node.operator](assembly, node)
    node.finish()
    assembly.values[node.outputs[0]] = assembly.value
    assembly.done[node] = assembly.value.layer


def refusal(node: Node) -> BadInput:
    """Return an error about an operator that is not supported."""
    reason = REASONS.get(node.operator) if node.domain in OWN_DOMAINS else None
    why = f" ({reason})" if reason else ""
    return node.refuse(f"is not supported{why}: allowed are {', '.join(OPERATORS)}")
