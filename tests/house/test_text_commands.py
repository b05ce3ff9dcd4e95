"""Commands in docstrings and messages name verbs, options, targets, scripts and extras there are.

Those on pages and in examples of the help are run: ``test_shown_lines``.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from named_options import strange_commands

from checkout import ROOT
from merp.tools.common.command_line.verbs import VERBS

TREES = ("models", "hdl", "testbenches", "cosim", "tools", "docs", "examples", "tests")

_VERB = re.compile(r"(?:`|\brun )merp ([a-z][a-z_-]*)")
_TARGET = re.compile(r"(?:`|\brun )make ([a-z][a-z-]*)")
_SCRIPT = re.compile(r"\bpython3? ((?:docs|tests|examples|tools)/[\w/]+\.py)((?: --[a-z-]+)*)")
_EXTRAS = re.compile(r"\bmerp\[([a-z,]+)\]")


@cache
def targets() -> frozenset[str]:
    """The targets of the Makefile."""
    makefile = (ROOT / "Makefile").read_text()
    return frozenset(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))


@cache
def extras() -> frozenset[str]:
    """The extras of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return frozenset(project["optional-dependencies"])


def texts(path: Path) -> Iterator[str]:
    """Every string of a program; X stands for each value that is filled in."""
    parts: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.value


def strange(text: str) -> list[str]:
    """What the commands in a text name and there is not."""
    text = re.sub(r"\s+", " ", text)
    found = strange_commands(text)
    found += [f"merp {verb}" for verb in _VERB.findall(text) if verb not in VERBS]
    found += [f"make {target}" for target in _TARGET.findall(text) if target not in targets()]
    for script, options in _SCRIPT.findall(text):
        source = (ROOT / script).read_text() if (ROOT / script).is_file() else None
        if source is None:
            found.append(script)
        else:
            found += [f"{script} {each}" for each in options.split() if f'"{each}"' not in source]
    named = (extra for each in _EXTRAS.findall(text) for extra in each.split(","))
    return found + [f"merp[{extra}]" for extra in named if extra not in extras()]


def test_commands_in_programs_name_what_there_is() -> None:
    wrong = {
        f"{path.relative_to(ROOT)}: {text[:200]}": names
        for tree in TREES
        for path in (ROOT / tree).rglob("*.py")
        if not path.name.startswith("test_")  # these type wrong ones, too
        for text in texts(path)
        if (names := strange(text))
    }
    assert wrong == {}


def test_what_there_is_not_is_found() -> None:
    assert strange("``merp plot``, then run merp plan NET --board B") == ["merp plot"]
    assert strange("as `merp train\n--speed` says") == ["merp train --speed"]
    assert strange("run make everything; ``make lint``") == ["make everything"]
    assert strange("python docs/none.py --all") == ["docs/none.py"]
    assert strange("python docs/measure.py --no-such --no-runs") == ["docs/measure.py --no-such"]
    assert strange("pip install 'merp[hdl,none]'") == ["merp[none]"]
