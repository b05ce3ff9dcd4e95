"""Where Markdown takes a formula for emphasis, as the site would show it."""

import re
from html.parser import HTMLParser

import markdown
import yaml

from checkout import ROOT

LISTED = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["markdown_extensions"]
EXTENSIONS = [each if isinstance(each, str) else next(iter(each)) for each in LISTED]


class Prose(HTMLParser):
    """The text outside code, each emphasis marked: ``\\x02`` where it begins, ``\\x03`` its end."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._code = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Code begins, or an emphasis."""
        self._code += tag == "code"
        self.text += "\x02" if tag in ("em", "strong") else ""

    def handle_endtag(self, tag: str) -> None:
        """Code ends, or an emphasis."""
        self._code -= tag == "code"
        self.text += "\x03" if tag in ("em", "strong") else ""

    def handle_data(self, data: str) -> None:
        """Text, a letter in place of code."""
        self.text += "c" if self._code else data


def flaws(source: str) -> list[str]:
    """Where an emphasis touches a word, or a backslash is left."""
    prose = Prose()
    prose.feed(markdown.markdown(source, extensions=EXTENSIONS))
    return re.findall(r".{0,20}(?:\w\x02|\x03\w|\\).{0,20}", prose.text)
