"""The C driver in the package of ``merp system``: its lists, its registers, its messages."""

import re
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_driver import (
    FAILED,
    INTERRUPT,
    MEMORY,
    NO_SETTING,
    NOT_WIRED,
    OK,
    OTHER_DESIGN,
    POLLING,
    STUCK,
    TIME,
    CDriver,
    compiled,
)
from register_board import RegisterBoard
from system_files import read, words_of
from unconverted import unconverted

import merp
from merp.cosim.board.step_lists import placed_lists
from merp.cosim.machines.mac_array.phases.array_phase import FixedRates
from merp.cosim.machines.mac_array.step_plan import board_phases, step_plan
from merp.models.machines.mac_array.memory.step_memory import StepMemory
from merp.models.memory.layout import Layout
from merp.models.memory.params.commands import Failure
from merp.tools.common.shipped import open_network
from merp.tools.system.driver import UPDATES
from merp.tools.system.planned_system import planned_step
from merp.tools.system.request import SystemOptions
from needed_tools import needs

LAYERS = "conv1", "conv2", "fc3"
"""Layers of tiny3 and of digits-fixed."""

CASES = {"tiny3": (1, False), "digits-fixed": (2, True)}
"""Images and momentum of a package."""


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package without hardware."""
    folder = tmp_path_factory.mktemp("system") / str(request.param)
    images, momentum = CASES[request.param]
    with pytest.MonkeyPatch.context() as patch:
        unconverted(patch)
        merp.load(request.param).system(images, output=folder, momentum=momentum)
    return folder


def opened(made: Path, work: Path, address: int | None = None) -> CDriver:
    """The driver of a package on registers, after ``merp_open``."""
    memory = _value(made, "ADDRESS")
    address = memory if address is None else address
    size = _value(made, "BYTES")
    board = RegisterBoard(read(made, "registers")["host"], address, size)
    driver = CDriver(made / "driver", board, address, size, work, count().__next__)
    assert driver.call("open") == OK
    return driver


def _value(made: Path, name: str) -> int:
    text = (made / "driver" / "system.h").read_text()
    found = re.search(rf"^#define MERP_{name} (0x\w+|\d+)u?$", text.replace("u\n", "\n"), re.M)
    assert found is not None
    return int(found[1], 0)


def bytes_of(driver: CDriver, first: int, each: Any) -> bytes:
    """The bytes of a list in the memory of the board; ``first`` is the arena's in the package."""
    begin = each["address"] - first
    return driver.board.memory[begin : begin + 4 * each["words"]].tobytes()


@needs("gcc")
def test_the_lists_are_those_of_the_package(made: Path, tmp_path: Path) -> None:
    driver, first = opened(made, tmp_path), _value(made, "ADDRESS")
    lists = read(made, "lists")["lists"]
    assert lists
    for each in lists:
        assert bytes_of(driver, first, each) == words_of(made, each).tobytes()


@needs("gcc")
def test_the_lists_at_another_address_are_those_of_python(made: Path, tmp_path: Path) -> None:
    address = 0x4000_0040
    driver, first = opened(made, tmp_path, address), _value(made, "ADDRESS")
    facts = read(made, "lists")
    asked = SystemOptions(
        network=facts["network"], images=facts["images"], momentum=facts["momentum"], output=made
    )
    (planned,) = planned_step(open_network(asked.network), asked).systems
    layout = Layout.of(planned.plan.arrays.values(), address, 1 << 32)
    systems = dict.fromkeys(planned.plan.lists, planned.system)
    lists, _ = placed_lists(planned.plan, systems, layout, 1 << 32)
    for each in facts["lists"]:
        wanted = lists[each["name"]]
        assert wanted.address - address == each["address"] - first
        assert bytes_of(driver, first, each) == wanted.words.astype("<u4").tobytes()
