"""Tables of the ports of each block: ``python docs/ports.py NAME ...`` prints them.

The site's hook appends the tables of the blocks that a page names in its first heading.
Names, directions and widths are those of the exported VHDL of shipped designs. Meanings come from
the block's docstring, the comments of its bundles' fields, and the register map of the top.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from entities import Block, Port, blocks

from merp.hdl.base.interface import DesignPorts
from merp.hdl.base.signals import AxiStream, Bundles, Stream
from merp.hdl.conversion.docstring import docstring

PAGES = Path(__file__).resolve().parent / "blocks"

COMMON = {
    "clk": "clock",
    "rst": "synchronous reset, active high",
    "start": "pulse: a run begins",
    "aclk": "clock",
    "aresetn": "synchronous reset, active low",
}
HANDSHAKE = {
    "valid": "a word is there",
    "ready": "the word is taken in a cycle with both high",
    "last": "with the last word of the run",
    "keep": "a bit for each byte of the word: it counts",
}


def meanings(block: Block) -> dict[str, str]:
    """What each port of a block means; empty where nothing says so."""
    said = _said(block.function)
    hints = _hints(block.function)
    found: dict[str, str] = {}
    for port in block.ports:
        formal = max((name for name in hints if _belongs(port.name, name)), key=len)
        field = port.name.removeprefix(formal).removeprefix("_")
        found[port.name] = (
            _field_meaning(hints[formal], field, said.get(formal, ""), block.settings)
            if field
            else said.get(formal, COMMON.get(formal, ""))
        ) or _by_pattern(port.name, said)
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Class of each argument, and of each bundle of those whose bundles have names of their own."""
    found: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(function).items():
        if inspect.isclass(hint) and issubclass(hint, DesignPorts):
            found |= {each.name: each.type for each in hint.MEMBERS}
        else:
            found[name] = hint
    return found


def _belongs(port: str, formal: str) -> bool:
    return port == formal or port.startswith(f"{formal}_")


def _by_pattern(port: str, said: Mapping[str, str]) -> str:
    """A docstring may speak of all ports that begin alike: ``s_axis_*``."""
    for name, meaning in said.items():
        if name.endswith("*") and port.startswith(name[:-1]):
            return meaning
    return ""


@cache
def _said(function: Callable[..., Any]) -> Mapping[str, str]:
    """Meanings in a docstring: ``name, name  in  meaning`` lines, or ``name: meaning.``."""
    found: dict[str, str] = {}
    rest: list[str] = []
    names: list[str] = []
    way = "" if inspect.isclass(function) else "(?:in|out)(?:, (?:in|out))* {2,}"
    for line in _docstring(function).splitlines():
        match = re.match(rf"([\w*]+(?:, [\w*]+)*) {{2,}}{way}(.*)", line)
        if match:
            names = match.group(1).split(", ")
            found |= dict.fromkeys(names, match.group(2))
        elif names and line.startswith("  "):
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
            rest.append(line)
    described = inspect.isclass(function)
    known = "|".join(inspect.signature(function).parameters if described else _hints(function))
    start = rf"\b((?:{known})(?:, (?:{known}))*): "
    text = re.sub(r"\s+", " ", "\n".join(rest))
    for match in re.finditer(rf"{start}(.*?)(?=[;.,]? {start}|\.(?: [A-Z]|$)|$)", text):
        for name in match.group(1).split(", "):
            found.setdefault(name, match.group(2).rstrip(".;"))
    return found


def _docstring(described: Callable[..., Any]) -> str:
    """The docstring of a block or of a bundle's class, from its source."""
    if not inspect.isclass(described):
        return docstring(described)
    try:
        source = textwrap.dedent(inspect.getsource(described))
    except (OSError, TypeError):  # a class of Python's own
        return ""
    return ast.get_docstring(ast.parse(source).body[0]) or ""


def _field_meaning(bundle: Any, field: str, said: str, settings: Mapping[str, str]) -> str:
    """Meaning of a bundle's field, the field's own before the bundle's."""
    classes = [each for each in typing.get_args(bundle) or (bundle,) if inspect.isclass(each)]
    family = [relative for each in classes for relative in _family(each)]
    for each in family:
        for name, inner in _inner(each).items():
            if field.startswith(f"{name}_"):
                own = _comments(each).get(name) or _said(each).get(name) or said
                return _field_meaning(inner, field.removeprefix(f"{name}_"), own, settings)
    if Stream in family or AxiStream in family:
        return HANDSHAKE.get(field.removeprefix("t"), said)
    kinds = ("Config", "Status")
    prefix = {_prefix(each.__name__) for each in family if each.__name__.endswith(kinds)}
    for name in (*(f"{each}_{field}" for each in sorted(prefix)), field):
        if name in settings:
            return settings[name]
    for each in family:
        if comment := _comments(each).get(field) or _said(each).get(field):
            return comment
    return said


@cache
def _family(bundle: type) -> tuple[type, ...]:
    """A class, what it stands on and what stands on it: a subclass may be what is handed over."""
    above = [each for each in bundle.__mro__ if each is not object]
    return (*above, *(sub for each in bundle.__subclasses__() for sub in _family(each)))


@cache
def _inner(bundle: type) -> dict[str, Any]:
    """The bundles that a class keeps: what its fields are made of, or are handed over as."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(bundle)))
    except (OSError, TypeError):
        return {}
    known = vars(sys.modules[bundle.__module__]) | typing.get_type_hints(bundle.__init__)
    fields = getattr(bundle, "__dataclass_fields__", {})
    found = {field: known[field] for field in fields if _is_bundle(known.get(field))}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=field)])
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=field))
            ) if node.value is not None:
                made = node.value.body if isinstance(node.value, ast.IfExp) else node.value
                maker = made.func if isinstance(made, ast.Call) else made
                hint = known.get(maker.id) if isinstance(maker, ast.Name) else None
                if _is_bundle(hint):
                    found[field] = hint
    return found


def _is_bundle(hint: Any) -> bool:
    classes = filter(inspect.isclass, typing.get_args(hint) or (hint,))
    return any(each.__module__.startswith("merp.hdl.") for each in classes)


@cache
def _comments(bundle: type) -> dict[str, str]:
    """The comment beside each field that a class sets."""
    try:
        source = inspect.getsource(bundle)
    except (OSError, TypeError):
        return {}
    return dict(re.findall(r"^ +self\.(\w+)(?:: Any)? = .*?  # (.*)$", source, re.MULTILINE))


def _prefix(name: str) -> str:
    """A bundle's argument in the tops: ``map_config`` of ``MapConfig``, ``status`` of any.

    ``Array`` marks bundles of the MAC array whose names would be those of other machines.
    """
    if name.endswith("Status"):
        return "status"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("Array")).lower()


def _gathered(block: Block) -> Iterator[Port]:
    """The ports, those of a bundle of bundles as one for each engine, or stream, that it is of."""
    hints = _hints(block.function)
    bundles = tuple(f"{name}_" for name, hint in hints.items() if _holds_bundles(hint))
    gathered = (_gather(port, bundles) for port in block.ports)
    for (name, direction), some in groupby(gathered, key=lambda port: (port.name, port.direction)):
        yield Port(name, direction, sum(port.width for port in some))


def _holds_bundles(hint: Any) -> bool:
    return inspect.isclass(hint) and issubclass(hint, Bundles)


def _gather(port: Port, bundles: tuple[str, ...]) -> Port:
    """A port, named ``..._*`` for all those that are of the same engine or stream."""
    head = next((name for name in bundles if port.name.startswith(name)), None)
    if head is None:
        return port
    match = re.match(rf"({head}(?:layer\d+_)?(?:fp|dp|ku|admission|features|states)_)", port.name)
    stream = re.match(
        r"([sm]_axis_(?:layer\d+_)?(?:fp|ku)_\w+?_)t(?:data|valid|ready|last)$", port.name
    )
    found = stream or match
    direction = "in, out" if stream else port.direction
    return Port(f"{found.group(1)}*", direction, port.width) if found else port


def table(name: str) -> str:
    """The table of a block's ports, in Markdown.

    Raises:
        KeyError: no shipped design has such a block.
    """
    block = blocks()[name]
    meaning = meanings(block)
    said = _said(block.function)
    before = ""
    lines = [
        f"Ports of `{block.entity}`, widths of {block.design}:",
        "",
        "| port | | bits | meaning |",
        "|---|---|---|---|",
    ]
    for port in _gathered(block):
        formal = next((name for name in said if _belongs(port.name, name)), "")
        text = said[formal] if port.name.endswith("*") else meaning[port.name]
        text = text.replace("|", "\\|").replace("*", "\\*")
        text, before = ('"' if text == before else text), text
        lines.append(f"| `{port.name}` | {port.direction} | {port.width} | {text} |")
    return "\n".join(lines)


def filled(page: str) -> str:
    """A block's page in Markdown, with the ports of the blocks that its first heading names."""
    named = [name for name in re.findall(r"\w+", page.partition("\n")[0]) if name in blocks()]
    section = ["## Ports", *map(table, named)] if named else []
    return "\n\n".join([page.rstrip("\n"), *section]) + "\n"


def main() -> int:
    """Print the tables of the blocks that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "blocks", nargs="*", metavar="NAME", help="a block, such as cu_array (default: all)"
    )
    args = parser.parse_args()
    for name in args.blocks:
        if name not in blocks():
            parser.error(f"{name}: no block of a shipped design; allowed: {', '.join(blocks())}")
    print("\n\n".join(table(name) for name in args.blocks or blocks()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
