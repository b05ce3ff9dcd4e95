"""Signs of life of one who plays a board, so that nobody waits for one that stands still.

A board may compute for hours and say nothing of its work. Its process says every few seconds that
it is alive. A process that is stopped does not, and silence can have a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any, Final, Protocol

ALIVE: Final = "alive"
"""The sign, in between what else is said."""

BEAT_SECONDS = 1.0


class BeatPeer(Protocol):
    """The other side."""

    def send(self, message: Any) -> None:
        """Raises: ConnectionError: nobody listens any more."""

    def recv(self) -> Any:
        """What it says next.

        Raises:
            EOFError, ConnectionError: it says no more.
        """


@contextmanager
def alive(caller: BeatPeer) -> Iterator[BeatPeer]:
    """Within it, the other side gets a sign of life every ``BEAT_SECONDS``.

    Yields the caller, to which messages go one after the other.
    """
    beating = _Beating(caller)
    thread = Thread(target=beating.beat, daemon=True)
    thread.start()
    try:
        yield beating
    finally:
        beating.ended.set()
        thread.join(BEAT_SECONDS)  # MPI must not end while it speaks


class _Beating:
    def __init__(self, caller: BeatPeer) -> None:
        self.ended = Event()
        self.recv = caller.recv
        self._caller = caller
        self._one = Lock()

    def send(self, message: Any) -> None:
        with self._one:
            self._caller.send(message)

    def beat(self) -> None:
        with suppress(OSError):  # nobody listens any more
            while not self.ended.wait(BEAT_SECONDS):
                self.send(ALIVE)


def silent(node: int, who: str, seconds: float) -> str:
    """What is said of a board that stands still."""
    return f"node {node} stands still: {who} has given no sign of life for {seconds:g} s"
