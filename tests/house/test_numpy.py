"""Hardware is written without NumPy, but for the behavioural twins, which are never converted."""

import ast
from pathlib import Path

import pytest

from checkout import ROOT

HDL = ROOT / "hdl"
FOREIGN = {"numpy", "numba"}
FILES = sorted(path for path in HDL.rglob("*.py") if path.parent.name != "behavioural")


def offences(source: str) -> list[str]:
    modules = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
        elif isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
    return [module for module in modules if module.split(".")[0] in FOREIGN]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HDL)))
def test_hardware_imports_no_numpy(path: Path) -> None:
    assert offences(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    ["import numpy as np", "def f():\n    from numpy.typing import NDArray", "import numba"],
)
def test_an_import_of_numpy_is_seen(source: str) -> None:
    assert len(offences(source)) == 1
    assert offences("from merp.hdl.base.signals import bits") == []
