"""Turn signals that ask a process to end into an exception that is never lost.

The signals are Ctrl-C (SIGINT), SIGTERM of `timeout` and batch systems, and SIGHUP of a closing
terminal. Each signal raises `Interrupted`, a `KeyboardInterrupt`. Therefore the same cleanup code
handles all of them.

Python raises the exception at the current position of the main thread. This may be a finaliser or
the callback of a weak reference, often while numba compiles. Python then reports the exception as
*ignored* and continues. In that case the signal is sent once more.

An interrupt inside numba's compiler would leave incomplete functions and LLVM objects that are
freed twice. The process would end with an internal error of numba or with a segmentation fault.
Therefore a signal waits until the current function is compiled.

A signal also waits while a function marked by `uninterrupted` runs. Such a function acquires or
releases a resource that must not be left half acquired, such as the lock of an output folder.

A signal has no effect while the cleanup after an earlier signal runs: `timeout` sends each of its
signals twice.
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
"""Seconds until an interrupt is sent again. By then the interrupted finaliser has ended."""

INTERRUPTING: dict[int, Callable[[int, FrameType | None], Any] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""Signals that interrupt, and their default handlers."""


Function = TypeVar("Function", bound=Callable[..., Any])

_uninterrupted: set[CodeType] = set()


def uninterrupted(function: Function) -> Function:
    """Mark a short function: a signal waits until a call of the function has returned."""
    _uninterrupted.add(cast(FunctionType, function).__code__)
    return function


class Interrupted(KeyboardInterrupt):
    """A signal has asked the process to end.

    Attributes:
        number: number of the signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number


def status_of(error: KeyboardInterrupt) -> int:
    """Return the exit status of a process that a signal has ended.

    It is 128 plus the number, as in a shell.
    """
    return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)


@contextmanager
def interrupts_that_last() -> Iterator[None]:
    """Within the context, signals that ask for the end raise `Interrupted`, and none is lost.

    Nothing is printed about them.

    Raises `Interrupted` at the end of the context if a signal is still pending, because the signal
    belongs to this work. A signal that is ignored or has another handler is unchanged. Outside the
    main thread the context has no effect, because Python handles no signals there.
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
    """Block signals while a handler changes, because Python loses a signal at that moment.

    Pending signals are handled before.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def survive_interrupted_source() -> None:
    """Let a process end with its own status after code from a string was interrupted.

    CPython remembers an interrupt of code that it ran from a string, such as the code of
    `dataclass`. At its end CPython kills itself with the signal, even if the error was caught. The
    next execution of such code clears this memory.
    """
    exec("")


def _compiles() -> bool:
    """Return whether this thread compiles, without importing numba for a fast command."""
    numba = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(numba, "global_compiler_lock", None)  # None: the module is being imported
    return lock is not None and lock.is_locked()


def _enters(frame: FrameType | None) -> bool:
    """Return whether the interrupted code enters or leaves a context.

    Its end might not be recorded.
    """
    return frame is not None and frame.f_code.co_filename == contextlib.__file__


def _is_answered() -> bool:
    """Return whether the interrupted code cleans up after an earlier signal."""
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
        """Handle an error in a finaliser, which would otherwise be lost."""
        if isinstance(lost.exc_value, Interrupted):
            self._later(lost.exc_value.number)
        elif issubclass(lost.exc_type, KeyboardInterrupt):
            self._later(signal.SIGINT)
        else:
            self.otherwise(lost)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal. Within the hook, an exception would also be lost."""
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
        """Send a signal again, to the main thread, because this also ends a wait for a program."""
        send = (threading.main_thread().ident, number)
        timer = threading.Timer(AGAIN, signal.pthread_kill, send)
        timer.daemon = True
        self._to_come[timer] = number
        timer.start()

    def stop(self) -> int | None:
        """Return the pending signal, if any, and cancel it."""
        self._over = True
        for timer, number in self._to_come.items():
            if timer.is_alive():
                self._waiting = number
            timer.cancel()
            timer.join()
        return self._waiting
