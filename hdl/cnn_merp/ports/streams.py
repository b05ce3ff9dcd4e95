"""Streams of the tops: the content of a stream determines the width of a beat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merp.hdl.base.interface import Member, always
from merp.hdl.base.signals import BYTE, AxiStream
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import PARTIAL_WORDS, stored_format

PARAMETERS = ("kernel", "bias", "second_kernel", "second_bias")
"""Prefixes of the ports that carry kernels, biases, or their velocities."""


def stream(
    phase: str,
    words: str,
    name: str,
    there: Callable[[Any], bool] = always,
    engine: Callable[[Any], EngineDesign] = lambda design: design,
) -> Member[Any]:
    """Define a stream of a top.

    Args:
        phase: phase of the top.
        words: counter of its words.
        name: name of the stream.
        there: function that checks whether a design has the stream.
        engine: function that returns the design whose elements the stream carries.
    """
    return Member(name, lambda design: _axi(phase, words, engine(design)), there, words, AxiStream)


def _axi(phase: str, port: str, design: EngineDesign) -> AxiStream:
    lanes = design.kernel_port if port.startswith(PARAMETERS) else design.map_port
    if port in PARTIAL_WORDS:
        return AxiStream(design.partial_width, lanes)
    stored = stored_format(phase, port, design)
    return AxiStream(BYTE) if stored is None else AxiStream(stored.width, lanes)


def half_of(members: tuple[Member[Any], ...], half: Member[Any]) -> tuple[Member[Any], ...]:
    """Return the ports of an engine that is a half of a pass and reports its progress.

    The pass counts its words and cycles.
    """
    return (*(each for each in members if each.name != "status"), half)


PASS = ("pass_config", "add_config", "add_unpool_config")
"""Registers of a pass of a layer, which are last in the register map."""
