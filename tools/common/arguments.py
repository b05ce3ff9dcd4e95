"""Argument types and the parser of the command line: each complaint is one line, status 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from merp.models.errors import BadInput, one_line, shown


class Parser(argparse.ArgumentParser):
    """An argument parser that says what is wrong without printing the usage."""

    def error(self, message: str) -> NoReturn:
        """Print ``message`` as one line and exit with status 2."""
        print(f"{self.prog}: {one_line(message)}", file=sys.stderr)
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


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def add_delta_at(parser: argparse.ArgumentParser) -> None:
    """Add ``--delta-at``."""
    parser.add_argument(
        "--delta-at",
        choices=("sums", "pooled"),
        default="sums",
        help="resolution of deltas in memory for dp and ku (default sums, as in the paper)",
    )


def add_network(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add NETWORK, a shipped name or a TOML file."""
    parser.add_argument(
        "network",
        metavar="NETWORK",
        nargs="?" if optional else None,
        help="a shipped network's name or a TOML file",
    )


def check_choice(phase: str, state: bool, delta_at: str) -> None:
    """Refuse options that say nothing to the phase."""
    if state and phase != "fp":
        raise BadInput(f"--state: --phase {phase} writes none: allowed with fp")
    if delta_at == "pooled" and phase == "fp":
        raise BadInput("--delta-at pooled: --phase fp takes no deltas: allowed with dp, ku")
