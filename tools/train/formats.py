"""Fractions that a machine in fixed point asks for: what it is given, and its answer as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from merp.models.network.network import Network
from merp.tools.common.progress import Progress
from merp.tools.train.data import Data


@dataclass(frozen=True, kw_only=True)
class FormatRequest:
    """What the twin is trained with; as of a ``Course``."""

    steps: int
    batch: int
    learning_rate: float
    momentum: float
    loss: str
    seed: int


Measure = Callable[[Network, Data, FormatRequest, Progress], Mapping[str, Any]]
"""The part ``formats`` of a machine: trains the twin of a network, and answers for machines with
magnitudes, and the fractions that they ask for."""


def toml(answer: Mapping[str, Any]) -> str:
    """The fractions as tables of a network file over a base."""
    lines = [
        f"# {answer['network']} in float64: {answer['accuracy']:.2%} of "
        f"{answer['images']['held_out']:,} held-out images right",
        f"# after {answer['steps']:,} steps of {answer['batch']} images, loss {answer['loss']}",
        "[fractions]",
        *(f"{key} = {bits}" for key, bits in answer["fractions"].items()),
    ]
    for layer, own in answer["layers"].items():
        if own:
            keys = ", ".join(f"{key} = {bits}" for key, bits in own.items())
            lines += ["", f"[layer.{layer}]", f"fractions = {{ {keys} }}"]
    return "\n".join(lines)
