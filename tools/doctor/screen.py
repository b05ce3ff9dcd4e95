"""The report of ``merp doctor`` for people: plain lines, printed without other packages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from merp.tools.doctor.examination import ENABLES, OWN_WORK, Examination, Extra
from merp.tools.doctor.packages import OWN, Package
from merp.tools.doctor.programs import SECONDS, Program

_WIDTH = 80
"""Characters of a line in a file or a pipe."""

_NARROW = 60
"""Characters of a line below which the columns are given up."""

_COLUMN = 15
_NO_BREAK = "\N{NO-BREAK SPACE}"
_INDENT = " " * 4


def width() -> int:
    """Return the characters of a line."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH


def lines(found: Examination, width: int) -> Iterator[str]:
    """Yield the lines of the report.

    Each row has a name, a state and a purpose. A command line that installs something has its own
    line, which is never broken.
    """
    yield from _folded(f"merp {found.version}, Python {found.python}, {_support(found)}", width)
    yield from _packages(found.required, width)
    yield from _folded(f"engines: {_engines(found)}", width)
    yield from _extras(found.extras, width)
    for name, program in found.programs.items():
        yield from _program(name, program, width)
    if not found.has_pip:
        yield from _row("pip", "missing", "installs packages", width)
        yield f"{_INDENT}{sys.executable} -m ensurepip"


def _support(found: Examination) -> str:
    if found.supported:
        return f"{found.system}: supported"
    first, *_, last = found.pythons
    return f"{found.system}: untested (supported: Linux x86-64 with Python {first} to {last})"


def _packages(required: Sequence[Package], width: int) -> Iterator[str]:
    yield from _folded(f"packages: {_list(required)}", width)
    if not all(each.right for each in required):
        yield f"{_INDENT}pip install {OWN}"


def _engines(found: Examination) -> str:
    """Return the usable engines, and what the others lack."""
    ready = [name for name, lacks in found.lacking.items() if not lacks]
    others = [f"{name} lacks {', '.join(lacks)}" for name, lacks in found.lacking.items() if lacks]
    return "; ".join(filter(None, [", ".join(ready), *others]))


def _extras(extras: Sequence[Extra], width: int) -> Iterator[str]:
    """Yield a row for each extra; complete extras for work on merp share one."""
    shared = [each.name for each in extras if each.name in OWN_WORK and not each.wrong]
    for extra in extras:
        if extra.name not in shared:
            yield from _extra(extra, width)
    if shared:
        yield from _row(f"work on {OWN}", "complete", f"extras {', '.join(shared)}", width)


def _extra(extra: Extra, width: int) -> Iterator[str]:
    state = "incomplete" if extra.wrong else "complete"
    yield from _row(f"{OWN}[{extra.name}]", state, ENABLES.get(extra.name, ""), width)
    if extra.wrong:
        yield from _remedy(extra, width)


def _remedy(extra: Extra, width: int) -> Iterator[str]:
    """Yield the command line that completes an extra, with as many reasons as fit behind it."""
    unfit = [each.said for each in extra.wrong if each.version is not None]
    reasons = [*unfit, *(each.name for each in extra.wrong if each.version is None)]
    if len(unfit) < len(reasons):
        reasons[len(unfit)] = f"missing: {reasons[len(unfit)]}"
    command = f"{_INDENT}{extra.install}"
    for count in range(len(reasons), 0, -1):
        more = len(reasons) - count
        said = ", ".join(reasons[:count]) + (f" and {more} more" if more else "")
        line = f"{command}  # {said}"
        if len(line) <= width:
            yield line
            return
    yield from _folded(said, width, _INDENT)
    yield command


def _program(name: str, program: Program, width: int) -> Iterator[str]:
    state = program.version or ("broken" if program.broken else "found")
    state = "missing" if program.path is None else state
    yield from _row(name, state, program.known.enables, width)
    if program.broken:
        says = f"{program.path} fails, or does not answer in {SECONDS:g} s"
        yield from _folded(says, width, _INDENT)
    if not program.works:
        yield f"{_INDENT}{program.known.install}"


def _list(some: Iterable[Package]) -> str:
    """Return packages in a list whose lines are not broken inside an entry."""
    return ", ".join(each.said.replace(" ", _NO_BREAK) for each in some)


def _row(name: str, state: str, says: str, width: int) -> Iterator[str]:
    if width < _NARROW:
        return _folded(f"{name}: {state}; {says}", width)
    return _folded(f"{name:<{_COLUMN}}{state:<{_COLUMN}}{says}", width, rest=" " * 2 * _COLUMN)


def _folded(text: str, width: int, first: str = "", rest: str = _INDENT) -> Iterator[str]:
    """Yield a text in lines that are broken between words."""
    filled = fill(
        text, max(width, 1), initial_indent=first, subsequent_indent=rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    yield from filled.replace(_NO_BREAK, " ").split("\n")
