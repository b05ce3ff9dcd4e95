"""An interrupt (Ctrl-C) that is not lost, whatever it strikes.

Python raises `KeyboardInterrupt` wherever the main thread is. Strikes it a finaliser or the
callback of a weak reference - with numba's compiler running, every so often - it is reported as
*ignored*, and the verb works on as if nobody had asked. Such an interrupt is sent once more.
"""

from __future__ import annotations

import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.01
"""Seconds until a lost interrupt is sent again: by then the finaliser that it struck is done."""


@contextmanager
def interrupts_that_last() -> Iterator[None]:
    """Within it, an interrupt that a finaliser swallows comes again; nothing is said of it.

    Raises `KeyboardInterrupt` at its end if one is still to come: it belongs to this work.
    """
    before = sys.unraisablehook
    to_come: list[threading.Timer] = []
    sys.unraisablehook = _sending_again(to_come, before)
    try:
        yield
    finally:
        sys.unraisablehook = before
        waiting = [timer for timer in to_come if timer.is_alive()]
        for timer in waiting:
            timer.cancel()
    if waiting:
        raise KeyboardInterrupt


def _sending_again(
    to_come: list[threading.Timer], otherwise: Callable[[UnraisableHookArgs], object]
) -> Callable[[UnraisableHookArgs], object]:
    def hook(lost: UnraisableHookArgs) -> object:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            return otherwise(lost)
        timer = threading.Timer(AGAIN, interrupt_main)
        timer.daemon = True
        to_come.append(timer)
        timer.start()
        return None

    return hook
