"""Imports point left only: models <- hdl <- testbenches <- cosim <- tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

ORDER = ("models", "hdl", "testbenches", "cosim", "tools")
FILES = sorted(path for folder in ORDER for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def offences(folder: str, modules: Iterator[str]) -> list[str]:
    found = []
    for module in modules:
        parts = module.split(".")
        if parts[0] != "merp" or len(parts) < 2 or parts[1] not in ORDER:
            continue
        if ORDER.index(parts[1]) > ORDER.index(folder):
            found.append(module)
        if folder == "hdl" and parts[1] == "models" and parts[2:3] not in ([], ["params"]):
            found.append(module)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path: Path) -> None:
    assert offences(path.relative_to(ROOT).parts[0], imported(path)) == []


def test_an_offence_is_seen() -> None:
    assert offences("hdl", iter(["merp.models.arithmetic.fp_mul", "merp.cosim.engines.job"])) == [
        "merp.models.arithmetic.fp_mul",
        "merp.cosim.engines.job",
    ]
