"""The fixture of ``merp.cocotb``: ``pytest_plugins = ["merp.cocotb.plugin"]``."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

import pytest

from merp.tools.fpga.bench.package import Package
from merp.tools.fpga.bench.simulate import run_tests


@pytest.fixture
def run_package(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[str | PathLike[str]], int]:
    """Return a function that runs every cocotb test of the module on the package in a folder.

    It returns the number of tests, and raises the errors of ``merp.cocotb.run_tests``. The
    simulator's files are in ``tmp_path``.
    """

    def run(folder: str | PathLike[str]) -> int:
        return run_tests(Package(folder), request.module, tmp_path)

    return run
