"""``merp help``: a term of the glossary, or a verb."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from merp.models.base.errors import BadInput
from merp.tools.command_line import page_of
from merp.tools.common.glossary import glossary
from merp.tools.common.table import say
from merp.tools.verb_help import VERBS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "term", metavar="TERM", nargs="*", help="a term, or a verb (default: list the terms)"
    )


def run(args: argparse.Namespace) -> int:
    """Explain what was asked for."""
    terms = glossary()
    asked = " ".join(args.term)
    if not asked:
        say(f"Terms: {', '.join(terms)}.")
        say(f"Verbs: {', '.join(VERBS)}.")
        return 0
    found = {term.lower(): term for term in terms}.get(asked.lower())
    if found is not None:
        say(f"{found}: {terms[found]}")
        return 0
    if asked in VERBS:
        print(page_of(asked), end="")
        return 0
    near = get_close_matches(asked.lower(), [*map(str.lower, terms), *VERBS], 1)
    hint = "".join(f"; did you mean {each}?" for each in near)
    raise BadInput(f"help: no term {asked!r}: merp help lists them{hint}")
