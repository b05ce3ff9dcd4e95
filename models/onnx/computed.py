"""Constants that nodes compute from other constants. ONNX's reference evaluator computes them.

Only their sizes are needed to import a model. Their numbers are computed when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, one_line
from merp.models.onnx.tensor import Tensor, code_of

OPERATORS = frozenset(
    {
        "Add", "Cast", "CastLike", "Concat", "ConstantOfShape", "DequantizeLinear", "Div", "Expand",
        "Flatten", "Gather", "Identity", "Mul", "Neg", "Pow", "Reciprocal", "Reshape", "Slice",
        "Sqrt", "Squeeze", "Sub", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators of constants. Their time and memory follow from the sizes of inputs and output."""

DEQUANTISED = 19
"""First operator set whose DequantizeLinear the evaluator has; earlier ones are converted."""

MOST = 1 << 27
"""Most elements of all values that the evaluator holds for one constant; VGG-16 has 103 million."""


@dataclass(frozen=True, eq=False)
class Computed(Tensor):
    """A constant that a node computes.

    Attributes:
        node: the ``NodeProto``.
        inputs: its inputs, by name.
        opset: version of the operator set.
    """

    node: Any
    inputs: dict[str, Tensor]
    opset: int

    @cached_property
    def has_data(self) -> bool:
        """Whether the model has the numbers of all constants from which it is computed."""
        return all(each.has_data for each in _sources(self) if not isinstance(each, Computed))

    def array(self) -> NDArray[Any]:
        """Return the numbers, computed by the reference evaluator.

        Raises:
            BadInput: the values are too large, or the evaluator refuses a node.
        """
        sources = list(_sources(self))
        made = [each for each in sources if isinstance(each, Computed)]
        elements = sum(prod(each.shape) for each in made)
        if elements > MOST:
            raise BadInput(
                f"{self.where}: is computed by {len(made)} nodes with {elements:,} elements: "
                f"allowed are at most {MOST:,}"
            )
        given = [each for each in sources if not isinstance(each, Computed)]
        found = _evaluated(self, [each.node for each in made], given)
        wanted = None if self.kind is None else self.kind.name
        if (found.shape, found.dtype.name) != (self.shape, wanted):
            raise BadInput(
                f"{self.where}: is computed as {found.dtype.name} of {found.shape}: must be "
                f"{wanted} of {self.shape}"
            )
        return found.astype(np.float32) if wanted == "bfloat16" else found


def _evaluated(wanted: Computed, nodes: list[Any], given: list[Tensor]) -> NDArray[Any]:
    """Return the value of ``wanted`` that ``nodes``, in order, compute from ``given``."""
    from onnx import helper, version_converter
    from onnx.reference import ReferenceEvaluator

    *inputs, output = (
        helper.make_tensor_value_info(each.name, code_of(each.kind), each.shape)
        for each in (*given, wanted)
    )
    graph = helper.make_graph(nodes, "constants", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", wanted.opset)])
    numbers = {each.name: _numbers(each) for each in given}
    try:
        if wanted.opset < DEQUANTISED and any(x.op_type == "DequantizeLinear" for x in nodes):
            model = version_converter.convert_version(model, DEQUANTISED)
        with np.errstate(all="ignore"):
            (found,) = ReferenceEvaluator(model).run(None, numbers)
        return np.asarray(found)
    except Exception as error:  # the evaluator raises whatever its operators raise
        said = one_line(str(error), 200)
        raise BadInput(f"{wanted.where}: cannot be computed from constants: {said}") from error


def _numbers(tensor: Tensor) -> NDArray[Any]:
    """Return the numbers of a constant in the evaluator's type."""
    from ml_dtypes import bfloat16  # onnx depends on it

    found = tensor.array()
    is_bfloat16 = tensor.kind is not None and tensor.kind.name == "bfloat16"
    return found.astype(bfloat16) if is_bfloat16 else found


def _sources(wanted: Computed) -> Iterator[Tensor]:
    """Yield the constants from which one is computed, each after its inputs, and itself."""
    seen: set[str] = set()
    waiting: list[tuple[Tensor, bool]] = [(wanted, False)]
    while waiting:
        tensor, ready = waiting.pop()
        if ready:
            yield tensor
        elif tensor.name not in seen:
            seen.add(tensor.name)
            waiting.append((tensor, True))
            if isinstance(tensor, Computed):
                waiting += [(each, False) for each in tensor.inputs.values()]
