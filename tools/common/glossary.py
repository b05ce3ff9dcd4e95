"""The glossary: what ``merp help TERM`` prints, and the page of the documentation site.

Its one source is ``data/glossary.md``: for each term a heading of the second level, a paragraph.
"""

from __future__ import annotations

import re

from merp.tools.common.data import DATA

PAGE = DATA / "glossary.md"


def glossary() -> dict[str, str]:
    """Return what each term means, on one line, in the order of the page."""
    _, *sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for section in sections:
        term, _, text = section.partition("\n")
        found[term] = " ".join(text.replace("`", "").split())
    return found
