"""Run the cocotb tests of a module on an exported package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import ModuleType

from merp.cosim.engines.cocotb_run import CocotbFailed, CocotbTests, simulator
from merp.models.base.errors import BadInput
from merp.tools.fpga.bench.bench import FOLDER
from merp.tools.fpga.bench.package import Package


def run_tests(package: Package, module: ModuleType, workdir: str | PathLike[str]) -> int:
    """Run every cocotb test of ``module`` on ``package``; return their number if all pass.

    The simulator is that of the package's language, GHDL for VHDL and Verilator for Verilog. It
    imports the module by the name of its file.

    Args:
        package: the package to simulate.
        module: the module with tests, marked ``bench_test`` or ``cocotb.test``.
        workdir: folder for the simulator's files and its log; created if missing.

    Raises:
        AssertionError: a test failed. It has the name of the test and the end of the log.
        BadInput: the module has no test, or the simulator or cocotb is not installed.
        RuntimeError: the simulator refuses the package, or did not finish every test.
    """
    count = tests_of(module)
    if not count or module.__file__ is None:
        raise BadInput(f"module {module.__name__}: no cocotb tests: mark one with bench_test")
    run, _ = simulator(package.engine)
    file, folder = Path(module.__file__), Path(workdir)
    folder.mkdir(parents=True, exist_ok=True)
    with _importable(file.parent):
        try:
            run(package, folder, CocotbTests(file.stem, {FOLDER: str(package.folder)}, count))
        except CocotbFailed as failed:
            raise AssertionError(str(failed)) from None
    return count


def tests_of(module: ModuleType) -> int:
    """Return the number of cocotb tests of a module, without skipped ones."""
    # The result of ``cocotb.test`` has no public type. cocotb calls this method on it.
    generators = [each for each in vars(module).values() if hasattr(each, "generate_tests")]
    return sum(not test.skip for each in generators for test in each.generate_tests())


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Add a folder to this process's path, which the runner passes to the simulator."""
    before = list(sys.path)
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path[:] = before
