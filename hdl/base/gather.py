"""Combine the flags of several engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.status import Status


@block
def gather(parts: Sequence[Status], status: Status) -> Any:
    """Combine flags: busy and framing_error if any part sets them, done if all parts do.

    parts   in   flags of the parts
    status  out  the combined flags; nothing else of it is driven
    """
    if len(parts) == 1:
        part = parts[0]

        @always_comb
        def hand_on() -> None:
            status.done.next = part.done
            status.busy.next = part.busy
            status.framing_error.next = part.framing_error

        return hand_on
    done = ConcatSignal(*(each.done for each in parts))
    busy = ConcatSignal(*(each.busy for each in parts))
    wrong = ConcatSignal(*(each.framing_error for each in parts))
    all_done = (1 << len(parts)) - 1

    @always_comb
    def tell() -> None:
        status.done.next = done == all_done
        status.busy.next = busy != 0
        status.framing_error.next = wrong != 0

    return tell
