"""Words that crossed a link between two boards in a batch."""

from __future__ import annotations

from typing import NamedTuple


class Crossing(NamedTuple):
    """Words of a stream over a link in a batch.

    Attributes:
        border: of the node in front, from 0. way: ``on`` or ``back``. stream: its name.
        closed_form: words by formula. sent, arrived: at both ends of the link.
    """

    border: int
    way: str
    stream: str
    closed_form: int
    sent: int
    arrived: int
