"""The same text and the same bytes on every version of Python, and under ``python -OO``."""

import ast
import builtins
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from checkout import ROOT
from terminal import Terminal

PROGRAMS = sorted(
    path
    for folder in ("models", "hdl", "testbenches", "cosim", "tools", "docs")
    for path in (ROOT / folder).rglob("*.py")
)

READING = (
    "help slot", "traffic alexnet --json", "registers tiny3 --layer conv1 --json", "schema",
)  # fmt: skip
"""Command lines that read keys and blocks."""

SUMMING = (
    "plan tiny3 --board kc705 --json",
    "compare cifar10-1x --architecture cnn-merp,rtl-compiler --board vc709 --word 16 --json",
    "map alexnet --architecture fpdeep --json",
    "map lenet5 --architecture fcnn --json",
    "map lenet5 --architecture mazouz --json",
    "map cifar10-1x --architecture rtl-compiler --json",
    "explore tiny3 --board kc705 --json",
    "explore lenet5 --architecture pipeline --board kc705 --json",
    "traffic alexnet --board vc709 --json",
    "report cifar10-1x-fixed --json",
)
"""Command lines whose answers hold sums of floats."""

WORK = """
import contextlib, hashlib, io, json, sys
from pathlib import Path
from tempfile import TemporaryDirectory

from merp.hdl.arithmetic.low_product import low_product
from merp.hdl.base.signals import bits
from merp.hdl.conversion.convert import convert
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.fpga.export.streams import stream_words

said = {}
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = main(words.split())
    said[words] = [status, out.getvalue()]
tops = [(low_product, {"a": bits(8), "b": bits(8), "y": bits(16)})]
for name in sys.argv[2:]:
    network = open_network(name)
    engine = bitstream_of(network, network.layers[0], "fp", state=True, before=False).phase.top()
    said[name] = stream_words(engine)
    shell = axi_top(engine)
    tops.append((shell.function, shell.args))
for number, (function, args) in enumerate(tops):
    for language in ("vhdl", "verilog"):
        with TemporaryDirectory() as folder:
            for path in convert(function, args, language, Path(folder)).files:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                said[f"{number} {path.name}"] = digest
print(json.dumps(said))
"""
"""What several interpreters do alike: lines of the command line, and exports.

The exports are a product of comprehensions, and forward propagation of the networks that are named.
"""


@cache
def done_by(
    python: tuple[str, ...], lines: tuple[str, ...], networks: tuple[str, ...]
) -> dict[str, Any]:
    """What an interpreter printed in each line, and the digests of what it exported."""
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    with TemporaryDirectory() as folder:  # reports are files
        done = subprocess.run(
            [*python, "-c", WORK, json.dumps(lines), *networks],
            cwd=folder,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


OTHERS = os.environ.get("OTHER_PYTHONS", "").split()
"""Interpreters that have this checkout installed, by name or path."""


def test_no_program_reads_a_docstring_from_what_python_keeps() -> None:
    """Its white space depends on the version: ``inspect.cleandoc`` makes it the same."""
    read = []
    for path in PROGRAMS:
        tree = ast.parse(path.read_text())
        clean = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "inspect.cleandoc"
            for part in ast.walk(node)
        }
        read += [
            f"{path.relative_to(ROOT)}, line {node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in ("__doc__", "getdoc")
            and isinstance(node.ctx, ast.Load)
            and id(node) not in clean
        ]
    assert read == []


@pytest.mark.parametrize("line", SUMMING)
def test_no_sum_of_floats_is_left_to_python(
    line: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``sum`` of floats rounds otherwise from Python 3.12 on; ``ordered_sum`` does not."""
    found = set()
    real = sum

    def watched(terms: Iterable[Any], /, start: Any = 0) -> Any:
        total = real(terms, start)
        caller = sys._getframe(1)
        if type(total) is float and caller.f_globals["__name__"].startswith("merp."):
            found.add(f"{caller.f_globals['__name__']}, line {caller.f_lineno}")
        return total

    monkeypatch.chdir(tmp_path)  # reports are files
    monkeypatch.setattr(builtins, "sum", watched)
    terminal.answer(*line.split()[:-1])
    assert found == set()


@pytest.mark.full
def test_without_docstrings_everything_is_the_same() -> None:
    same = READING, ("tiny3",)
    assert done_by((sys.executable, "-OO"), *same) == done_by((sys.executable,), *same)


@pytest.mark.full
@pytest.mark.parametrize("python", OTHERS)
def test_another_interpreter_does_the_same(python: str) -> None:
    same = READING + SUMMING, ("tiny3", "digits-bf16")  # adder trees; fused sums
    assert done_by((python,), *same) == done_by((sys.executable,), *same)
