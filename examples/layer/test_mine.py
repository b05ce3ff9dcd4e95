import numpy as np
import pytest

from merp.cocotb import Bench, bench_test

pytest_plugins = ["merp.cocotb.plugin"]


@bench_test
async def my_layer(bench: Bench) -> None:
    dice = np.random.default_rng(1)
    x = dice.integers(-8, 9, (6, 6, 2)).astype(float)  # rows, columns, maps
    kernels = dice.integers(-3, 4, (3, 2, 3, 3)).astype(float)  # maps out, maps in, rows, columns
    biases = dice.integers(-9, 10, 3).astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
    y = np.maximum(np.einsum("rcnij,mnij->rcm", windows, kernels) + biases, 0)
    streams = {"s_axis_map": x, "s_axis_kernel": kernels, "s_axis_bias": biases}
    result = await bench.run("conv1", streams, pause=0.3)
    result.check({"m_axis_map": y}, {"useful": 4 * 4 * 2 * 3})


@pytest.mark.parametrize("language", ["vhdl", "verilog"])
def test_my_layer(language, run_package):
    assert run_package(f"{language}/mine-k3-fp") == 1
