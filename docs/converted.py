"""The answers on docs/conversion.md, from the converter: ``python docs/converted.py``.

A block of ``py`` on the page is a process, or a design that is marked with ``@entity``. The blocks
of ``vhdl``, ``verilog`` or ``text`` (a refusal) behind it show what the converter makes of it.
``--check`` writes nothing and fails where an answer is stale.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib.util
import inspect
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import myhdl

from merp.hdl.conversion.convert import Export, ExportError, Language, convert

PAGE = Path(__file__).resolve().parent / "conversion.md"
LANGUAGES: tuple[Language, ...] = ("vhdl", "verilog")
_HEAD = "from dataclasses import dataclass\n\nfrom myhdl import *\n\nfrom merp import entity\n\n\n"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_KNOWN = {*dir(builtins), *dir(myhdl), "dataclass", "entity"}
_COMMENTS = re.compile(r"\A(?:(?:--|//).*\n|\n)*")
_LIBRARIES = re.compile(r"\A(?:(?:library|use) .*\n)*\n?")


@dataclass(frozen=True)
class Answer:
    """What the page shows behind an example.

    Attributes:
        language: ``vhdl``, ``verilog`` or ``text``.
        text: as it is shown. start, end: of the text on the page.
    """

    language: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """A block of Python.

    Attributes:
        line: of the page where it begins.
        code: of it. answers: behind it.
    """

    line: int
    code: str
    answers: list[Answer] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether it is a design; else it is the inside of one."""
        return "@entity" in self.code


def examples(page: str) -> list[Example]:
    """Every example of the page."""
    found: list[Example] = []
    for block in _FENCE.finditer(page):
        language, text = block.groups()
        if language == "py":
            found.append(Example(page.count("\n", 0, block.start()) + 1, text))
        elif language in (*LANGUAGES, "text") and found:
            found[-1].answers.append(Answer(language, text, block.start(2), block.end(2)))
    return found


def made(example: Example, folder: Path) -> dict[str, str]:
    """What the converter says of an example, by the languages that are shown."""
    name = f"example_{example.line}"
    code, line = (example.code, 0) if example.is_whole else _completed(example.code)
    module = _imported(name, _HEAD + code, folder)
    tops = [each for each in vars(module).values() if hasattr(each, "func")]
    arguments = {port: _signal(port) for port in _ports(tops[-1].func)}
    shown = {answer.language for answer in example.answers}
    found: dict[str, str] = {}
    for language in [each for each in LANGUAGES if each in shown] or LANGUAGES:
        try:
            export = convert(tops[-1], arguments, language, folder / name / language, licence=None)
        except ExportError as error:
            return {"text": _placed(str(error), name, _HEAD.count("\n") + line) + "\n"}
        found[language] = _shown(export, language, example.is_whole)
    return found


def _placed(said: str, name: str, before: int) -> str:
    """A refusal with the line of the example."""
    return re.sub(
        rf"{name}\.py line (\d+)", lambda at: f"example.py line {int(at[1]) - before}", said
    )


def _completed(code: str) -> tuple[str, int]:
    """A design around processes, and its lines before the first one of them."""
    tree = ast.parse(code)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _stores(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            stored |= {node.name, *(each.arg for each in node.args.args)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    free = [node.id for node in names if node.id not in stored | _KNOWN]
    ports = ", ".join(sorted(dict.fromkeys(free), key=lambda port: port != "clk"))
    returned = ", ".join(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list
    )
    whole = (
        f"@entity\ndef example({ports}):\n{indent(code, '    ')}\n    return {returned}\n\n\n"
        f"@entity\ndef top({ports}):\n    inner = example({ports})\n    return inner\n"
    )
    return whole, 2


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _imported(name: str, text: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def _ports(function: Any) -> list[str]:
    """The arguments of a block that have no default: its ports."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is each.empty]


def _signal(name: str) -> Any:
    """The signal of a name: its letter says the type, its number the bits."""
    if name in ("rst", "arst_n"):
        is_high = name == "rst"
        return myhdl.ResetSignal(not is_high, active=is_high, isasync=not is_high)
    found = re.fullmatch(r"([a-z])[a-z_]*(\d+)", name)
    if found is None:
        return myhdl.Signal(False)
    width = int(found[2])
    if found[1] in "st":
        return myhdl.Signal(myhdl.intbv(0, min=-(1 << width - 1), max=1 << width - 1))
    kind: Any = myhdl.modbv if found[1] == "m" else myhdl.intbv
    return myhdl.Signal(kind(0)[width:])


def _shown(export: Export, language: str, is_whole: bool) -> str:
    """The part of the files that the page shows."""
    suffix = ".vhd" if language == "vhdl" else ".v"
    files = {path.name: path.read_text() for path in export.files if path.suffix == suffix}
    texts = [_LIBRARIES.sub("", _COMMENTS.sub("", text)) for text in files.values()]
    if is_whole:
        return "\n".join(text for text in texts if not text.startswith("package "))
    text = _LIBRARIES.sub("", _COMMENTS.sub("", files[f"example{suffix}"]))
    if language == "vhdl":
        inside = text[text.index("architecture rtl") :].split("\n", 1)[1]
        inside = inside[: inside.index("end architecture")]
        inside = re.sub(r"^begin\n", "", inside, flags=re.MULTILINE)
    else:
        inside = text.split("\n);\n", 1)[1].rsplit("endmodule", 1)[0]
    return dedent(re.sub(r"\n{3,}", "\n\n", inside)).strip("\n") + "\n"


def stale(page: str) -> Iterator[tuple[Example, Answer, str]]:
    """The answers that the converter does not give, each with what it gives."""
    with tempfile.TemporaryDirectory() as folder:
        for example in examples(page):
            found = made(example, Path(folder))
            for answer in example.answers:
                wanted = found.get(answer.language, found.get("text", "it converts\n"))
                if answer.text != wanted:
                    yield example, answer, wanted


def main(arguments: Sequence[str]) -> int:
    """Write the answers anew, or tell those that are stale."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").strip(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    wrong = list(stale(page))
    for example, answer, _ in wrong:
        print(f"{PAGE.name} line {example.line}: {answer.language}")
    if options.check:
        return int(bool(wrong))
    for _, answer, wanted in reversed(wrong):
        page = page[: answer.start] + wanted + page[answer.end :]
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
