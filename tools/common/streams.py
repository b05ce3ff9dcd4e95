"""Standard streams that cannot be written: closed, full, without a reader, of few characters."""

from __future__ import annotations

import io
import os
import select
import sys
from contextlib import suppress
from typing import TextIO


def prepare_streams() -> None:
    """Make both output streams take any text.

    A closed one becomes the null device: else the next file that is opened would be the standard
    output of every process that we start. What an encoding does not have is written as escapes.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free is taken
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lacks_reader() -> bool:
    """Whether a standard output stream is a pipe or a socket that nobody reads any more."""
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # no file
            poll.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def finish_output() -> None:
    """Write what both streams still hold, or drop it: nothing is left that fails at the exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            drop(stream)


def drop(stream: TextIO) -> None:
    """Send what a stream still holds to the null device, quietly also at the very end."""
    with suppress(OSError):  # no file, and nothing is lost at the end; or no more may be open
        descriptor = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
