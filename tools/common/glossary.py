"""The glossary of ``merp help TERM`` and of the documentation site.

Its only source is ``data/glossary.md``: one heading of level two and one paragraph for each term.
"""

from __future__ import annotations

import re

from merp.tools.common.data import DATA

PAGE = DATA / "glossary.md"


def glossary() -> dict[str, str]:
    """Return the explanation of each term on one line, in alphabetical order."""
    _, *sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for section in sections:
        term, _, text = section.partition("\n")
        entry, _, _ = text.partition("\n# ")
        found[term] = " ".join(entry.replace("`", "").split())
    return dict(sorted(found.items(), key=lambda each: each[0].lower()))
