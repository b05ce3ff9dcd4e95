"""The texts that people read: pages, docstrings, messages and help, each with its place."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
CODE = "`c`"  # stands for code in a passage: one word
MESSAGE_WORDS = 4  # a string of fewer words is a name or a label
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Example|Examples|Note):$")


@dataclass(frozen=True)
class Passage:
    """A run of sentences without markup.

    Attributes:
        path: the file, relative to the checkout.
        line: where the passage starts, from 1.
        kind: ``page``, ``docstring`` or ``message``.
        text: the words on one line, each piece of code as ``CODE``.
    """

    path: Path
    line: int
    kind: str
    text: str


def passages(path: Path) -> Iterator[Passage]:
    """The passages of a Markdown or Python file of the checkout."""
    source = path.read_text()
    name = path.relative_to(ROOT)
    if path.suffix == ".md":
        yield from (Passage(name, line, "page", text) for line, text in _page(source))
        return
    tree = ast.parse(source)
    for line, text in _docstrings(tree):
        yield Passage(name, line, "docstring", text)
    for line, text in _messages(tree):
        yield Passage(name, line, "message", text)


def _page(source: str) -> Iterator[tuple[int, str]]:
    line = 0
    generated = False  # a table that a script writes
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        line = token.map[0] + 1 if token.map else line
        if token.type == "html_block":
            generated = re.match(r"<!-- \w+ -->", token.content) is not None
        if token.type == "inline" and not generated:
            yield line, _one_line("".join(_words(child) for child in token.children or ()))


def _words(token: Token) -> str:
    if token.type == "code_inline":
        return CODE
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Those of public objects, by paragraph and by entry of a section."""
    for node in _public(tree):
        if not (text := ast.get_docstring(node)):
            continue
        line = node.body[0].lineno
        for paragraph in re.split(r"\n\s*\n", text):
            yield from ((line, entry) for entry in _entries(paragraph))
            line += paragraph.count("\n") + 2


def _public(
    node: ast.Module | ast.ClassDef,
) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    yield node
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if child.name.startswith("_"):
                continue
            if isinstance(child, ast.ClassDef):
                yield from _public(child)
            else:
                yield child


def _entries(paragraph: str) -> Iterator[str]:
    """A paragraph in one piece; of a list or a section, an entry at a time."""
    entry: list[str] = []
    indent = 0
    for line in paragraph.split("\n"):
        depth = len(line) - len(line.lstrip())
        starts = re.match(r"\s*(?:[-*] |\w+:? {2,}|[\w.*, `]+: )", line) and depth <= indent
        if entry and (starts or depth < indent or SECTION.match(entry[-1].strip())):
            yield _one_line(" ".join(entry))
            entry = []
        if not entry:
            indent = depth
        entry.append(line.strip())
    yield _one_line(" ".join(entry))


def _messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings that are no docstring and read as text: help, refusals, notes, titles."""
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))  # a docstring
        if isinstance(node, ast.Attribute) and node.attr == "split":
            inside.add(id(node.value))  # a list of words
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else CODE for part in node.values
            )
        else:
            continue
        if _is_prose(text):
            for paragraph in re.split(r"\n\s*\n", text):
                yield node.lineno, _one_line(paragraph)


def _is_prose(text: str) -> bool:
    words = re.findall(r"(?<!\S)[A-Za-z][a-z]*(?=[\s.,;:)]|$)", text)
    return len(words) >= MESSAGE_WORDS and not re.search(r"[{};]\s*$|<=|:=|\(\?", text)


def _one_line(text: str) -> str:
    text = re.sub(r"``.*?``|`[^`]*`", CODE, text)
    return re.sub(r"\s+", " ", text).strip()
