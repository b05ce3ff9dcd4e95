"""Fingerprints of Verilog: what they depend on, and what they do not."""

from types import SimpleNamespace
from typing import Any

import pytest
from myhdl import Signal, always_comb, block

from merp.cosim.engines.verilator_engine import verilog_sha
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _more(x: Word, y: Word, by: int) -> Any:
    @always_comb
    def add() -> None:
        y.next = x + by

    return add


@entity
def two_sums(clk: Bit, x: Word, y: Word, z: Word, by: int, turned: bool) -> Any:
    """Two statements in either order."""
    first, second = _more(x=x, y=y, by=by), _more(x=x, y=z, by=1)
    return (second, first) if turned else (first, second)


def sha(ordered: bool, **built: Any) -> str:
    args = {"clk": Signal(bool(0)), "x": bits(4), "y": bits(5), "z": bits(5), **built}
    top: Any = SimpleNamespace(function=two_sums, args=args)
    return verilog_sha(top, ordered=ordered)


@pytest.mark.parametrize("ordered", [True, False])
def test_the_order_of_statements_counts_where_it_is_asked_for(ordered: bool) -> None:
    straight, turned = (sha(ordered, by=2, turned=turned) for turned in (False, True))
    assert (straight != turned) == ordered
    assert straight == sha(ordered, by=2, turned=False)
    assert sha(ordered, by=3, turned=False) not in (straight, turned)
