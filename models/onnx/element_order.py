"""Elements of maps in a row: channel, row, column in ONNX and PyTorch, row, column, channel here.

What is permuted are the columns of the weights (outputs, inputs) of a full connection behind maps.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Size = tuple[int, int, int]  # rows, columns, channels


def from_channels_first(weights: NDArray[Any], size: Size) -> NDArray[Any]:
    """Weights of inputs in the order row, column, channel."""
    rows, columns, channels = size
    maps = weights.reshape(-1, channels, rows, columns)
    return maps.transpose(0, 2, 3, 1).reshape(len(weights), -1)


def to_channels_first(weights: NDArray[Any], size: Size) -> NDArray[Any]:
    """Weights of inputs in the order channel, row, column; undoes ``from_channels_first``."""
    rows, columns, channels = size
    maps = weights.reshape(-1, rows, columns, channels)
    return maps.transpose(0, 3, 1, 2).reshape(len(weights), -1)
