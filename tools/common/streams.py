"""Standard streams that cannot be written: closed, full, without a reader, or with few
characters."""

from __future__ import annotations

import io
import os
import select
import sys
from contextlib import suppress
from typing import TextIO


def prepare_streams() -> None:
    """Make both output streams accept any text.

    A closed stream becomes the null device. Otherwise the next opened file would be the standard
    output of every child process. Characters that the encoding lacks are written as escapes.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free descriptor
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lacks_reader() -> bool:
    """Return whether a standard output stream is a pipe or socket without a reader."""
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # it is not a file
            poll.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def finish_output() -> None:
    """Write the rest of both streams, or drop it, so that nothing fails at the exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            drop(stream)


def drop(stream: TextIO) -> None:
    """Send the rest of a stream to the null device, without errors at the exit."""
    with suppress(OSError):  # not a file, where nothing is lost; or no more files may be open
        descriptor = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
