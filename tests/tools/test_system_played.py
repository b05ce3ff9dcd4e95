"""A driver that knows only the files of ``merp system`` trains a step on a board."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrow_part import narrow
from system_files import read, words_of

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.build import built
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.base.bits import Bits
from merp.models.golden.initial import parameters
from merp.models.golden.training import RATE, initial_model, rates_of, train_step
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from merp.tools.system.planned_system import planned_step
from merp.tools.system.request import SystemOptions
from needed_tools import needs
from terminal import Terminal


class Driver:
    """It knows the files of a package. The hardware on the board is converted once more."""

    def __init__(self, made: Path, step: Mapping[str, Any], asked: SystemOptions) -> None:
        several = "bitstreams" in read(made, "manifest")
        systems = planned_step(open_network(asked.network), asked).systems
        self.systems = {each.name: each.system for each in systems}
        self.folders = {name: made / name if several else made for name in self.systems}
        layout = read(next(iter(self.folders.values())), "layout")
        self.arrays = {each["name"]: each for each in layout["arrays"]}
        self.rows = {
            each["name"]: each
            for folder in self.folders.values()
            for each in read(folder, "lists")["lists"]
        }
        self.loaded: list[str] = []
        self.load(self.rows[step["lists"][0]["name"]]["bitstream"])

    def load(self, bitstream: str) -> None:
        """Load a bitstream; memory keeps its contents."""
        if self.loaded[-1:] == [bitstream]:
            return
        system, folder = self.systems[bitstream], self.folders[bitstream]
        bits = read(folder, "manifest")["port"]["data_bits"]
        board = SimulatedBoard(built(system.function, system.args, Dram(data_bits=bits // 8)))
        if self.loaded:
            before = self.board
            for each in self.arrays.values():
                place = Buffer(each["address"], each["bytes"])
                board.to_device(place, before.from_device(place, np.uint8, each["bytes"]))
        self.board = board
        host = read(folder, "registers")["host"]
        self.host = {each["name"]: each["offset"] for each in host}
        self.loaded.append(bitstream)
        for each in self.rows.values():
            self._copy_list(each)

    def _copy_list(self, each: Mapping[str, Any]) -> None:
        words = words_of(self.folders[each["bitstream"]], each)
        self.board.to_device(Buffer(each["address"], words.nbytes), words)

    def put(self, name: str, words: Bits) -> None:
        """Write an array."""
        each = self.arrays[name]
        assert words.size * each["element_bytes"] == each["bytes"]
        self.board.to_device(Buffer(each["address"], each["bytes"]), words.astype("<u4"))

    def get(self, name: str) -> Any:
        """Read an array."""
        each = self.arrays[name]
        return self.board.from_device(Buffer(each["address"], each["bytes"]), "<u4", each["shape"])

    def ring(self, name: str) -> None:
        """Ring a list, and wait for its end."""
        each = self.rows[name]
        self.load(each["bitstream"])
        for row in each["ring"]:
            self.board.write32(row["offset"], row["value"])
        self.board.wait(len(each["passes"]) * each["cycle_limit"])
        assert self.board.read32(self.host["status_failure"]) == 0


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
@pytest.mark.parametrize("share", [1.0, 0.17])
def test_a_driver_trains_a_step_with_the_files_of_the_package(
    share: float, tmp_path: Path, terminal: Terminal
) -> None:
    """On one bitstream, and on several, of which only one is on the board at a time."""
    made, network, board = tmp_path / "made", open_network("tiny3"), narrow(tmp_path, share)
    ended = terminal.run("system", "tiny3", "--board", board, "-o", made)
    assert ended.status == 0, ended.err
    step = read(made, "lists" if share == 1.0 else "step")
    asked = SystemOptions(network="tiny3", board=str(board), output=made)
    driver = Driver(made, step, asked)
    for folder in driver.folders.values():
        order = read(folder, "manifest")["compile_order"]
        assert order["vhdl"][-1] == "hdl/memory_system.vhd"
        assert order["verilog"][-1] == "verilog/memory_system.v"
    images, before = random_maps(network, 1), parameters(network, 0)
    golden = train_step(
        network, initial_model(network, 0), images, np.array([1]),
        rates_of(RATE, 1, network.fmt), "cross-entropy", "pooled",
    )  # fmt: skip
    for layer, (kernels, biases) in before.items():
        driver.put(f"{layer}.kernels", kernels)
        driver.put(f"{layer}.biases", biases)
    assert {name.split(".")[0] for name in step["kept"]} == set(before)
    driver.put("images", images)
    for each in step["lists"]:
        if each["host"]["writes"] == ["fc3.deltas"]:
            for layer in network.layers:
                maps = driver.get(f"{layer.name}.maps")
                np.testing.assert_array_equal(maps.reshape(-1), golden.y(layer).reshape(-1))
            driver.put("fc3.deltas", golden.of(network.layers[-1]).sums)
        driver.ring(each["name"])
    assert len(set(driver.loaded)) == len(driver.systems)
    assert (len(driver.systems) > 1) == (share < 1)
    for layer in network.layers:
        kernels, biases = golden.model.of(layer).parameters
        found = driver.get(f"{layer.name}.kernels")
        np.testing.assert_array_equal(found, kernels.reshape(found.shape))
        np.testing.assert_array_equal(driver.get(f"{layer.name}.biases"), biases)
