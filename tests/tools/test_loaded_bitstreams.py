"""Loading of bitstreams in a report: at the rate of the board."""

from dataclasses import replace

import pytest

from merp.models.fpga.parts import KNOWN
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.passes import bitstream_size, reconfiguration_table


@pytest.mark.parametrize("name", ["kc705", "arty-a7-100"])
def test_a_bitstream_loads_at_the_rate_of_the_board(name: str) -> None:
    board = open_board(name)
    table = reconfiguration_table(
        PlannedChoice(network=open_network("tiny3"), batch=2, board=board)
    )
    row = next(each for each in table.rows if each["bitstream"] != "training step")
    assert row["load_seconds"] == pytest.approx(row["loads"] * board.load_seconds)


def test_a_bitstream_may_be_of_unknown_size() -> None:
    part = KNOWN["xc7z020"]
    assert bitstream_size(part) == "32,364,512 bit a bitstream"
    unknown = replace(part, configuration_bits=0)
    assert bitstream_size(unknown) == "a bitstream of unknown size"
