"""Ports that the modules have in common: status, and streams of one or several elements a beat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from merp.hdl.base.interface import Member, always
from merp.hdl.base.signals import AxiStream
from merp.hdl.base.status import Status
from merp.models.base.counters import Counter


def status_of(counters: Iterable[Counter], words: Callable[[Any], Iterable[str]]) -> Member[Any]:
    """Return the status of a module.

    Args:
        counters: its cycle counters.
        words: maps a design to the word counters that it has.
    """
    return Member("status", lambda design: Status(words(design), counters), kind=Status)


def _number(design: Any) -> int:
    return int(design.fmt.width)


def stream_of_words(
    name: str,
    words: str,
    lanes: Callable[[Any], int],
    width: Callable[[Any], int] = _number,
    there: Callable[[Any], bool] = always,
) -> Member[Any]:
    """Return a stream.

    Args:
        name: of the stream.
        words: its word counter.
        lanes: maps a design to the elements of a beat.
        width: maps a design to the bits of an element.
        there: checks whether a design has the stream.
    """
    return Member(
        name, lambda design: AxiStream(width(design), lanes(design)), there, words, AxiStream
    )
