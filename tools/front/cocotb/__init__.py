"""cocotb tests of exported packages, in GHDL and Verilator.

    from merp.cocotb import Bench, bench_test

    pytest_plugins = ["merp.cocotb.plugin"]

    @bench_test
    async def my_layer(bench: Bench) -> None: ...

    def test_my_layer(run_package):
        run_package("exports/mine-k3-fp")

Only the package's folder is read: registers and ports are taken from its manifest.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("cocotbext") is None:  # it depends on cocotb
    raise ImportError("merp.cocotb: cocotb not found, install it with: pip install 'merp[hdl]'")

from merp.tools.fpga.bench.bench import Bench, bench_test
from merp.tools.fpga.bench.package import Package, Vectors
from merp.tools.fpga.bench.result import Result
from merp.tools.fpga.bench.simulate import run_tests

__all__ = ["Bench", "Package", "Result", "Vectors", "bench_test", "run_tests"]
