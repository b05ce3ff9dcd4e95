"""The bench of blocks: what drives a port, and what a reset leaves behind."""

from typing import Any

import pytest
from myhdl import always_seq, block

from block_bench import BlockBench, at_random
from merp.hdl.base.signals import Stream, bits


@block
def kept(clk: Any, rst: Any, start: Any, data: Any, load: Any, held: Any, source: Any) -> Any:
    """A register that is loaded, and a valid that says so; ``rst`` resets the valid alone."""

    @always_seq(clk.posedge, reset=None)
    def keep() -> None:
        source.valid.next = load and not rst
        if load:
            held.next = data

    return keep


BENCH = BlockBench(kept, "clk rst start load", data=bits(4), held=bits(4), source=Stream(4))
SESSION = at_random({"load": 0.3}, {"data": 4}, begin=6)


def test_the_inputs_are_the_ports_that_are_driven() -> None:
    trace = BENCH.feed(data=[3, 5, 7, 0], load=[1, 0, 1, 0], rst=[0] * 4)
    assert {port.name for port in trace.ports if port.is_input} == {"data", "load", "rst"}
    assert trace.columns("held", "source_valid") == [(0, 0), (3, 1), (3, 0), (7, 1)]
    assert {"source_valid", "held", "clk"} <= BENCH.ports
    with pytest.raises(KeyError, match="word"):
        BENCH.feed(word=[1])


def test_what_a_reset_leaves_behind_is_named() -> None:
    with pytest.raises(AssertionError, match="held, cycle 1 of a session after 12"):
        BENCH.as_new_after_reset(SESSION, (2, 12), 20)
    BENCH.as_new_after_reset(SESSION, (2, 12), 20, payload={"source_valid": "held"})
    BENCH.as_new_after_reset(SESSION, (12,), 5, late={"held": 5})


def test_a_pair_has_a_value_for_each_session() -> None:
    session = at_random({}, fixed=({"load": 1}, {"load": 0}), pulses={"rst": 0, "start": (1, 3)})
    seen = [[session(number)(cycle, {}) for cycle in range(4)] for number in (0, 1)]
    assert [[each["start"] for each in rows] for rows in seen] == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert [rows[0]["load"] for rows in seen] == [1, 0]
