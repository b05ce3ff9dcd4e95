"""What is folded into the kernels and biases in front of it: a normalisation, a further bias.

In binary64; the words are rounded once, when everything is folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from merp.models.onnx.tensor import Tensor

Values = NDArray[np.float64]


class Fold(Protocol):
    """What is done to each output map y of a layer: factor * (y - less) + more."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Constants that it takes."""

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Factor, less and more of each map."""


@dataclass(frozen=True)
class Normalisation:
    """Batch normalisation in inference, of statistics that are known.

    Source: Ioffe and Szegedy 2015, algorithm 2 (arXiv:1502.03167).
    """

    scale: Tensor
    shift: Tensor
    mean: Tensor
    variance: Tensor
    epsilon: float

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Constants that it takes."""
        return self.scale, self.shift, self.mean, self.variance

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Factor, less and more of each map."""
        scale, shift, mean, variance = (numbers(each, maps) for each in self.tensors)
        with np.errstate(all="ignore"):  # of a variance below 0 the layer says what came of it
            return scale / np.sqrt(variance + self.epsilon), mean, shift


@dataclass(frozen=True)
class Bias:
    """A bias that is added by a node of its own."""

    bias: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The bias."""
        return (self.bias,)

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Factor 1, and the bias."""
        return np.ones(maps), np.zeros(maps), numbers(self.bias, maps)


def numbers(tensor: Tensor, maps: int) -> Values:
    """The numbers of a tensor with one for each map, or one for all."""
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        array: NDArray[Any] = tensor.array().astype(np.float64).reshape(-1)
    return np.array(np.broadcast_to(array, maps))
