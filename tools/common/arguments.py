"""The parser of the command line and its options. A bad option prints one line, with status 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from merp.models.base.errors import shown
from merp.tools.common.complaint import complain
from merp.tools.common.request import Typed, check_together, declared

WRITTEN = "written"
"""Key of the namespace: the options that name an output, each with its check."""

REQUEST = "request"
"""Key of the namespace: the request that the options belong to."""


class _Page(argparse.HelpFormatter):
    """A help page that shows every default, and keeps the lines of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)

    def _get_help_string(self, action: argparse.Action) -> str:
        said = action.help or ""
        none = (None, False, argparse.SUPPRESS)
        if any(action.default is each for each in none) or action.default == []:
            return said
        return said if "default" in said else f"{said} (default %(default)s)"


class Parser(argparse.ArgumentParser):
    """An argument parser that prints errors without the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Page, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and refuse unknown options here, because the known options are available here."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            names = [word.partition("=")[0] for word in unknown if word.startswith("--")]
            near = [each for n in names for each in get_close_matches(n, self._options(), 1)]
            hint = f"; did you mean {' '.join(near)}?" if near else ""
            self.error(f"unrecognized arguments: {shown(' '.join(unknown))}{hint}")
        return found, []

    def _options(self) -> list[str]:
        return [
            name
            for action in self._actions
            if action.help is not argparse.SUPPRESS  # it hides former names
            for name in action.option_strings
        ]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not a choice, and name the nearest choice."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = get_close_matches(str(value), map(str, action.choices or ()), 1)
            error.message += "".join(f"; did you mean {each}?" for each in near)
            raise

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a page. argparse would ignore the error if it cannot be written."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Print ``message`` as one line and exit with status 2."""
        complain(message, self.prog)
        raise SystemExit(2)


def add_request(parser: argparse.ArgumentParser, request: type) -> None:
    """Add the options of a request."""
    places: dict[str, argparse._ActionsContainer] = {}
    written = []
    for name, of in declared(request):
        if not of.help:  # a keyword of Python only
            continue
        where: argparse._ActionsContainer = parser
        if of.section:
            where = places.get(of.section) or parser.add_argument_group(of.section)
            places[of.section] = where
        if of.group:
            where = places.get(of.group) or where.add_mutually_exclusive_group()
            places[of.group] = where
        written += of.kind.add(where, name, of)
    parser.set_defaults(**{REQUEST: request, WRITTEN: written})


def request_of(args: argparse.Namespace, words: Sequence[str] = ()) -> Any:
    """Return the request of the given options; ``words`` is the command line after ``merp``.

    Raises:
        BadInput: options exclude each other.
    """
    request = getattr(args, REQUEST)
    values = {name: of.kind.taken(args, name) for name, of in declared(request) if of.help}
    if issubclass(request, Typed):
        values["words"] = tuple(words)
    asked = request(**values)
    check_together(asked)
    return asked


def check_written(args: argparse.Namespace) -> None:
    """Refuse an output path that cannot be written, before any work.

    Raises:
        BadInput: it names the option and the obstacle.
    """
    for name, dest, place in getattr(args, WRITTEN, ()):
        path = getattr(args, dest)
        if path is not None:
            place(name, path)
