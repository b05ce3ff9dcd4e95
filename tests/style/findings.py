"""Lists where texts break the rules of docs/style.md: ``python tests/style/findings.py [PATH...]``.

A path is a file or a folder of the checkout; without one, all texts are read. The exit status is 1
if anything is found.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from passages import ROOT, passages
from rules import flaws

COLUMNS = 100
PAGES = ("docs", "examples", "tools", ".github")
PACKAGES = ("hdl", "models", "cosim", "testbenches", "tools")
EXEMPT = ("tools/data/export/", "docs/adr/", "docs/style.md")
"""Templates, whose sentences exist only once they are filled in; history; examples of bad style."""


def files() -> list[Path]:
    """Every page and every file of the package."""
    pages = [page for top in PAGES for page in (ROOT / top).rglob("*.md")]
    pages += (page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md")
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in pages + sources if not _is_exempt(path))


def findings(path: Path) -> Iterator[str]:
    """What a file breaks, as ``path:line: rule: sentence``."""
    name = path.relative_to(ROOT)
    for passage in passages(path):
        yield from (f"{name}:{passage.line}: {flaw}" for flaw in flaws(passage))
    if path.suffix == ".md":
        yield from (f"{name}:{line}: more than {COLUMNS} columns" for line in _wide(path))


def _wide(path: Path) -> Iterator[int]:
    """Lines that could be wrapped: no heading, no row of a table, no code, no single long link."""
    fenced = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        fenced ^= line.startswith("```")
        whole = re.match(r"#+ |\s*[-*]? *\S+$| {4}|\||\[.*\]:", line)
        if len(line) > COLUMNS and not fenced and not whole:
            yield number


def _is_exempt(path: Path) -> bool:
    return str(path.relative_to(ROOT)).startswith(EXEMPT)


def main() -> int:
    """Print the findings under the paths and their number."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT], metavar="PATH")
    below = [path.resolve() for path in parser.parse_args().paths]
    found = [
        line
        for path in files()
        if any(path.is_relative_to(top) for top in below)
        for line in findings(path)
    ]
    print(*found, f"{len(found)} found", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
