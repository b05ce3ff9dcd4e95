"""F-CNN's part of the report: the words of its runs."""

from __future__ import annotations

from typing import Final

from merp.models.machines.fcnn.bytes import word_bytes
from merp.models.machines.fcnn.words import missing_elements, work_of
from merp.models.network.network import Layer, Network
from merp.tools.machines.usual.report import RunRules, report_with

_ONCE: Final = frozenset({"kernel", "bias", "gradient_out"})
"""Ports whose words do not increase with the images of a run."""


def _turns(network: Network, layer: Layer, phase: str, port: str, images: int) -> int:
    """Return how often a port moves its words: once in a run, or once for every image."""
    return 1 if port in _ONCE else images


def _not_compared(network: Network, layer: Layer, phase: str, images: int) -> int:
    """Return the elements of missing maps, which have no meaning."""
    return missing_elements(work_of(network, layer, phase, images))


REPORT = report_with(RunRules(turns=_turns, word_bytes=word_bytes, not_compared=_not_compared))
