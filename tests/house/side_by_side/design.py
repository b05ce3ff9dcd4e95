"""A design that is to be compared, as who wants it compared states it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Design:
    """A design that is to be compared.

    Attributes:
        name: a legal identifier, unlike those of the others.
        function: a block that is decorated with ``@merp.entity``.
        make: gives fresh arguments by name, signals and parameters.
        inputs: names of the ports that get random stimuli; never the clock.
        cycles: how many are compared.
        seed: of the stimuli.
    """

    name: str
    function: Any
    make: Callable[[], dict[str, Any]]
    inputs: tuple[str, ...]
    cycles: int = 60
    seed: int = 1
