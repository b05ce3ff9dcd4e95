"""Messages for unforeseen errors: a limit of the machine, or an error of merp."""

from __future__ import annotations

import errno
import os
from traceback import walk_tb

from merp.models.base.errors import one_line

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of the system for an output that cannot be written."""

NO_FILES = (errno.EMFILE, errno.ENFILE)
"""Errors of the system if no more files may be open."""


def refused_by_machine(error: Exception) -> str | None:
    """Return a message if the machine caused the error: memory, open files or disk space."""
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'for a part of the answer'}"
    if _no_more_files(error):
        return f"ulimit -n: {os.strerror(errno.EMFILE)}: allowed is a limit of some 50 or more"
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return f"{error.filename or 'an output'}: cannot be written: {error.strerror}"
    return None


def _no_more_files(error: Exception) -> bool:
    """Return whether no file can be opened. Libraries then report misleading errors."""
    if isinstance(error, OSError) and error.errno in NO_FILES:
        return True
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as refusal:
        return refusal.errno in NO_FILES
    return False


def internal_error(error: BaseException) -> str:
    """Return one line: the error, its place in the package, and how to report it."""
    places = [
        (str(frame.f_globals.get("__name__")), line) for frame, line in walk_tb(error.__traceback__)
    ]
    ours = [place for place in places if place[0].startswith("merp.")]
    where = "".join(f" in {module}, line {line}" for module, line in (ours or places)[-1:])
    said = one_line(f"{type(error).__name__}: {error}", 600)
    return (
        f"internal error{where}: {said}: please report this line with the command and its files; "
        f"--debug shows the traceback"
    )
