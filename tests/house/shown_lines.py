"""Every command line that a text shows: blocks and inline code of pages, examples of the help.

A line is whole if it has all that its verb needs; else it only mentions a verb and options.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from checkout import ROOT
from merp.tools.common.command_line.verbs import VERBS
from page_lines import Command

NAMES = {
    "OTHER": "tiny3", "NAME": "binary32", "VERB": "traffic", "TERM": "count",
    "BOARD": "kc705", "B": "kc705", "L": "conv1", "P": "fp", "N": "2", "W": "32", "LOSS": "hinge",
    "RATE": "0.005", "S": "1", "IMAGES": "2", "$seed": "1", "MODEL.onnx": "model.onnx",
    "lenet5.toml": "lenet5", "F": "floats.txt", "NET.toml": "net.toml", "BLOCK": "fp_add",
}  # fmt: skip
"""What a test puts in place of a word that stands for another."""

PROGRESS = re.compile(r"merp \w+: ")
"""Lines that merp prints."""


class Shown(NamedTuple):
    """A command line as it is shown.

    Attributes:
        place: page or verb. line: as it is written. block: whether it stands in a block.
    """

    place: str
    line: str
    block: bool

    @property
    def words(self) -> list[list[str]]:
        """Words after ``merp``, with and without what stands in brackets, alternatives apart."""
        line = self.line.removesuffix("\\").replace("[DIR ...] ", "")
        line = re.sub(r" \| --[a-z-]+( N)?", "", line).replace("--precision P", "--precision 24")
        line = re.sub(r"\bNETWORK\b", "tiny3", line)  # which has all that is shown of one
        found = []
        for variant in Command(line, "", False).variants:
            words = [re.sub(r"\|.*", "", word) for word in shlex.split(variant)]
            words = [NAMES.get(word, word) for word in words if word not in ("|",)]
            if words not in found:
                found.append(words)
        return [_ours(words) for words in found]


def _ours(words: list[str]) -> list[str]:
    """Those of merp itself: behind ``mpirun``, in front of ``>``."""
    begin = words.index("merp") + 1
    end = words.index(">") if ">" in words else len(words)
    return words[begin:end]


def shown_lines() -> Iterator[Shown]:
    """Yield each line once, in the order of pages, then of verbs."""
    seen = set()
    for each in _all():
        if each.line not in seen:
            seen.add(each.line)
            yield each


def _all() -> Iterator[Shown]:
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ):
        yield from _of_page(page)
    for name, verb in VERBS.items():
        for example in verb.examples:
            yield Shown(f"merp {name} --help", f"merp {example.words}", True)


def _of_page(page: Path) -> Iterator[Shown]:
    place = str(page.relative_to(ROOT))
    for token in MarkdownIt().parse(page.read_text()):
        if token.type in ("fence", "code_block"):
            for text in token.content.splitlines():
                for line in re.split(r"; | {2,}", text.strip()):
                    line = line.partition(" # ")[0].strip()
                    if re.match(r"(mpirun -n \d+ )?merp ", line) and not PROGRESS.match(line):
                        yield Shown(place, line, True)
        for code in token.children or ():
            if code.type == "code_inline" and code.content.startswith("merp "):
                yield Shown(place, code.content, False)
