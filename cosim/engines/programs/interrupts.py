"""Signals that ask a process to end, as an exception that is not lost, whatever it strikes.

Ctrl-C (SIGINT), `timeout` and batch systems (SIGTERM), a terminal that closes (SIGHUP): each raises
`Interrupted`, a `KeyboardInterrupt`, so that all of them are cleaned up after alike.

Python raises it wherever the main thread is. If that is a finaliser or the callback of a weak
reference, as often while numba compiles, Python reports it as *ignored* and the work goes on. Such
a signal is sent once more.

If it struck numba's compiler, half-made functions would stay, and objects of LLVM that two owners
free: the process would end by an error of numba's, or by a segmentation fault. So a signal waits
until the function that is being compiled is done.

It waits, too, while a function runs that `uninterrupted` marks: one that takes or gives back what
must not be left half taken, as the lock of an output folder.

A signal that comes while an earlier one is being cleaned up after changes nothing: `timeout` sends
each of its signals twice.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.01
"""Seconds until an interrupt is sent again: by then the finaliser that it struck is done."""

INTERRUPTING: dict[int, Callable[[int, FrameType | None], Any] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""Signals that interrupt, and how each is handled where nobody has decided anything."""


Function = TypeVar("Function", bound=Callable[..., Any])

_uninterrupted: set[CodeType] = set()


def uninterrupted(function: Function) -> Function:
    """Mark a function, which must be quick: a signal waits until a call of it is over."""
    _uninterrupted.add(cast(FunctionType, function).__code__)
    return function


class Interrupted(KeyboardInterrupt):
    """A signal has asked for the end.

    Attributes:
        number: the signal's.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number


def status_of(error: KeyboardInterrupt) -> int:
    """Exit status of a process that a signal has ended, as a shell gives it: 128 and its number."""
    return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)


@contextmanager
def interrupts_that_last() -> Iterator[None]:
    """Within it, signals that ask for the end raise `Interrupted`, and none of them is lost.

    Nothing is printed of them.

    Raises `Interrupted` at its end if a signal is still to come: it belongs to this work. A signal
    that is ignored or handled by someone else stays so. Outside the main thread nothing changes:
    Python handles no signals there.
    """
    ours = threading.current_thread() is threading.main_thread()
    untouched = [
        each for each, how in INTERRUPTING.items() if ours and signal.getsignal(each) == how
    ]
    if not (ours and untouched):
        yield
        return
    lasting = _Lasting()
    otherwise = sys.unraisablehook
    try:
        sys.unraisablehook = lasting.hook
        for each in untouched:
            signal.signal(each, lasting.handle)
        yield
    finally:
        waiting = lasting.stop()
        with _held_back(untouched):
            for each in untouched:
                signal.signal(each, INTERRUPTING[each])
        sys.unraisablehook = otherwise
    if waiting is not None:
        raise Interrupted(waiting)


@contextmanager
def _held_back(signals: Sequence[int]) -> Iterator[None]:
    """Have signals come before or after, as Python loses one that comes while its handler changes.

    Those that have come are handled before.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _enters(frame: FrameType | None) -> bool:
    """Whether the code that was struck enters or leaves a context: its end might not be noted."""
    return frame is not None and frame.f_code.co_filename == contextlib.__file__


def _is_answered() -> bool:
    """Whether the code that was struck cleans up after an earlier signal."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


class _Lasting:
    def __init__(self) -> None:
        self.otherwise = sys.unraisablehook
        self._to_come: dict[threading.Timer, int] = {}
        self._over = False
        self._waiting: int | None = None

    @uninterrupted
    def hook(self, lost: UnraisableHookArgs) -> None:
        """An error of a finaliser, which nobody will see."""
        if isinstance(lost.exc_value, Interrupted):
            self._later(lost.exc_value.number)
        elif issubclass(lost.exc_type, KeyboardInterrupt):
            self._later(signal.SIGINT)
        else:
            self.otherwise(lost)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """A signal; in the hook, too, it would be lost."""
        if self._over:
            self._waiting = number
            return
        if _is_answered():
            return
        if _compiles() or _enters(frame):
            self._later(number)
            return
        while frame is not None:
            if frame.f_code in _uninterrupted:
                self._later(number)
                return
            frame = frame.f_back
        raise Interrupted(number)

    def _later(self, number: int) -> None:
        """Send a signal again; to the thread itself, so that it ends a wait for a program too."""
        send = (threading.main_thread().ident, number)
        timer = threading.Timer(AGAIN, signal.pthread_kill, send)
        timer.daemon = True
        self._to_come[timer] = number
        timer.start()

    def stop(self) -> int | None:
        """The signal that was still to come, if any; it will not."""
        self._over = True
        for timer, number in self._to_come.items():
            if timer.is_alive():
                self._waiting = number
            timer.cancel()
            timer.join()
        return self._waiting
