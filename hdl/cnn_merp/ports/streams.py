"""Streams of the tops: how wide a beat is follows from what it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merp.hdl.base.interface import Member, always
from merp.hdl.base.signals import BYTE, AxiStream
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import PARTIAL_WORDS, stored_format

PARAMETERS = ("kernel", "bias", "second_kernel", "second_bias")
"""How the names of ports begin that carry kernels, biases, or their velocities."""


def stream(
    phase: str,
    words: str,
    name: str,
    there: Callable[[Any], bool] = always,
    engine: Callable[[Any], EngineDesign] = lambda design: design,
) -> Member[Any]:
    """A stream of a top.

    Args:
        phase: of the top. words: the counter of its words. name: of the stream.
        there: whether a design has it. engine: of a design, the one whose elements it carries.
    """
    return Member(name, lambda design: _axi(phase, words, engine(design)), there, words, AxiStream)


def _axi(phase: str, port: str, design: EngineDesign) -> AxiStream:
    lanes = design.kernel_port if port.startswith(PARAMETERS) else design.map_port
    if port in PARTIAL_WORDS:
        return AxiStream(design.partial_width, lanes)
    stored = stored_format(phase, port, design)
    return AxiStream(BYTE) if stored is None else AxiStream(stored.width, lanes)


def half_of(members: tuple[Member[Any], ...], half: Member[Any]) -> tuple[Member[Any], ...]:
    """The ports of an engine that is a half of a pass: it tells the other one how far it is.

    Its words and cycles are counted there.
    """
    return (*(each for each in members if each.name != "status"), half)


PASS = ("pass_config", "add_config", "add_unpool_config")
"""Registers of a pass of a layer; the register map has them last."""
