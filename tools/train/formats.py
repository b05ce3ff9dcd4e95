"""Fractions for a machine in fixed point: the request, and the answer as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from merp.models.network.network import Network
from merp.tools.common.progress import Progress
from merp.tools.train.datasets.data import Data


@dataclass(frozen=True, kw_only=True)
class FormatRequest:
    """Options of the training in float64, as in a ``Course``."""

    steps: int
    batch: int
    learning_rate: float
    momentum: float
    loss: str
    seed: int


Measure = Callable[[Network, Data, FormatRequest, Progress], Mapping[str, Any]]
"""The part ``formats`` of a machine. It trains a network in float64, and returns an answer for
programs with magnitudes and the fractions that they need."""


def toml(answer: Mapping[str, Any]) -> str:
    """Return the fractions as tables of a network file over a base."""
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
