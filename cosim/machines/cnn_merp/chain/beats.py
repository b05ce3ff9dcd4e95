"""Signs of life of a process that runs a board, so that nobody waits for a blocked process.

A board may compute for hours without a result. Meanwhile its process sends a sign of life every few
seconds. A stopped process does not send any. Therefore silence can have a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any, Final, Protocol

ALIVE: Final = "alive"
"""The sign of life, which is sent between other messages."""

BEAT_SECONDS = 1.0


class BeatPeer(Protocol):
    """The other end of the connection."""

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            ConnectionError: the other end no longer reads.
        """

    def recv(self) -> Any:
        """Return the next message of the other end.

        Raises:
            EOFError, ConnectionError: the other end is closed.
        """


@contextmanager
def alive(caller: BeatPeer) -> Iterator[BeatPeer]:
    """Within the context, send the other end a sign of life every ``BEAT_SECONDS``.

    Yields the caller. Messages to it are sent one after the other.
    """
    beating = _Beating(caller)
    thread = Thread(target=beating.beat, daemon=True)
    thread.start()
    try:
        yield beating
    finally:
        beating.ended.set()
        thread.join(BEAT_SECONDS)  # MPI must not be finalised during a message


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
        with suppress(OSError):  # the other end no longer reads
            while not self.ended.wait(BEAT_SECONDS):
                self.send(ALIVE)


def silent(node: int, who: str, seconds: float) -> str:
    """Return the message about a board that does not respond."""
    return f"node {node} does not respond: {who} has given no sign of life for {seconds:g} s"
