"""The bench of ``merp.cocotb`` on an exported package in GHDL."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from merp.cocotb import Bench, bench_test
from merp.models.base.errors import BadInput, CheckFailed
from merp.tools.cli import main
from network_text import layer, network_text

NETWORK = network_text(
    "small",
    (3, 3, 1),
    layer("conv1", 2, kernel=2, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1}},
)

pytest_plugins = ["merp.cocotb.plugin"]


@bench_test
async def registers_go_by_their_names(bench: Bench) -> None:
    assert await bench.read("ident") == 0x4D455250
    await bench.write("map_config_rows", 2)
    assert await bench.read("map_config_rows") == 2
    with pytest.raises(BadInput, match=r"^no register 'rows': allowed are ident, "):
        await bench.read("rows")
    with pytest.raises(AssertionError, match=r"^write of ident: response 2$"):
        await bench.write("ident", 1)


@bench_test
async def what_would_not_run_is_refused_before_it_hangs(bench: Bench) -> None:
    vectors = bench.package.vectors("small")
    short = {**vectors.inputs, "s_axis_map": vectors.inputs["s_axis_map"][1:]}
    with pytest.raises(BadInput, match=r"^s_axis_map: \d+ words: conv1 takes \d+$"):
        await bench.run("conv1", short)
    with pytest.raises(BadInput, match=r"^registers: map_config_\w+, .* missing$"):
        await bench.run({}, vectors.inputs)
    wrong = {**vectors.registers, "map_config_rows": 1 << 20}
    with pytest.raises(AssertionError, match=r"^map_config_rows = 1048576: refused, error reg"):
        await bench.run(wrong, vectors.inputs)
    with pytest.raises(BadInput, match=r"^pause = 1: allowed are"):
        await bench.run("conv1", vectors.inputs, pause=1)


@bench_test
async def a_run_that_waits_for_words_is_given_up_and_the_next_is_right(bench: Bench) -> None:
    vectors = bench.package.vectors("small")
    short = {**vectors.inputs, "s_axis_map": vectors.inputs["s_axis_map"][1:]}
    with pytest.raises(CheckFailed, match="no word moved for 100 cycles"):
        await bench.run(vectors.registers, short, limit=100)
    await bench.reset()
    result = await bench.run(vectors.registers, vectors.inputs, pause=0.5, seed=3)
    result.check(vectors.outputs, vectors.counters)
    assert result.counters["stall_input"] + result.counters["stall_output"] > 0
    assert np.array_equal(result.words["m_axis_map"], vectors.outputs["m_axis_map"])


@pytest.fixture(scope="module")
def exported(network_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    assert main(["export", str(network_file), "--layer", "conv1", "-o", str(folder)]) == 0
    return folder / "small-k2-fp"


@pytest.mark.ghdl
def test_the_bench_drives_a_package(exported: Path, run_package: Callable[[Path], int]) -> None:
    assert run_package(exported) == 3
