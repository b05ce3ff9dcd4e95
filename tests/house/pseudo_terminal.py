"""Programs on a terminal of their own."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path

OF_TERMINALS = ("COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables that override the size of a terminal, or what it can show."""


def in_terminal(words: Sequence[str | Path], errors: Path, columns: int = 80) -> str:
    """Run a program whose standard input and output are a terminal, and return what it writes.

    Args:
        words: the program and its arguments.
        errors: the file for its standard error; the program runs in its folder.
        columns: width of the terminal.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 30, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in OF_TERMINALS}
    with errors.open("w") as complaints:
        process = subprocess.Popen(
            words, cwd=errors.parent, stdin=its, stdout=its, stderr=complaints,
            env=environment | {"TERM": "xterm", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(its)
        text = bytearray()
        try:
            while chunk := os.read(ours, 1 << 16):
                text += chunk
        except OSError:  # closed at the other end
            pass
        os.close(ours)
        assert process.wait(timeout=60) == 0, errors.read_text()
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r\n", "\n")
