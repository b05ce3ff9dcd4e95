"""Compiled code that is kept from one process to the next."""

import subprocess
import sys
from pathlib import Path

USES = """
from typing import NamedTuple
from numba import njit
from merp.models.base.numba_cache import KEPT

class {name}(NamedTuple):
    x: int

@njit(cache=KEPT)
def inner(pair: {name}) -> int:
    return pair.x + 1

@njit(cache=KEPT)
def outer(pair: {name}) -> int:
    return inner(pair) + 1

print(outer({name}(1)), sum(outer.stats.cache_hits.values()))
"""


def test_what_another_version_of_the_package_has_kept_does_no_harm(tmp_path: Path) -> None:
    """Also where a class is gone that the kept code takes; what is kept anew is found."""
    program = tmp_path / "uses.py"
    for name, hits in (("Former", 0), ("Present", 0), ("Present", 1)):
        if USES.format(name=name) != (program.read_text() if program.exists() else ""):
            program.write_text(USES.format(name=name))
        ended = subprocess.run(
            [sys.executable, "-c", "import uses"], cwd=tmp_path, capture_output=True, text=True
        )
        assert (ended.stdout, ended.stderr) == (f"3 {hits}\n", "")
