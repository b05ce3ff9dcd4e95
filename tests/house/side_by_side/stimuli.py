"""Random values for the inputs of a design, corner values often."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from myhdl import EnumItemType, ResetSignal

from merp.hdl.conversion.base.internals import enum_members, enum_of, initial
from merp.testbenches.block.trace import Sample

CORNERS, SMALL, KEPT = 0.3, 0.15, 0.1  # of an input's values; the others are anywhere
RESETS = 0.1  # how often a reset is active


def stimuli(
    ports: Mapping[str, Any], inputs: Sequence[str], seed: int
) -> Callable[[int, Sample], dict[str, int]]:
    """Random values within the bounds of each input, corner values often; see ``run_block``.

    The values of an input are the same whatever other inputs there are.
    """
    dice = {name: random.Random(f"{seed} {name}") for name in inputs}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        del cycle, seen
        drawn: dict[str, int] = {}
        for name in inputs:
            value = _drawn(ports[name], dice[name])
            if value is not None:
                drawn[name] = value & ((1 << (len(ports[name]) or 1)) - 1)
        return drawn

    return drive


def _drawn(signal: Any, dice: random.Random) -> int | None:
    """The next value of a signal; None if it stays as it is."""
    if isinstance(signal, ResetSignal):
        return int(bool(signal.active) == (dice.random() < RESETS))
    if isinstance(initial(signal), EnumItemType):
        return int(dice.choice(enum_members(enum_of(initial(signal)))))
    low, high = (0, 1) if signal.min is None else (int(signal.min), int(signal.max) - 1)
    luck = dice.random()
    if luck < CORNERS:
        return dice.choice([value for value in (low, high, 0, 1, -1) if low <= value <= high])
    if luck < CORNERS + SMALL:
        return min(max(dice.randint(-8, 20), low), high)
    if luck < CORNERS + SMALL + KEPT:
        return None
    return dice.randint(low, high)
