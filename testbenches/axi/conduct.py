"""What software and neighbours do around a run of a top in its AXI shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Conduct:
    """The conduct of one run; as it is by default, nothing is in its way.

    ``sent`` and ``lasts`` are of the run's first attempt: one that follows a reset in mid-stream is
    sent what it should be.

    Attributes:
        pauses: pattern by channel of AXI4-Lite (aw, w, b, ar, r): 1 to go on, 0 to pause.
        sent: words that the source of an input stream is given; the run's own where it is left out.
        lasts: of an input stream, the words among those sent that ``tlast`` goes with; the last
            one where it is left out.
        told: what ``status`` must say before the reset in mid-stream; not looked at if None.
        meddle: seed of register accesses at random while the streams move; none if None.
        counted: the stream whose words a counter counts, by the counter's name; for ``meddle``.
        reset_pending: the shell is reset when the run's interrupt is pending.
        abort: where the shell is reset, it is by its register and not by ``aresetn``.
    """

    pauses: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sent: Mapping[str, Sequence[int]] = field(default_factory=dict)
    lasts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    told: int | None = None
    meddle: int | None = None
    counted: Mapping[str, str] = field(default_factory=dict)
    reset_pending: bool = False
    abort: bool = False
