"""Private modules and attributes of MyHDL are named in three files of ``hdl/conversion`` alone.

``internals`` has the names that conversion and benches need; ``quick_signals`` is a signal itself,
``quick_shadows`` does what one of other signals does.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

HOME = ROOT / "hdl" / "conversion" / "base" / "internals.py"
FAST = ROOT / "hdl" / "fast_simulation"
HOMES = (HOME, FAST / "quick_signals.py", FAST / "quick_shadows.py")
FOLDERS = ("models", "hdl", "testbenches", "cosim", "tools", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
_WORDS = """
    args driven eventWaiters inList init left max min name names nrbits read right setName sig
    sigargs slicesigs toVHDL toVerilog type used val
"""
ATTRIBUTES = {f"_{word}" for word in _WORDS.split()}  # of signals, lists of signals, enumerations


def offences(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield ast.unparse(node)
            continue
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        else:
            continue
        yield from (name for name in names if re.match(r"myhdl(\.\w+)*\._[a-zA-Z]", name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_three_modules_name_what_is_private(path: Path) -> None:
    if path not in HOMES:
        assert list(offences(path.read_text())) == []


@pytest.mark.parametrize(
    "line",
    [
        "from myhdl._Signal import _Signal",
        "import myhdl._block",
        "from myhdl import _simulator",
        "from myhdl.conversion import _toVHDL",
        "myhdl._simulator.now = 0",
        "width = signal._nrbits",
    ],
)
def test_an_offence_is_seen(line: str) -> None:
    assert list(offences(line))
    assert "myhdl" in HOME.read_text()
