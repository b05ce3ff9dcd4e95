"""Argument types and the parser of the command line: each complaint is one line, status 2."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from merp.models.base.errors import shown
from merp.models.network.network_keys import BACKWARD
from merp.models.network.phases import NAMED
from merp.tools.common.complaint import complain

PIPELINE = "mazouz"
"""The architecture in which all layers and phases run at once on one chip."""

CLUSTER = "fpdeep"
"""The one in which they do on a chain of boards."""

ARCHITECTURES = ("cnn-merp", PIPELINE, CLUSTER)
"""Of hardware that there is, by the names that ``merp map`` has."""

MOST_DEPTH = 256
"""Images on their way in these, at most."""

MOST_DEVICES = 1024
"""Boards of a chain, at most."""


WRITTEN = "written"
"""In the namespace: the options that name what is written, each with its check."""


class _Page(argparse.HelpFormatter):
    """A help page that says every default, and leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)

    def _get_help_string(self, action: argparse.Action) -> str:
        said = action.help or ""
        none = (None, False, argparse.SUPPRESS)
        if any(action.default is each for each in none) or action.default == []:
            return said
        return said if "default" in said else f"{said} (default %(default)s)"


class Parser(argparse.ArgumentParser):
    """An argument parser that says what is wrong without printing the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Page, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse; what nobody knows is refused here already, where it is known what there is."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            names = [word.partition("=")[0] for word in unknown if word.startswith("--")]
            near = [each for n in names for each in get_close_matches(n, self._options(), 1)]
            hint = f"; did you mean {' '.join(near)}?" if near else ""
            self.error(f"unrecognized arguments: {shown(' '.join(unknown))}{hint}")
        return found, []

    def _options(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, and name the nearest that is."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = get_close_matches(str(value), map(str, action.choices or ()), 1)
            error.message += "".join(f"; did you mean {each}?" for each in near)
            raise

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a page; argparse would swallow the error where it cannot be written."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Print ``message`` as one line and exit with status 2."""
        complain(message, self.prog)
        raise SystemExit(2)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return an argument type: a whole number from ``low`` to ``high``."""

    def parse(text: str) -> int:
        allowed = f"must be a whole number from {low} to {high}, not {shown(text)}"
        try:
            value = int(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(allowed) from error
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(allowed)
        return value

    return parse


def positive(text: str) -> float:
    """Argument type: a number above 0 and below 10^6."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(
            f"must be a number above 0 and below 10^6, not {shown(text)}"
        )
    return value


def add_written(
    parser: argparse._ActionsContainer,
    *names: str,
    place: Callable[[str, Path], object],
    **about: Any,
) -> None:
    """Add an option that names what the verb writes, as ``-o``.

    place: ``Output.of_folder`` or ``Output.of_file``; refuses, before any work, where nothing can
    be written (``check_written``).
    """
    option = parser.add_argument(*names, type=Path, **about)
    written = [*(parser.get_default(WRITTEN) or ()), (names[0], option.dest, place)]
    parser.set_defaults(**{WRITTEN: written})


def check_written(args: argparse.Namespace) -> None:
    """Refuse, before any work, a place that the verb could not write to.

    Raises:
        BadInput: it names the option, and what stands in the way.
    """
    for name, dest, place in getattr(args, WRITTEN, ()):
        path = getattr(args, dest)
        if path is not None:
            place(name, path)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Add ``--json`` and ``--wide``, to a verb that prints tables."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of tables")
    form.add_argument(
        "--wide",
        action="store_true",
        help="print each table in one piece on a narrow terminal too, as into a file",
    )


def add_backward(parser: argparse.ArgumentParser) -> None:
    """Add ``--backward``; what is not given is None."""
    parser.add_argument(
        "--backward",
        choices=BACKWARD.allowed,
        help="delta propagation and kernel update of a convolution: separate passes, or one "
        "with the same bits (default: as the network says)",
    )


def add_delta_at(parser: argparse.ArgumentParser) -> None:
    """Add ``--delta-at``."""
    parser.add_argument(
        "--delta-at",
        choices=("sums", "pooled"),
        help="resolution of deltas in memory for dp and ku (default sums, as in the paper; of the "
        "way back in one pass pooled)",
    )


PHASE = "fp"
"""That which is meant where none is asked for."""


def add_phase(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add ``--phase``: one that hardware runs, or one of ``more``."""
    parser.add_argument(
        "--phase",
        choices=(*NAMED, *more),
        default=PHASE,
        help=f"ff: fp of two fused layers; bp: dp and ku in one; default {PHASE}",
    )


def add_network(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add NETWORK, a shipped name, a TOML file or an ONNX model."""
    parser.add_argument(
        "network",
        metavar="NETWORK",
        nargs="?" if optional else None,
        help="a shipped network's name, a TOML file or an ONNX model",
    )


def number(low: float, high: float, allowed: str) -> Callable[[str], float]:
    """Return an argument type: a number from ``low`` to below ``high``."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value < high:
            raise argparse.ArgumentTypeError(f"must be {allowed}, not {shown(text)}")
        return value

    return parse
