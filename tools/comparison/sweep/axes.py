"""The axes of a sweep: the varied parameters and their values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from merp.models.base.errors import BadInput, shown
from merp.models.base.keys import WholeKey, WordKey
from merp.models.base.renamed import renamed
from merp.models.comparison.architecture import Architecture
from merp.models.fpga.board import MOST_DEVICES
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs
from merp.tools.common.fields import MOST_BATCH

MOST_POINTS = 100_000

Value = int | str
Point = Mapping[str, Value]
"""A value of each axis, by the axis' name."""

BATCH = WholeKey(key="batch", says="images of a step", low=1, high=MOST_BATCH)
CLOCK = WholeKey(key="clock", says="clock of the engines in MHz", low=1, high=1000)

Axes = Mapping[str, WholeKey | WordKey]

OF_STEPS: Axes = {each.key: each for each in (BATCH, CLOCK)}
"""Axes of every network."""

DEVICES = WholeKey(key="devices", says="boards", low=1, high=MOST_DEVICES)
LINK = WholeKey(
    key="link_gbs", says="rate of a link, each way, in 10^9 bits per second", low=1, high=100_000
)
LATENCY = WholeKey(key="latency", says="latency of a link, in cycles", low=0, high=1 << 20)
OTHER_NAMES = {"boards": DEVICES.key}
NOTHING: Mapping[str, str] = {}


def design_axes(network: Network) -> Axes:
    """Return the axes of a network's designs: keys that its machine lets vary, batch and clock.

    Raises:
        BadInput: its designs belong to several machines.
    """
    return {**{each.key: each for each in machine_that_runs(network).axes}, **OF_STEPS}


def axes_of(architecture: Architecture) -> Axes:
    """Return the axes of an architecture: its boards, links, batch, and its own options."""
    own: dict[str, WholeKey | WordKey] = {
        each.name: (
            WordKey(key=each.name, says=each.says, allowed=each.allowed)
            if each.kind is str
            else WholeKey(key=each.name, says=each.says, low=int(each.low), high=int(each.high))
        )
        for each in architecture.choices
        if each.kind in (str, int)
    }
    return {each.key: each for each in (DEVICES, LINK, LATENCY, BATCH)} | own


_NUMBER = "[0-9]{1,9}"
_RANGE = re.compile(rf"({_NUMBER})(?::|\.\.)({_NUMBER})(?::({_NUMBER}))?")
_LIST = re.compile(f"{_NUMBER}(?:,{_NUMBER})*")


def read_axes(
    texts: Sequence[str], allowed: Axes, former: Mapping[str, str] = NOTHING
) -> dict[str, tuple[Value, ...]]:
    """Return the values of each axis from ``NAME=LOW:HIGH[:STEP]`` or ``NAME=A,B,...``.

    Both ends are included. ``LOW..HIGH`` is ``LOW:HIGH``. Only ``allowed`` axes are accepted, also
    by their ``former`` names.

    Raises:
        BadInput: an unknown axis, a repeated one, a value that is not allowed, or too many points.
    """
    axes: dict[str, tuple[Value, ...]] = {}
    points = 1
    for text in texts:
        name, _, values = text.partition("=")
        name = OTHER_NAMES.get(name, name)
        if name in former:
            renamed(name, former[name])
            name = former[name]
        if name not in allowed:
            near = "".join(f"; did you mean {n}?" for n in get_close_matches(name, allowed, 1))
            raise BadInput(
                f"--over {text}: no axis {shown(name)}: there are {', '.join(allowed)}{near}"
            )
        if name in axes:
            raise BadInput(f"--over {text}: {name} is given twice: allowed is once")
        axes[name] = tuple(dict.fromkeys(_values(text, allowed[name], values)))
        points *= len(axes[name])
        if points > MOST_POINTS:
            raise BadInput(f"--over {text}: {points:,} points or more: allowed are {MOST_POINTS:,}")
    return axes


def points_of(axes: Mapping[str, Sequence[Value]]) -> Iterator[Point]:
    """Yield every combination, the last axis fastest."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _values(text: str, axis: WholeKey | WordKey, values: str) -> Sequence[Value]:
    if isinstance(axis, WordKey):
        words = values.split(",")
        if not set(words) <= set(axis.allowed):
            raise BadInput(f"--over {text}: allowed are {', '.join(axis.allowed)}, with commas")
        return words
    found = _RANGE.fullmatch(values)
    numbers: Sequence[int] = []
    if found is not None:
        low, high, step = (int(part or 1) for part in found.groups())
        numbers = range(low, high + 1, step) if step else []
    elif _LIST.fullmatch(values):
        numbers = sorted({int(each) for each in values.split(",")})
    if not numbers or not axis.low <= numbers[0] <= numbers[-1] <= axis.high:
        raise BadInput(
            f"--over {text}: must be LOW:HIGH, LOW:HIGH:STEP or numbers with commas, from "
            f"{axis.low} to {axis.high}"
        )
    return numbers
