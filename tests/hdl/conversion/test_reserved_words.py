"""Words that a standard reserves name nothing in exported files."""

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from myhdl import ResetSignal, Signal, always_comb, always_seq, enum, intbv

from block_bench import BlockBench, Replays
from merp.cosim.block.replay import lint_verilog
from merp.hdl.base.signals import bits
from merp.hdl.conversion.base.names import KEYWORDS, Names, flaw
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import entity

ADDED = {
    "VHDL-93": "group impure inertial literal postponed pure reject rol ror shared sla sll sra srl "
    "unaffected xnor",
    "VHDL-2002": "protected",
    "VHDL-2008": "assume assume_guarantee context cover default fairness force parameter property "
    "release restrict restrict_guarantee sequence strong vmode vprop vunit",
    "VHDL-2019": "private view",
    "VHDL-AMS": "across break limit nature noise procedural quantity reference spectrum subnature "
    "terminal through tolerance",
    "Verilog-2005": "cell config design endconfig incdir include instance liblist library "
    "localparam noshowcancelled pulsestyle_ondetect pulsestyle_onevent showcancelled uwire use",
    "SystemVerilog-2009": "accept_on checker endchecker eventually global implies let nexttime "
    "reject_on restrict s_always s_eventually s_nexttime s_until s_until_with strong "
    "sync_accept_on sync_reject_on unique0 until until_with untyped weak",
    "SystemVerilog-2012": "implements interconnect nettype soft",
}
"""Words that each edition added, of its list of reserved words."""


@pytest.mark.parametrize("edition", ADDED)
def test_a_reserved_word_is_replaced(edition: str) -> None:
    for word in ADDED[edition].split():
        for spelled in (word, word.upper()):
            assert flaw(spelled) == "is a keyword of VHDL or Verilog"
            assert Names().unique(spelled) == f"{spelled}_1"


@entity
def worded(clk: Any, rst: Any, d: Any, out: Any, begin: Any) -> Any:
    """Keywords of both languages name ports, an enumeration, and what a process has of its own."""
    process = enum("wait", "signal", "BEGIN")
    state = Signal(process.wait)

    @always_seq(clk.posedge, reset=rst)
    def step() -> None:
        signal = intbv(0)[8:]
        reg = d >> 1
        signal[:] = d ^ reg
        for loop in range(4):
            signal[loop] = not signal[7 - loop]
        out.next = signal
        if state == process.wait:
            if d[0]:
                state.next = process.signal
        elif state == process.signal:
            state.next = process.BEGIN
        else:
            state.next = process.wait

    @always_comb
    def shown() -> None:
        begin.next = state != process.wait

    return step, shown


def bench_for() -> BlockBench:
    words = {"d": bits(8), "out": bits(8)}
    reset = ResetSignal(0, active=1, isasync=False)
    return BlockBench(worded, "clk begin", rst=reset, **words)


@pytest.mark.ghdl
def test_what_they_name_has_the_bits_of_the_simulation(replays: Replays) -> None:
    rng = Random(2)
    rows = [{"rst": int(rng.random() < 0.1), "d": rng.getrandbits(8)} for _ in range(100)]
    trace = bench_for().run(rows)
    assert len(set(trace.rows)) > 50
    assert replays(trace) == 100


@pytest.mark.verilator
def test_what_they_name_passes_the_lint(tmp_path: Path) -> None:
    assert lint_verilog(worded, bench_for().args, tmp_path)


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_what_they_name_has_a_number_or_its_kind_behind_it(hdl: Any, tmp_path: Path) -> None:
    export = convert(worded, bench_for().args, hdl, tmp_path)
    ports = {port.argument: port.name for port in export.ports}
    assert ports == dict(clk="clk", rst="rst", d="d", out="out_port", begin="begin_port")
    assert export.outputs == ("out_port", "begin_port")
    text = export.files[-1].read_text()
    for name in "signal_1 reg_1 loop_1 wait_state signal_state BEGIN_state".split():
        assert re.search(rf"\b{name}\b", text)
    assigned = re.findall(r"(\w+)(?:\(\w+\)|\[\w+\])? (?::=|<=|=) ", text)
    assert {"signal_1", "reg_1"} < set(assigned)
    assert not {name.lower() for name in assigned} & KEYWORDS
