"""Options that a text names: those of a verb that it shows, and those of the verb that says it."""

import re
from functools import cache

from merp.tools.common.command_line.parser import command_line, subparsers_of
from merp.tools.common.command_line.verbs import VERBS

_SHOWN = re.compile(r"\bmerp ([a-z][a-z-]*)((?: (?![a-z]+ [a-z]+ [a-z]+\b)[^\s:;,()`]+)*)")
_OPTION = re.compile(r"(?<![\w./'\"-])(?:--[a-z][a-z-]*|-o)(?![\w.])")


@cache
def options_of(verb: str) -> frozenset[str]:
    """The options of a verb."""
    parser = subparsers_of(command_line({verb}))[verb]
    return frozenset(name for each in parser._actions for name in each.option_strings)


def strange_commands(text: str) -> list[str]:
    """What a text shows behind ``merp`` that there is not: a verb with options, or its options."""
    found = [
        f"merp {shown[1]} {option}"
        for shown in _SHOWN.finditer(text)
        if shown[1] in VERBS
        for option in _OPTION.findall(shown[2])
        if option not in options_of(shown[1])
    ]
    return found + [
        f"merp {shown[1]}"
        for shown in _SHOWN.finditer(text)
        if shown[1] not in VERBS and _OPTION.search(shown[2])
    ]


def strange_options(text: str, verb: str | None = None) -> list[str]:
    """Options in a text that nobody has.

    Those behind ``merp VERB`` are that verb's; others those of ``verb``, or of any if it is None.
    """
    known = {option for each in ([verb] if verb else VERBS) for option in options_of(each)}
    own = _SHOWN.sub(lambda shown: "" if shown[1] in VERBS else shown[0], text)
    others = [option for option in _OPTION.findall(own) if option not in known]
    return strange_commands(text) + others
