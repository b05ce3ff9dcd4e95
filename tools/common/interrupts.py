"""An interrupt (Ctrl-C) that is not lost, whatever it strikes.

Python raises `KeyboardInterrupt` wherever the main thread is. Strikes it a finaliser or the
callback of a weak reference - with numba's compiler running, every so often - it is reported as
*ignored*, and the verb works on as if nobody had asked. Such an interrupt is sent once more.

Strikes it numba's compiler itself, functions stay that are half made, and objects of LLVM that two
owners will free: the process then ends by an error of numba's, or by a segmentation fault. So an
interrupt waits until the function that is being compiled is done.
"""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.01
"""Seconds until an interrupt is sent again: by then the finaliser that it struck is done."""


@contextmanager
def interrupts_that_last() -> Iterator[None]:
    """Within it, an interrupt that a finaliser swallows comes again, one of the compiler waits.

    Nothing is said of either.

    Raises `KeyboardInterrupt` at its end if one is still to come: it belongs to this work. Where
    interrupts are ignored, or someone else's, nothing changes.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    lasting = _Lasting()
    sys.unraisablehook = lasting.hook
    signal.signal(signal.SIGINT, lasting.handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = lasting.otherwise
        waiting = lasting.stop()
    if waiting:
        raise KeyboardInterrupt


def survive_interrupted_source() -> None:
    """Let a process that was interrupted end with the status that it gives.

    CPython remembers an interrupt of code that it ran from a string, as `dataclass` does, and kills
    itself by the signal in the end, although the error was caught; the next such code forgets it.
    """
    exec("")


def _compiles() -> bool:
    """Whether this thread compiles, which a quick verb does not wait to import."""
    numba = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(numba, "global_compiler_lock", None)  # None: the module is being imported
    return lock is not None and lock.is_locked()


class _Lasting:
    def __init__(self) -> None:
        self.otherwise = sys.unraisablehook
        self._to_come: list[threading.Timer] = []

    def hook(self, lost: UnraisableHookArgs) -> None:
        """An error of a finaliser, which nobody will see."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            self._later()
        else:
            self.otherwise(lost)

    def handle(self, _: int, frame: FrameType | None) -> None:
        """An interrupt; in the hook, too, it would be lost."""
        if _compiles():
            self._later()
            return
        while frame is not None:
            if frame.f_code is _Lasting.hook.__code__:
                self._later()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    def _later(self) -> None:
        timer = threading.Timer(AGAIN, interrupt_main)
        timer.daemon = True
        self._to_come.append(timer)
        timer.start()

    def stop(self) -> bool:
        """Whether an interrupt was still to come; it will not."""
        waiting = [timer for timer in self._to_come if timer.is_alive()]
        for timer in waiting:
            timer.cancel()
        return bool(waiting)
