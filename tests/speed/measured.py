"""What a measurement gives: seconds, or a ratio between two of them."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple


class Seconds(NamedTuple):
    """How long something took, and what may be said of it beside that."""

    name: str
    value: float
    note: str = ""


class Ratio(NamedTuple):
    """How many times one thing is as fast, or as slow, as another in the same run."""

    name: str
    value: float
    note: str = ""


def best(task: Callable[[], Any], repeat: int) -> float:
    """Seconds of the fastest of ``repeat`` calls."""
    times = []
    for _ in range(repeat):
        began = perf_counter()
        task()
        times.append(perf_counter() - began)
    return min(times)
