"""The port values of two layers, under the ports of their fused pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Each = TypeVar("Each")

_OF_FIRST = {"map_out": "between_out", "state_out": "between_state_out"}
_OF_SECOND = {"kernel": "second_kernel", "bias": "second_bias"}


def of_both(
    first: Mapping[str, Each], second: Mapping[str, Each]
) -> tuple[dict[str, Each], dict[str, Each]]:
    """Return the values of each port of two layers, under the names of the fused pass.

    The second layer's input maps are omitted, because the first layer passes them on chip. They are
    also output for the kernel update.
    """
    return (
        {_OF_FIRST.get(port, port): each for port, each in first.items()},
        {_OF_SECOND.get(port, port): each for port, each in second.items() if port != "map_in"},
    )


def chained(first: Mapping[str, int], second: Mapping[str, int], groups: int) -> dict[str, int]:
    """Return the traffic of each port of the pass; ``second`` is that of one of ``groups``
    groups.
    """
    one, other = of_both(first, second)
    return one | {port: groups * count for port, count in other.items()}
