"""The parser of the command line, and its help pages."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module, metadata
from textwrap import indent
from typing import Any

from merp.tools.common.arguments import Parser, add_request
from merp.tools.common.command_line.verbs import GROUPS, VERBS, Verb

FOOT = """\
merp VERB --help lists the options of a verb and shows examples.
merp help TERM explains a term.
merp --version prints the version.
--debug shows the traceback of an internal error.

Status 0: done, and all checks hold. Status 1: a check failed. Status 2: bad
input. Status 3: an error of merp itself. Status 129, 130, 143: ended by
SIGHUP, Ctrl-C, SIGTERM. Status 141: nobody reads the output.
"""


class _Overview(Parser):
    """The parser of ``merp`` itself. Its help lists the verbs by purpose."""

    def format_help(self) -> str:
        """Return the page of ``merp --help``."""
        width = max(map(len, VERBS)) + 2
        text = f"usage: merp VERB ...\n\n{self.description}\n"
        for group, title in GROUPS.items():
            verbs = {name: verb for name, verb in VERBS.items() if verb.group == group}
            lines = [f"{name:{width}}{verb.line}\n" for name, verb in verbs.items()]
            text += f"\n{title}:\n{indent(''.join(lines), '  ')}"
        return f"{text}\n{FOOT}"


def command_line(verbs: Collection[str]) -> Parser:
    """Return the parser with the arguments of ``verbs`` only, because each verb costs an import."""
    parser = _Overview(
        prog="merp", description="Hardware for CNN training, with counted memory traffic."
    )
    parser.add_argument(
        "--version", action="version", version=metadata.version("merp"), help="print the version"
    )
    subparsers = parser.add_subparsers(
        dest="verb", metavar="VERB", required=True, parser_class=Parser
    )
    for name, verb in VERBS.items():
        each = subparsers.add_parser(
            name, help=verb.line, description=verb.description, epilog=_examples(verb)
        )
        if name in verbs:
            add_request(each, module_of(name).REQUEST)
    for each in (parser, *subparsers.choices.values()):
        each.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS,
            help="show the traceback of an internal error",
        )  # fmt: skip
    return parser


def module_of(verb: str) -> Any:
    """Return the module of a verb, with its ``REQUEST`` and ``run(request) -> int``."""
    return import_module(f"merp.tools.{VERBS[verb].room}.{verb.replace('-', '_')}_verb")


def page_of(verb: str) -> str:
    """Return the help page of a verb."""
    found = subparsers_of(command_line({verb}))[verb]
    return found.format_help()


def subparsers_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each verb."""
    (found,) = (each.choices for each in parser._actions if isinstance(each.choices, dict))
    return found


def _examples(verb: Verb) -> str:
    lines = (f"  merp {each.words}\n      {each.says}\n" for each in verb.examples)
    return "examples:\n" + "".join(lines)
