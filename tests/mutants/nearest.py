"""Which tests may kill a fault: the block's own, and those of the blocks that use it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from trial import ROOT

CIRCLES = 2  # of tests: the nearest ones, and the next ones for what survives these


@cache
def _users() -> dict[Path, set[Path]]:
    """Of each file of the hardware, the files of it that import it."""
    paths = sorted((ROOT / "hdl").rglob("*.py"))
    found: dict[Path, set[Path]] = {path: set() for path in paths}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")[1:]
                used = ROOT.joinpath(*parts).with_suffix(".py")
                if used in found:
                    found[used].add(path)
    return found


def own_tests(path: Path) -> list[Path]:
    """The tests at the same place as a file of the hardware: ``test_STEM``, ``test_STEM_what``."""
    place = path.relative_to(ROOT / "hdl").parent
    found = []
    for test in sorted((ROOT / "tests" / "hdl" / place).glob(f"test_{path.stem}*.py")):
        stem = test.stem.removeprefix("test_")
        if stem == path.stem or (
            stem.startswith(path.stem + "_") and not path.with_name(f"{stem}.py").exists()
        ):
            found.append(test)
    return found


def nearest_tests(file: str) -> list[list[str]]:
    """Circles of tests for the faults of a file, the nearest first; no test is in two.

    They are those at its stem, then those of the files that import it, of the files that import
    these, and so on: the first ``CIRCLES`` circles that have any.
    """
    circle, seen = {ROOT / file}, {ROOT / file}
    found: list[list[str]] = []
    while circle and len(found) < CIRCLES:
        tests = sorted({test for path in circle for test in own_tests(path)})
        if tests:
            found.append([str(test.relative_to(ROOT)) for test in tests])
        circle = {user for path in circle for user in _users()[path]} - seen
        seen |= circle
    return found
