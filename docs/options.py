"""Tables of what verbs and methods are asked for: ``python docs/options.py VERB ...`` prints them.

A page marks the place of a table by ``<!-- options: VERB -->`` or, of the keywords of a method of
``merp.Network``, by ``<!-- keywords: METHOD -->``; the site's hook fills it in. All comes from the
requests, as the help pages do.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Sequence

import merp
from merp.tools.common.command_line.parser import command_line, module_of, subparsers_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.request import declared

MARKED = re.compile(r"<!-- (options|keywords): ([\w-]+) -->")


def option_table(verb: str) -> str:
    """The options of a verb, in Markdown."""
    actions = subparsers_of(command_line({verb}))[verb]._actions
    kinds = {name: of.kind.allowed for name, of in declared(module_of(verb).REQUEST)}
    rows = []
    for each in actions:
        if each.dest in ("help", "debug"):
            continue
        names = (
            ", ".join(f"`{name}`" for name in each.option_strings)
            or f"`{each.metavar or each.dest}`"
        )
        says = (each.help or "").replace("%(default)s", str(each.default))
        rows.append((names, kinds.get(each.dest, ""), says))
    return _table(("option", "allowed", "what it is"), rows)


def keyword_table(method: str) -> str:
    """The keywords of a method of ``merp.Network``, in Markdown."""
    found = getattr(merp.Network, method)
    takes = {name: of for name, of in declared(found.request)}
    rows = []
    for each in list(inspect.signature(found).parameters.values())[1:]:
        default = "must be given" if each.default is each.empty else f"`{each.default!r}`"
        of = takes[each.name]
        rows.append((f"`{each.name}`", of.kind.allowed, default, of.says or of.text))
    return _table(("keyword", "allowed", "default", "what it is"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(each) for each in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


def filled(page: str) -> str:
    """A page with its tables."""
    tables = {"options": option_table, "keywords": keyword_table}
    return MARKED.sub(lambda mark: tables[mark[1]](mark[2]), page)


def main() -> None:
    """Print tables of verbs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "verb", nargs="*", metavar="VERB", help="whose options; all if none is named"
    )
    args = parser.parse_args()
    for name in args.verb:
        if name not in VERBS:
            parser.error(f"no verb {name!r}: allowed are {', '.join(VERBS)}")
    for name in args.verb or VERBS:
        print(f"## merp {name}\n\n{option_table(name)}\n")


if __name__ == "__main__":
    main()
