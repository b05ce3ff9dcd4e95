"""A table of constants: every place, and zero behind its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from merp.cosim.block.replay import replay
from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import bits, flag
from merp.testbenches.block.trace import Trace, run_block

TABLE = (5, 0, 7, 1, 2)


def check() -> Trace:
    args = {"clk": flag(), "index": bits(3), "found": bits(3), "table": TABLE}
    trace = run_block(look_up, args, ("index",), lambda cycle, _: {"index": 7 - cycle % 8}, 20)
    numbers = [*TABLE, 0, 0, 0]
    wanted = [numbers[index] for index in trace.column("index")]
    assert trace.column("found")[1:] == wanted[:-1]
    return trace


def test_every_number_comes_a_cycle_later() -> None:
    check()


@pytest.mark.ghdl
def test_vhdl_replays(tmp_path: Path) -> None:
    assert replay(check(), tmp_path) == 20
