"""What two layers have on their ports, by the ports of the pass that both are fused in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Each = TypeVar("Each")

_OF_FIRST = {"map_out": "between_out", "state_out": "between_state_out"}
_OF_SECOND = {"kernel": "second_kernel", "bias": "second_bias"}


def of_both(
    first: Mapping[str, Each], second: Mapping[str, Each]
) -> tuple[dict[str, Each], dict[str, Each]]:
    """What there is of each port of two layers, under the names of the fused pass.

    The maps that the second takes are left out: they are those that the first makes, and come to it
    on chip. For the kernel update these leave, too.
    """
    return (
        {_OF_FIRST.get(port, port): each for port, each in first.items()},
        {_OF_SECOND.get(port, port): each for port, each in second.items() if port != "map_in"},
    )


def chained(first: Mapping[str, int], second: Mapping[str, int], groups: int) -> dict[str, int]:
    """What crosses each port of the pass, ``second`` being what does of a group of so many."""
    one, other = of_both(first, second)
    return one | {port: groups * count for port, count in other.items()}
