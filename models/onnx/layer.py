"""A layer of a model: its keys in a network file, and the tensors of its kernels and biases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import LEAKY_RELU, RELU6
from merp.models.onnx.element_order import from_channels_first
from merp.models.onnx.folding import Fold, Values, numbers
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import Tensor

if TYPE_CHECKING:  # it consists of layers
    from merp.models.onnx.together import Together

Size = tuple[int, int, int]  # rows, columns, channels

ACTIVATIONS = frozenset({"relu", "activation", "slope"})
"""Keys of an activation."""

CHUNK = 1 << 22
"""Weights that are rounded together; a binary64 copy of a large layer would not fit memory."""


@dataclass(kw_only=True, eq=False)
class ModelLayer:
    """A layer of a model.

    Attributes:
        node: the node with the weights: Conv, Gemm or MatMul; or a pooling of its own.
        table: keys of [[layer]] in a network file.
        weight, bias: tensors of the node; None if it has none.
        source: the layer or layers whose output is the input of this layer; None for the images.
        front: the size of the input.
        inputs_first: whether weights of a fully connected layer are (inputs, outputs), not
            (outputs, inputs).
        flattened: rows, columns and channels of the maps that were flattened into its input; None
            if no maps were flattened.
        folds: operations folded into the layer, in order.
        folded: the nodes of these operations.
        nodes: all nodes that the layer represents.
        added: the layer whose output is added to the sums of this layer, if any.
        adding: the node that adds it.
        taken: a node that uses or adds the output; None if there is none so far.
        traffic_only: the reason why no design runs the layer, or "".
    """

    node: Node
    table: dict[str, Any]
    weight: Tensor | None
    bias: Tensor | None
    source: ModelLayer | Together | None
    front: Size
    inputs_first: bool = False
    flattened: Size | None = None
    folds: list[Fold] = field(default_factory=list)
    folded: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    added: ModelLayer | None = None
    adding: Node | None = None
    taken: Node | None = None
    traffic_only: str = ""

    @property
    def name(self) -> str:
        """Name of the layer."""
        return str(self.table["name"])

    @property
    def activated(self) -> bool:
        """Whether the layer has ReLU or ReLU6, so that no output is below 0."""
        return self.stops or bool(self.table.get("relu", False))

    @property
    def stops(self) -> bool:
        """Whether the layer has ReLU6, which has the key ``activation`` instead of ``relu``."""
        return self.table.get("activation") == RELU6

    @property
    def leaks(self) -> bool:
        """Whether the layer has leaky ReLU."""
        return self.table.get("activation") == LEAKY_RELU

    def extended(self, keys: dict[str, Any]) -> dict[str, Any]:
        """Return the layer's keys with an activation or a pooling more.

        An activation takes the place of the one before, unless that one makes it superfluous: ReLU
        after ReLU6, and leaky ReLU after both.
        """
        chosen = {key: own for key, own in keys.items() if key in ACTIVATIONS}
        superfluous = self.activated if "slope" in chosen else self.stops and "relu" in chosen
        if not chosen or superfluous:
            return self.table | {key: own for key, own in keys.items() if key not in chosen}
        place = next((key for key in self.table if key in ACTIVATIONS), None)
        table: dict[str, Any] = {}
        for key, own in self.table.items():
            if key == place:
                table |= chosen
            elif key not in ACTIVATIONS:
                table[key] = own
        return table | keys

    @property
    def pooled(self) -> dict[str, Any] | None:
        """Pooling of the layer."""
        return self.table.get("pool")

    @property
    def plain(self) -> bool:
        """Whether the sums are the output of the layer: no addition, activation or pooling."""
        return not (self.activated or self.leaks or self.pooled or self.added)

    @property
    def tensors(self) -> list[Tensor]:
        """All constants of its kernels and biases."""
        own = [each for each in (self.weight, self.bias) if each is not None]
        return own + [each for fold in self.folds for each in fold.tensors]

    @property
    def has_data(self) -> bool:
        """Whether the model has the numbers of all constants."""
        return all(each.has_data for each in self.tensors)

    def words(self, fmt: FloatFormat) -> tuple[Bits, Bits]:
        """Return kernels (groups*m, n, k, k) and biases (groups*m,), rounded once to ``fmt``.

        Raises:
            BadInput: a number is not finite, or exceeds the range of the format.
        """
        assert self.weight is not None
        kernels = self._kernels(self.weight.array())
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
            with np.errstate(all="ignore"):  # ``_rounded`` refuses NaN and infinities
                scaled: Values = kernels[part].astype(np.float64)
                scaled *= factor[part].reshape(-1, 1, 1, 1)
            found[part] = self._rounded("weights", scaled, fmt)
        return found, self._rounded("biases", biases, fmt)

    def _kernels(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the weights as (maps, inputs of a group, k, k), in the model's type."""
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
            folded = ", including the folded nodes," if self.folds else ""
            raise BadInput(
                f"{self.node.where}: {what}{folded} have {value:g}: must be finite numbers that "
                "the network's format can represent"
            )
        return words
