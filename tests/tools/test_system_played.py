"""A driver that knows only the files of ``merp system`` trains a step on a board."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from system_files import read, words_of

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.build import built
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.step_lists import step_system
from merp.models.base.bits import Bits
from merp.models.golden.initial import parameters
from merp.models.golden.training import RATE, initial_model, rates_of, train_step
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.system import planned
from needed_tools import needs
from terminal import Terminal


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_a_driver_trains_a_step_with_the_files_of_the_package(
    tmp_path: Path, terminal: Terminal
) -> None:
    """It knows nothing but these files. The hardware on the board is converted once more."""
    made, network = tmp_path / "made", open_network("tiny3")
    ended = terminal.run("system", "tiny3", "-o", made)
    assert ended.status == 0, ended.err
    order = read(made, "manifest")["compile_order"]
    assert order["vhdl"][-1] == "hdl/memory_system.vhd"
    assert order["verilog"][-1] == "verilog/memory_system.v"
    layout, found = read(made, "layout"), read(made, "lists")
    arrays = {each["name"]: each for each in layout["arrays"]}
    host = {each["name"]: each["offset"] for each in read(made, "registers")["host"]}
    system, dram = step_system(planned(network, 1, momentum=False))
    board = SimulatedBoard(built(system.function, system.args, dram))

    def put(name: str, words: Bits) -> None:
        each = arrays[name]
        assert words.size * each["element_bytes"] == each["bytes"]
        board.to_device(Buffer(each["address"], each["bytes"]), words.astype("<u4"))

    def get(name: str) -> Any:
        each = arrays[name]
        return board.from_device(Buffer(each["address"], each["bytes"]), "<u4", each["shape"])

    def ring(each: Mapping[str, Any]) -> None:
        for row in each["ring"]:
            board.write32(row["offset"], row["value"])
        board.wait(len(each["passes"]) * each["cycle_limit"])
        assert board.read32(host["status_failure"]) == 0

    for each in found["lists"]:
        words = words_of(made, each)
        board.to_device(Buffer(each["address"], words.nbytes), words)
    images, before = random_maps(network, 1), parameters(network, 0)
    golden = train_step(
        network, initial_model(network, 0), images, np.array([1]),
        rates_of(RATE, 1, network.fmt), "cross-entropy", "pooled",
    )  # fmt: skip
    for layer, (kernels, biases) in before.items():
        put(f"{layer}.kernels", kernels)
        put(f"{layer}.biases", biases)
    assert {name.split(".")[0] for name in found["kept"]} == set(before)
    put("images", images)
    forward, backward = found["lists"]
    ring(forward)
    for layer in network.layers:
        maps = get(f"{layer.name}.maps")
        np.testing.assert_array_equal(maps.reshape(-1), golden.y(layer).reshape(-1))
    assert backward["host"]["writes"] == ["fc3.deltas"]
    put("fc3.deltas", golden.of(network.layers[-1]).sums)
    ring(backward)
    for layer in network.layers:
        kernels, biases = golden.model.of(layer).parameters
        np.testing.assert_array_equal(get(f"{layer.name}.kernels"), kernels.reshape(
            get(f"{layer.name}.kernels").shape))  # fmt: skip
        np.testing.assert_array_equal(get(f"{layer.name}.biases"), biases)
