"""The line that is said of an error that nobody foresaw."""

from __future__ import annotations

from traceback import walk_tb

from merp.models.errors import one_line


def internal_error(error: BaseException) -> str:
    """One line: what happened, where in the package, and how to report it."""
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
