"""What papers print as tables in their pages: ``python docs/papers.py`` rewrites them.

A page of ``docs/papers`` holds ``<!-- printed -->``, ``<!-- fails -->`` and ``<!-- errata -->``,
each up to ``<!-- /table -->``; what stands between is written here, from the module of the paper's
architecture. ``--check`` writes nothing and fails where a page is stale.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from merp.models.comparison.printed import Printed
from merp.models.traffic.published import Erratum

PAGES = Path(__file__).resolve().parent / "papers"
MARKED = re.compile(r"<!-- (\w+) -->\n.*?<!-- /table -->", re.DOTALL)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    texts = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(map(_cell, row))} |" for row in texts]


def _cell(text: str) -> str:
    return re.sub(r"([*|_])", r"\\\1", text)


def _number(value: float) -> str:
    """Four digits, or all in front of the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _numbers(row: Printed) -> list[str]:
    unit = "" if row.unit == "holds" else f" {row.unit}"
    if row.unit == "holds":
        return ["holds", "holds" if row.found else "does not", ""]
    if row.found is None or row.error is None:
        return [f"{_number(row.printed)}{unit}", "", ""]
    error = f"{100 * row.error:+.1f} %"
    return [f"{_number(row.printed)}{unit}", _number(row.found), re.sub("[+-]0.0 %", "0", error)]


def printed(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What reproduces, by class."""
    return _table(
        ["place", "what", "printed", "here", "error", "class", "read as"],
        ([row.place, row.what, *_numbers(row), row.cls, row.why] for row in rows if row.cls != "N"),
    )


def fails(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What does not, and what was tried."""
    return _table(
        ["place", "what", "printed", "here", "error", "tried"],
        ([row.place, row.what, *_numbers(row), row.why] for row in rows if row.cls == "N"),
    )


def errata(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What is printed otherwise than it is meant."""
    return _table(
        ["place", "printed", "is", "why"],
        ([each.where, each.printed, each.found, each.why] for each in errata),
    )


TABLES: Mapping[str, Callable[[Sequence[Printed], Sequence[Erratum]], list[str]]] = {
    "printed": printed,
    "fails": fails,
    "errata": errata,
}


def rewritten(stem: str, page: str) -> str:
    """The text of the page of an architecture with its tables as they are now."""
    module = import_module(f"merp.models.comparison.{stem.replace('-', '_')}_printed")
    rows, mistakes = module.published(), module.ERRATA

    def table(match: re.Match[str]) -> str:
        lines = TABLES[match[1]](rows, mistakes)
        return "\n".join([f"<!-- {match[1]} -->", "", *lines, "", "<!-- /table -->"])

    return MARKED.sub(table, page)


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or say which are stale."""
    if arguments not in ([], ["--check"]):
        print("usage: python docs/papers.py [--check]", file=sys.stderr)
        return 2
    stale = 0
    for path in sorted(PAGES.glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = rewritten(path.stem, old)
        if new == old:
            continue
        stale = 1
        print(f"{path.name}: {'stale' if arguments else 'rewritten'}")
        if not arguments:
            path.write_text(new, encoding="utf-8")
    return stale if arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
