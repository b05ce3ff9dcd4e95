"""Behaviour of software and stream partners during a run of a top in its AXI shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Conduct:
    """The behaviour during one run. The default is a run without any disturbance.

    ``sent`` and ``lasts`` apply to the first attempt of the run. An attempt after a reset in
    mid-stream uses the correct words.

    Attributes:
        pauses: pattern by channel of AXI4-Lite (aw, w, b, ar, r): 1 to proceed, 0 to pause.
        sent: words for the source of an input stream; by default the words of the run.
        lasts: positions of the sent words with ``tlast``, by input stream; by default the ends of
            the run, or the last word.
        ``told``: required value of ``status`` before the reset in mid-stream; None skips the check.
        meddle: seed of random register accesses while the streams move; None for no accesses.
        counted: the stream whose words a counter counts, by the counter's name; for ``meddle``.
        reset_pending: whether to reset the shell while the run's interrupt is pending.
        abort: whether a reset uses the control register of the shell instead of ``aresetn``.
    """

    pauses: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sent: Mapping[str, Sequence[int]] = field(default_factory=dict)
    lasts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    told: int | None = None
    meddle: int | None = None
    counted: Mapping[str, str] = field(default_factory=dict)
    reset_pending: bool = False
    abort: bool = False
