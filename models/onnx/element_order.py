"""Convert the weights of fully connected layers between two orders of flattened maps.

ONNX and PyTorch flatten maps in the order channel, row, column. Merp has row, column, channel. The
functions permute the columns of weights (outputs, inputs).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Size = tuple[int, int, int]  # rows, columns, channels


def from_channels_first(weights: NDArray[Any], size: Size) -> NDArray[Any]:
    """Convert weights from the order channel, row, column to row, column, channel."""
    rows, columns, channels = size
    maps = weights.reshape(-1, channels, rows, columns)
    return maps.transpose(0, 2, 3, 1).reshape(len(weights), -1)


def to_channels_first(weights: NDArray[Any], size: Size) -> NDArray[Any]:
    """Convert weights from the order row, column, channel to channel, row, column."""
    rows, columns, channels = size
    maps = weights.reshape(-1, rows, columns, channels)
    return maps.transpose(0, 3, 1, 2).reshape(len(weights), -1)
