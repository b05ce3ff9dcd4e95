"""A layer of a model: its keys in a network file, and where its kernels and biases come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.onnx.element_order import from_channels_first
from merp.models.onnx.folding import Fold, Values, numbers
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor

Size = tuple[int, int, int]  # rows, columns, channels

CHUNK = 1 << 22
"""Weights that are rounded at a time: a large layer's binary64 copy would not fit."""


@dataclass(kw_only=True, eq=False)
class ModelLayer:
    """A layer.

    Attributes:
        node: that convolves or multiplies.
        table: keys of [[layer]] in a network file.
        weight, bias: of the node. inputs_first: the weights of a full connection are (inputs,
            outputs), not (outputs, inputs).
        source: the layer whose output it takes; None of the images. front: the size of that.
        flattened: rows, columns, channels of the maps whose elements its inputs are; None if they
            are no maps.
        folds: what is folded into it, in order, and folded: the nodes that do it.
        nodes: every one that it stands for.
        output: name of the last value of ``node`` and of what is folded.
        added: the layer whose output is added to its sums, if any is, and adding: the node that
            does it. taken: a node outside that takes or adds its output; None so far.
        traffic_only: why no design runs it, or "".
    """

    node: Node
    table: dict[str, Any]
    weight: Tensor
    bias: Tensor | None
    source: ModelLayer | None
    front: Size
    inputs_first: bool = False
    flattened: Size | None = None
    folds: list[Fold] = field(default_factory=list)
    folded: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    output: str = ""
    added: ModelLayer | None = None
    adding: Node | None = None
    taken: Node | None = None
    traffic_only: str = ""

    @property
    def name(self) -> str:
        """Of the layer."""
        return str(self.table["name"])

    @property
    def activated(self) -> bool:
        """Whether it has ReLU."""
        return bool(self.table["relu"])

    @property
    def pooled(self) -> dict[str, Any] | None:
        """Its pooling."""
        return self.table.get("pool")

    @property
    def plain(self) -> bool:
        """Whether its sums are its output: nothing added, neither ReLU nor pooling."""
        return not (self.activated or self.pooled or self.added)

    @property
    def tensors(self) -> list[Tensor]:
        """Every constant that its kernels and biases come from."""
        own = [self.weight] if self.bias is None else [self.weight, self.bias]
        return own + [each for fold in self.folds for each in fold.tensors]

    @property
    def has_data(self) -> bool:
        """Whether the model has the numbers of all of them."""
        return all(each.has_data for each in self.tensors)

    def words(self, fmt: FloatFormat) -> tuple[Bits, Bits]:
        """Kernels (groups*m, n, k, k) and biases (groups*m,), rounded once into the format.

        Raises:
            BadInput: a number is not finite, or not in the format.
        """
        kernels = self._kernels()
        maps = len(kernels)
        factor, biases = np.ones(maps), np.zeros(maps)
        if self.bias is not None:
            biases = numbers(self.bias, maps)
        for fold in self.folds:
            scale, less, more = fold.affine(maps)
            with np.errstate(all="ignore"):
                factor, biases = factor * scale, (biases - less) * scale + more
        found = np.empty(kernels.shape, np.uint32)
        step = max(1, CHUNK // max(1, kernels[0].size))
        for low in range(0, maps, step):
            part = slice(low, low + step)
            with np.errstate(all="ignore"):  # what is no number is refused below
                scaled: Values = kernels[part].astype(np.float64)
                scaled *= factor[part].reshape(-1, 1, 1, 1)
            found[part] = self._rounded("weights", scaled, fmt)
        return found, self._rounded("biases", biases, fmt)

    def _kernels(self) -> NDArray[Any]:
        """Weights as (maps, inputs of a group, k, k), of the model's type."""
        array = self.weight.array()
        if self.node.operator == "Conv":
            return array
        rows = array.T if self.inputs_first else array
        if self.flattened is not None:
            rows = from_channels_first(rows, self.flattened)
        return rows[:, :, np.newaxis, np.newaxis]

    def _rounded(self, what: str, values: Values, fmt: FloatFormat) -> Bits:
        words = to_bits(values, fmt)
        unusable = np.argwhere((words & np.uint32(fmt.inf)) == fmt.inf)
        if unusable.size:
            value = values[tuple(unusable[0])]
            folded = ", with what is folded into them," if self.folds else ""
            raise BadInput(
                f"{self.node.where}: {what}{folded} have {value:g}: must be finite numbers that "
                "the network's format holds"
            )
        return words
