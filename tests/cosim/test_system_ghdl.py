"""Steps and passes from a simple memory in GHDL: every bit, every count on pins and bus."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from merp.cosim.board.driver import Board, Device
from merp.cosim.board.rtl_board import RtlBoard
from merp.cosim.board.system import System
from merp.cosim.machines.cnn_merp.training.board_step import BoardStep
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.mac_array.board_step import ArrayBoardStep
from merp.models.base.rates import PLAIN
from merp.models.golden.training import initial_model as initial_floats
from merp.models.golden.training import rates_of
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.fixed_training import initial_model as initial_words
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network

SIZE = 1 << 20


class InGhdl(NamedTuple):
    """A board with a simple memory, in GHDL."""

    folder: Path

    def open(self, system: System) -> Board:
        """Return the board."""
        return RtlBoard(system, SIZE, self.folder)


@pytest.fixture
def board(tmp_path: Path) -> Device:
    """A board with a simple memory, in GHDL."""
    return InGhdl(tmp_path)


def quiet(_: str) -> None:
    """Accept the name of a pass."""


@pytest.mark.full
@pytest.mark.ghdl
def test_a_step_of_tiny3_in_all_phases(board: Device) -> None:
    """Six engines in one accelerator: two designs in three phases."""
    network = open_network("tiny3")

    step = BoardStep(WholeLayers(network, 1), 1, PLAIN, quiet, device=board)
    rates = rates_of(0.01, 1, network.fmt)
    done = step.step(initial_floats(network, 0), random_maps(network, 1), np.array([1]), rates)
    compared = {phase: 0 for _, phase in done.audits}
    for (_, phase), found in done.audits.items():
        assert found.failures == ()
        compared[phase] += found.words_compared
        assert all("bus" in ways for ways in found.ports.values())
    assert compared == {"fp": 124, "dp": 352, "ku": 337}


@pytest.mark.full
@pytest.mark.ghdl
def test_a_step_of_digits_fixed_of_one_image(board: Device) -> None:
    network = open_network("digits-fixed")

    step = ArrayBoardStep(network, 1, "hinge", momentum=True, begin=quiet, device=board)
    images = np.random.default_rng(1).integers(0, 4096, (1, 8, 8, 1)).astype(np.int16)
    rates = FixedRates(rate=0.01, momentum=0.9, seed=0, step=0)
    done = step.step(initial_words(network, 0), images, np.array([3]), rates)
    assert [found.failures for found in done.audits.values()] == [()] * 8
    assert sum(found.words_compared for found in done.audits.values()) > 10_000
