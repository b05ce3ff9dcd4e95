"""The code that a page shows, block by block: what it is, and its commands as they are written.

``tests/house/test_page_lines.py`` sees to it that nothing on a page is left out, and
``tests/examples/test_pages.py`` runs it from an installed wheel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from checkout import ROOT

README, VERB_LIST, TUTORIAL, LIBRARY, OWN_NETWORK, OWN_BLOCK, COCOTB, PLAN, ONNX = PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "verbs.md",
    ROOT / "docs" / "tutorial.md",
    ROOT / "docs" / "library.md",
    ROOT / "docs" / "networks.md",
    ROOT / "docs" / "own-block.md",
    ROOT / "docs" / "cocotb.md",
    ROOT / "docs" / "plan.md",
    ROOT / "docs" / "onnx.md",
)
PROGRAMS = (".", "jupyter", "make", "merp", "pip", "pytest", "python3", "sed")

NOT_RUN = {
    "make test": "it runs the suite that the test of the pages belongs to",
}
"""Commands of the pages that no test of the pages runs, and why."""

NAMES = {"NETWORK": "alexnet"}
"""What a test puts in place of a word that stands for a name."""

_INSTALL = re.compile(r"pip install '?merp\[\w+\]'?")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        text: without its indentation.
        language: of a fenced block.
        before: the paragraph in front of it.
    """

    text: str
    language: str
    before: str

    @property
    def kind(self) -> str:
        """``doctest``, ``fragment`` (of code or a file), ``file``, ``answer`` or ``commands``."""
        if self.language and self.language != "toml":
            return "doctest" if ">>>" in self.text else "fragment"
        lines = [line.strip() for line in self.text.splitlines()]
        if lines[0].startswith("#:schema") or "..." in lines:  # not all of a network file
            return "fragment"
        if re.match(r"\[|base = ", self.text):
            return "file"
        return "answer" if self.text.startswith("merp: ") else "commands"

    @property
    def commands(self) -> Iterator[Command]:
        """The commands of such a block; what stands beside and below one says what it does."""
        for entry in re.split(r"\n(?! )", self.text.rstrip("\n")):
            if not entry:
                continue
            line, *said = re.split(r" {2,}(?:# )?| # |\n", entry, maxsplit=1)
            yield Command(line, " ".join(said), "checkout" in self.before)


@dataclass(frozen=True)
class Command:
    """A line for a shell.

    Attributes:
        line: as it is written.
        said: what the page says of it.
        in_checkout: whether the page runs it there.
    """

    line: str
    said: str
    in_checkout: bool

    @property
    def variants(self) -> list[str]:
        """The line without what stands in brackets, then with it; names filled in."""
        short = re.sub(r" \[[^]]*\]", "", self.line)
        whole = re.sub(r"[\[\]]", "", self.line) if short != self.line else short
        found = list(dict.fromkeys((short, whole)))
        return [re.sub(r"\b[A-Z]+\b", lambda m: NAMES.get(m[0], m[0]), line) for line in found]

    @property
    def installs(self) -> list[str]:
        """What the page says to install for it."""
        return _INSTALL.findall(self.said)


def blocks(page: Path) -> list[Block]:
    """Every block of code on a page."""
    found = []
    before = ""
    for token in MarkdownIt().parse(page.read_text()):
        if token.type == "inline":
            before = token.content
        elif token.type in ("fence", "code_block"):
            found.append(Block(token.content, token.info.strip(), before))
    return found


def made_model(page: Path) -> str:
    """The code of a page that makes an ONNX model without PyTorch."""
    (found,) = (block.text for block in blocks(page) if "import helper" in block.text)
    return found


def commands(page: Path) -> list[Command]:
    """Every command on a page."""
    return [
        command for block in blocks(page) if block.kind == "commands" for command in block.commands
    ]
