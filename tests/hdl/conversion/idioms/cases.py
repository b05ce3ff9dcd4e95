"""The designs by idiom, and what makes a block one of them.

Each idiom has several variations: other widths and bounds, clocked and combinational, in
conditions, in indices and in assignments. Every block simulates under any legal stimulus, so that
its hardware must follow the simulation. ``REFUSED`` holds blocks that no hardware can follow.
"""

import inspect
from collections.abc import Callable
from typing import Any

from myhdl import ResetSignal, Signal, intbv, modbv

from side_by_side import Design

DESIGNS: dict[str, list[Design]] = {}
"""The designs of each idiom; the hardware of every one equals its simulation."""

REFUSED: dict[str, Design] = {}
"""Designs without hardware by name; the comment ``# refused`` marks the statement."""

_idiom = ""


def idiom(name: str) -> None:
    """Begin an idiom: the cases that follow are its variations."""
    global _idiom
    _idiom = name
    DESIGNS[name] = []


def signal(kind: str) -> Any:
    """Make a signal of a kind.

    ``b`` is a bit, ``u8`` unsigned, ``s8`` signed, ``m8`` a modbv, ``-3..11`` has these bounds
    as min and max, ``m-3..11`` wraps in them, ``sync+`` and ``async-`` are resets and their
    active level. ``u8@5`` begins with 5; without it, a signal begins with 0 or its minimum.
    """
    kind, _, first = kind.partition("@")
    if kind == "b":
        return Signal(bool(int(first or 0)))
    if kind[:-1] in ("sync", "async"):
        active = kind[-1] == "+"
        return ResetSignal(not active, active=active, isasync=kind[:-1] == "async")
    vector: Any = modbv if kind[0] == "m" else intbv
    bounds = kind.lstrip("m")
    if ".." in bounds:
        low, high = map(int, bounds.split(".."))
    else:
        width = int(bounds.lstrip("us"))
        low, high = (-(1 << width - 1), 1 << width - 1) if kind[0] == "s" else (0, 1 << width)
    value = int(first) if first else 0 if low <= 0 < high else low
    return Signal(vector(value, min=low, max=high))


def _design(
    block: Any, name: str, inputs: str, outputs: str, driven: str, others: dict[str, Any]
) -> Design:
    kinds = dict(port.split("=") for port in (inputs + " " + outputs).split())
    if "clk" in inspect.signature(block.func).parameters:
        kinds = {"clk": "b", **kinds}

    def make() -> dict[str, Any]:
        made = {port: signal(kind) for port, kind in kinds.items()}
        return made | {key: each() if callable(each) else each for key, each in others.items()}

    names = [port.split("=")[0] for port in inputs.split()] + driven.split()
    return Design(name, block, make, tuple(names))


def case(
    inputs: str, outputs: str, driven: str = "", /, **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an entity a variation of the idiom; those of one entity are counted upwards.

    ``inputs`` and ``outputs`` name the ports with their kinds. ``others`` are parameters, and
    bundles that functions make; ``driven`` names the ports of bundles that are inputs.
    """

    def add(block: Any) -> Any:
        number = 1 + sum(each.function is block for each in DESIGNS[_idiom])
        name = f"{block.func.__name__}_{number}"
        DESIGNS[_idiom].append(_design(block, name, inputs, outputs, driven, others))
        return block

    return add


def refused(
    inputs: str, outputs: str, /, **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an entity to those that have no hardware."""

    def add(block: Any) -> Any:
        name = block.func.__name__
        REFUSED[name] = _design(block, name, inputs, outputs, "", others)
        return block

    return add
