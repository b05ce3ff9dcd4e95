"""Standard streams that cannot be written as they are: closed, or of a narrow encoding."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


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


def drop_output() -> None:
    """Send what standard output still holds to the null device, quietly also at the very end."""
    with suppress(OSError):  # no file, and nothing is lost at the end; or no more may be open
        descriptor = sys.stdout.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
