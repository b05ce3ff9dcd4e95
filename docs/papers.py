"""Tables of what the papers print: ``python docs/papers.py`` writes them into their pages.

A page of ``docs/papers``, and ``docs/paper.md`` of CNN-MERP, holds ``<!-- printed -->``,
``<!-- fails -->``, ``<!-- unchecked -->`` and ``<!-- errata -->``, each up to ``<!-- /table -->``.
What stands between comes from the paper's list and our rows. ``--check`` writes nothing and fails
where a page is stale. ``--texts FOLDER`` compares the lists with the papers' texts in a folder and
prints the numbers that no list has; it fails if there are any.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import papers_texts

from merp.models.comparison.printed import DEVIATES, REPRODUCED, UNCHECKED, Printed
from merp.models.comparison.published import published
from merp.models.papers.lists import NAMES, Erratum, paper

DOCS = Path(__file__).resolve().parent
PAGES: Mapping[str, Path] = {
    name: DOCS / ("paper.md" if name == "cnn-merp" else f"papers/{name}.md") for name in NAMES
}
"""Of each paper."""
MARKED = re.compile(r"<!-- (\w+) -->\n.*?<!-- /table -->", re.DOTALL)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    texts = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(map(_cell, row))} |" for row in texts]


def _cell(text: str) -> str:
    return re.sub(r"([*|_])", r"\\\1", text)


def _number(value: float) -> str:
    """Four digits, or all in front of the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _printed(row: Printed) -> str:
    """The printed digits with their unit, and whether they are a bound."""
    number = row.number
    if number.unit == "holds":
        return "holds"
    bound = {"": "", "most": "at most ", "least": "at least "}[number.bound]
    whole, point, digits = number.printed.partition(".")
    return f"{bound}{int(whole):,}{point}{digits} {number.unit}"


def _found(row: Printed) -> list[str]:
    if row.found is None or row.error is None:
        return ["", ""]
    if row.number.unit == "holds":
        return ["holds" if row.found else "does not", ""]
    error = f"{100 * row.error:+.1f} %"
    return [_number(row.found), re.sub("[+-]0.0 %", "0", error)]


def _head(row: Printed) -> list[str]:
    return [row.number.place, row.number.what, _printed(row)]


def printed(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What reproduces, by class."""
    return table(
        ["place", "quantity", "printed", "here", "error", "class", "read as"],
        (
            [*_head(row), *_found(row), row.number.cls, row.number.why]
            for row in rows
            if row.status == REPRODUCED
        ),
    )


def fails(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What does not, and what was tried."""
    return table(
        ["place", "quantity", "printed", "here", "error", "tried"],
        ([*_head(row), *_found(row), row.number.why] for row in rows if row.status == DEVIATES),
    )


def unchecked(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What has no row, and why; numbers of one place with one reason stand together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.status == UNCHECKED:
            key = row.number.place, row.number.why
            groups.setdefault(key, []).append(f"{row.number.what} {_printed(row)}")
    return table(
        ["place", "printed", "why"],
        ([place, "; ".join(some), why] for (place, why), some in groups.items()),
    )


def errata(rows: Sequence[Printed], errata: Sequence[Erratum]) -> list[str]:
    """What is printed otherwise than it is meant."""
    return table(
        ["place", "printed", "is", "why"],
        ([each.where, each.printed, each.found, each.why] for each in errata),
    )


TABLES: Mapping[str, Callable[[Sequence[Printed], Sequence[Erratum]], list[str]]] = {
    "printed": printed,
    "fails": fails,
    "unchecked": unchecked,
    "errata": errata,
}


def rewritten(name: str, page: str) -> str:
    """The text of the page of a paper with its tables as they are now."""
    rows, mistakes = published(name), paper(name).errata
    return filled(page, lambda mark: TABLES[mark](rows, mistakes))


def filled(page: str, lines_at: Callable[[str], Sequence[str]]) -> str:
    """The text of a page with the lines of the table at each of its marks."""
    return MARKED.sub(
        lambda found: "\n".join(
            [f"<!-- {found[1]} -->", "", *lines_at(found[1]), "", "<!-- /table -->"]
        ),
        page,
    )


def main(arguments: list[str]) -> int:
    """Rewrite the pages, say which are stale, or compare the lists with texts."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--check", action="store_true", help="write nothing; 1 if one is stale")
    others.add_argument("--texts", type=Path, metavar="FOLDER", help="compare with papers' texts")
    args = parser.parse_args(arguments)
    if args.texts is not None:
        return papers_texts.compare(args.texts)
    stale = 0
    for name, path in PAGES.items():
        old = path.read_text(encoding="utf-8")
        new = rewritten(name, old)
        if new == old:
            continue
        stale = 1
        print(f"{path.name}: {'stale' if args.check else 'rewritten'}")
        if not args.check:
            path.write_text(new, encoding="utf-8")
    return stale if args.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
