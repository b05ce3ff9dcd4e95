"""Operations that are folded into the kernels and biases of a layer: normalisations and biases.

They are computed in binary64. The words are rounded once, after all operations are folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from merp.models.onnx.tensor import Tensor

Values = NDArray[np.float64]


class Fold(Protocol):
    """An operation on each output map y of a layer: factor * (y - less) + more."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Constants of the operation."""

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Return ``factor``, ``less`` and ``more`` for each map."""


@dataclass(frozen=True)
class Normalisation:
    """Batch normalisation in inference, with known statistics.

    source: Ioffe and Szegedy 2015, algorithm 2 (arXiv:1502.03167)
    """

    scale: Tensor
    shift: Tensor
    mean: Tensor
    variance: Tensor
    epsilon: float

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Constants of the operation."""
        return self.scale, self.shift, self.mean, self.variance

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Return ``factor``, ``less`` and ``more`` for each map."""
        scale, shift, mean, variance = (numbers(each, maps) for each in self.tensors)
        with np.errstate(all="ignore"):  # the layer refuses the NaN of a negative variance
            return scale / np.sqrt(variance + self.epsilon), mean, shift


@dataclass(frozen=True)
class Constant:
    """A constant that a separate node adds, subtracts, multiplies by or divides by."""

    operator: str
    constant: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The constant."""
        return (self.constant,)

    def affine(self, maps: int) -> tuple[Values, Values, Values]:
        """Return ``factor``, ``less`` and ``more`` for each map."""
        value, one, zero = numbers(self.constant, maps), np.ones(maps), np.zeros(maps)
        with np.errstate(all="ignore"):  # the layer refuses a division by zero
            return {
                "Add": (one, zero, value),
                "Sum": (one, zero, value),
                "Sub": (one, value, zero),
                "Mul": (value, zero, zero),
                "Div": (one / value, zero, zero),
            }[self.operator]


def numbers(tensor: Tensor, maps: int) -> Values:
    """Return one number for each map, from a tensor with a number per map or one for all."""
    with np.errstate(invalid="ignore"):  # a signalling NaN would warn
        array: NDArray[Any] = tensor.array().astype(np.float64).reshape(-1)
    return np.array(np.broadcast_to(array, maps))
