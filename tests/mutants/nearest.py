"""Which tests may kill a fault: the block's own, and those of the blocks that use it."""

import ast
from functools import cache
from pathlib import Path

from trial import ROOT

CIRCLES = 2  # of tests: the nearest ones, and the next ones for what survives these


@cache
def _users(folder: str) -> dict[Path, set[Path]]:
    """Of each file of the hardware, the files of a folder that import it."""
    found: dict[Path, set[Path]] = {path: set() for path in (ROOT / "hdl").rglob("*.py")}
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = ROOT.joinpath(*node.module.split(".")[1:])
                # What is imported may itself be a module.
                for place in (module, *(module / each.name for each in node.names)):
                    if (used := place.with_suffix(".py")) in found:
                        found[used].add(path)
    return found


def own_tests(path: Path) -> list[Path]:
    """The tests of a file of the hardware: those that import it, and at the same place
    ``test_STEM`` and ``test_STEM_what``.
    """
    place = path.relative_to(ROOT / "hdl").parent
    found = _users("tests/hdl")[path].copy()
    for test in sorted((ROOT / "tests" / "hdl" / place).glob(f"test_{path.stem}*.py")):
        stem = test.stem.removeprefix("test_")
        if stem == path.stem or (
            stem.startswith(path.stem + "_") and not path.with_name(f"{stem}.py").exists()
        ):
            found.add(test)
    return sorted(found)


def nearest_tests(file: str) -> list[list[str]]:
    """Circles of tests for the faults of a file, the nearest first; no test is in two.

    They are its own, then those of the files that import it, of the files that import
    these, and so on: the first ``CIRCLES`` circles that have any.
    """
    circle, seen = {ROOT / file}, {ROOT / file}
    found: list[list[str]] = []
    while circle and len(found) < CIRCLES:
        tests = {str(test.relative_to(ROOT)) for path in circle for test in own_tests(path)}
        if tests := tests.difference(*found):
            found.append(sorted(tests))
        circle = {user for path in circle for user in _users("hdl")[path]} - seen
        seen |= circle
    return found
