"""A driver that knows only the files of ``merp system`` trains a step on a board."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_driver import FAILED, INTERRUPT, NOT_WIRED, OK, POLLING, TIME, CDriver
from narrow_part import narrow
from system_files import read, words_of

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.build import built
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.base.bits import Bits
from merp.models.golden.initial import parameters
from merp.models.golden.training import RATE, initial_model, rates_of, train_step
from merp.models.memory.params.commands import Failure
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from merp.tools.fpga.system.driver import UPDATES
from merp.tools.fpga.system.planned_system import planned_step
from merp.tools.fpga.system.request import SystemOptions
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


@pytest.mark.full
@needs("litedram", "gcc")
@pytest.mark.verilator
def test_the_driver_in_c_trains_a_step(tmp_path: Path, terminal: Terminal) -> None:
    """Both ways to wait, and the self-test, an abort and a failure in between."""
    made, network = tmp_path / "made", open_network("tiny3")
    ended = terminal.run("system", "tiny3", "-o", made)
    assert ended.status == 0, ended.err
    asked = SystemOptions(network="tiny3", output=made)
    (planned,) = planned_step(network, asked).systems
    system, lists = planned.system, planned.lists
    bits = read(made, "manifest")["port"]["data_bits"]
    board = SimulatedBoard(built(system.function, system.args, Dram(data_bits=bits // 8)))
    first = read(made, "layout")["first"]
    size = max(each.address + each.words.nbytes for each in lists.values()) - first
    arrays = {each["name"]: each for each in read(made, "layout")["arrays"]}
    numbers = {name: number for number, name in enumerate(arrays)}

    def clock() -> int:
        """The handler of the interrupt runs while the driver looks at the clock."""
        board.read32(system.host["status"].offset)  # time passes also while the interrupt is high
        try:
            board.wait(1_000)
        except TimeoutError:
            return board.cycles
        if by_interrupt:
            driver.call("interrupt")
        return board.cycles

    driver = CDriver(made / "driver", board, first, size, clock)
    by_interrupt = True
    assert driver.call("open") == OK

    def put(name: str, words: Bits) -> None:
        each = arrays[name]
        at = each["address"] - first
        driver.arena[at : at + each["bytes"]] = words.astype("<u4").reshape(-1).view(np.uint8)
        driver.call("to_device", numbers[name])

    def get(name: str) -> Any:
        each = arrays[name]
        driver.call("from_device", numbers[name])
        at = each["address"] - first
        return driver.arena[at : at + each["bytes"]].view("<u4").reshape(each["shape"])

    assert driver.call("self_test", 100_000) == OK
    by_interrupt = False
    assert driver.call("self_test", 100_000) == NOT_WIRED
    images, before = random_maps(network, 1), parameters(network, 0)
    golden = train_step(
        network, initial_model(network, 0), images, np.array([1]),
        rates_of(3 * RATE, 1, network.fmt), "cross-entropy", "pooled",
    )  # fmt: skip
    for layer, (kernels, biases) in before.items():
        put(f"{layer}.kernels", kernels)
        put(f"{layer}.biases", biases)
    put("images", images)
    for layer in range(len(network.layers)):
        rate = int(np.float32(3 * RATE).view(np.uint32))
        assert driver.call("set", 1, layer, UPDATES.index("update_config_rate"), rate) == OK
    driver.call("ring", 0)
    assert driver.call("abort", 100_000) == OK
    assert driver.cause(0).failure == Failure.ABORTED
    assert driver.call("run", 0, 10, POLLING) == TIME
    assert driver.call("wait", 1_000_000, POLLING) == OK
    for layer in network.layers:
        maps = get(f"{layer.name}.maps")
        np.testing.assert_array_equal(maps.reshape(-1), golden.y(layer).reshape(-1))
    put("fc3.deltas", golden.of(network.layers[-1]).sums)
    by_interrupt = True
    assert driver.call("run", 1, 1_000_000, INTERRUPT) == OK
    for layer in network.layers:
        kernels, biases = golden.model.of(layer).parameters
        found = get(f"{layer.name}.kernels")
        np.testing.assert_array_equal(found, kernels.reshape(found.shape))
        np.testing.assert_array_equal(get(f"{layer.name}.biases"), biases)
    board.to_device(Buffer(lists["forward"].address, 4), np.zeros(1, np.uint32))
    assert driver.call("run", 0, 1_000_000, INTERRUPT) == FAILED
    cause = driver.cause(0)
    assert (cause.failure, cause.command, cause.pass_) == (Failure.ILLEGAL, 1, 0)
