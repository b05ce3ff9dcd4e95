"""The operators that are taken, and why some are not; docs/onnx.md lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.errors import BadInput
from merp.models.onnx.activation import (
    average_pool,
    global_average_pool,
    max_pool,
    relu,
    softmax,
)
from merp.models.onnx.chain import Chain
from merp.models.onnx.convolution import add, batch_normalization, conv, gemm, matmul
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.node import Node
from merp.models.onnx.passing import dropout, flatten, identity, reshape, squeeze

OPERATORS: Mapping[str, Callable[[Chain, Node], None]] = {
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
        "Concat": "layers stand in a single chain",
        "ConvTranspose": "the engines dilate deltas, not maps of forward propagation",
        "LRN": "local response normalisation is not built",
        "Pad": "padding is that of a convolution: give it there",
        "Sum": "residual additions are not built",
    }
    | dict.fromkeys(
        ("LeakyRelu", "PRelu", "Clip", "Sigmoid", "Tanh", "Elu", "HardSwish", "Gelu"),
        "the activation is ReLU",
    )
    | dict.fromkeys(("QLinearConv", "ConvInteger", "QuantizeLinear"), "numbers are floating point")
)
"""Of operators that are not taken, where there is one to say."""


def take(chain: Chain, node: Node) -> None:
    """Take a node into the chain.

    Raises:
        BadInput: names node, operator, attribute, and what is allowed.
    """
    if node.domain not in OWN_DOMAINS or node.operator not in OPERATORS:
        raise refusal(node)
    if chain.ended is not None:
        raise node.refuse(f"follows {chain.ended.label}: allowed is nothing behind it")
    OPERATORS[node.operator](chain, node)
    node.finish()


def refusal(node: Node) -> BadInput:
    """The complaint that an operator is not taken."""
    reason = REASONS.get(node.operator) if node.domain in OWN_DOMAINS else None
    why = f" ({reason})" if reason else ""
    return node.refuse(f"is not supported{why}: allowed are {', '.join(OPERATORS)}")
