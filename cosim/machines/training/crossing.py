"""Words that crossed a link between two boards in a batch."""

from __future__ import annotations

from typing import NamedTuple


class Crossing(NamedTuple):
    """Words of a stream over a link in a batch.

    Attributes:
        border: number of the node in front of the link, from 0.
        way: direction, ``on`` or ``back``.
        stream: name of the stream.
        closed_form: words by formula.
        sent: words at the sending end of the link.
        arrived: words at the receiving end of the link.
    """

    border: int
    way: str
    stream: str
    closed_form: int
    sent: int
    arrived: int
