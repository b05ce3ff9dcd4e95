"""A board checks rules of AXI4 in every cycle: each broken rule has its message."""

import pytest

from merp.cosim.board.build import Built, built
from merp.cosim.board.bus import RULES
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.base.errors import CheckFailed
from merp.models.memory.params.memory_port import MemoryPort
from needed_tools import needs
from rule_breaker import CYCLES, START, arguments, rule_breaker

pytestmark = [pytest.mark.verilator, needs("litedram")]


@pytest.fixture(scope="module")
def library() -> Built:
    dram = Dram()
    return built(rule_breaker, arguments(MemoryPort(data_bits=dram.port_bits)), dram)


def test_legal_bursts_have_no_fault(library: Built) -> None:
    board = SimulatedBoard(library)
    board.write32(START, 0)
    board.wait(2 * CYCLES)
    assert board.bus.read.bursts.keys() == {64}


@pytest.mark.parametrize("rule", range(1, 1 + len(RULES)), ids=lambda rule: RULES[rule - 1])
def test_a_broken_rule_is_told_once(library: Built, rule: int) -> None:
    board = SimulatedBoard(library)
    board.write32(START, rule)
    with pytest.raises(CheckFailed) as raised:
        board.wait(2 * CYCLES)
    assert str(raised.value).startswith(f"AXI4: {RULES[rule - 1]} (cycle ")
    board.wait(2 * CYCLES)
