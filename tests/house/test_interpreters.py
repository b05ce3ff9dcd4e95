"""The same text and the same bytes on every version of Python, and under ``python -OO``."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT

PROGRAMS = sorted(
    path
    for folder in ("models", "hdl", "testbenches", "cosim", "tools", "docs")
    for path in (ROOT / folder).rglob("*.py")
)

WORK = """
import contextlib, hashlib, io, json, sys
from pathlib import Path
from tempfile import TemporaryDirectory

from merp.hdl.conversion.convert import convert
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.bitstream.bitstream import bitstream_of
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.export.streams import stream_words

said = {}
verbs = "help slot", "traffic alexnet --json", "registers tiny3 --layer conv1 --json", "schema"
for words in verbs:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = main(words.split())
    said[words] = [status, out.getvalue()]
network = open_network("tiny3")
engine = bitstream_of(network, network.layers[0], "fp", state=True, before=False).phase.top()
said["streams"] = stream_words(engine)
shell = axi_top(engine)
for language in ("vhdl", "verilog"):
    with TemporaryDirectory() as folder:
        for path in convert(shell.function, shell.args, language, Path(folder)).files:
            said[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
print(json.dumps(said))
"""
"""What several interpreters do alike: verbs that read keys and blocks, and an export."""


@cache
def done_by(*python: str) -> dict[str, Any]:
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [*python, "-c", WORK], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


OTHERS = os.environ.get("OTHER_PYTHONS", "").split()
"""Interpreters that have this checkout installed, by name or path."""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_program_reads_a_docstring_from_what_python_keeps(path: Path) -> None:
    """Its white space depends on the version, and ``-OO`` keeps none."""
    read = [
        f"line {node.lineno}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("__doc__", "getdoc")
    ]
    assert read == []


def test_without_docstrings_everything_is_the_same() -> None:
    assert done_by(sys.executable, "-OO") == done_by(sys.executable)


@pytest.mark.full
@pytest.mark.parametrize("python", OTHERS)
def test_another_interpreter_does_the_same(python: str) -> None:
    assert done_by(python) == done_by(sys.executable)
