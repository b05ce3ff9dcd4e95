"""``merp help``: explain a term of the glossary, or a verb."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from merp.models.base.errors import BadInput
from merp.tools.common.command_line.parser import page_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.glossary import glossary
from merp.tools.common.kinds import Several, Text
from merp.tools.common.request import option
from merp.tools.common.table import say


@dataclass(frozen=True, kw_only=True)
class HelpOptions:
    """The options of the verb."""

    term: tuple[str, ...] = option(
        Several(Text(), "*"), "a term, or a verb (default: list the terms)", "TERM", default=()
    )


REQUEST = HelpOptions


def run(asked: HelpOptions) -> int:
    """Explain the term or verb of the command line; without one, list both."""
    terms = glossary()
    name = " ".join(asked.term)
    if not name:
        say(f"Terms: {', '.join(terms)}.")
        say(f"Verbs: {', '.join(VERBS)}.")
        return 0
    found = {term.lower(): term for term in terms}.get(name.lower())
    if found is not None:
        say(f"{found}: {terms[found]}")
        return 0
    if name in VERBS:
        print(page_of(name), end="")
        return 0
    near = get_close_matches(name.lower(), [*map(str.lower, terms), *VERBS], 1)
    hint = "".join(f"; did you mean {each}?" for each in near)
    raise BadInput(f"help: no term {name!r}: merp help lists them{hint}")
