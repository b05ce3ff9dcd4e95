import dataclasses
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myhdl import ResetSignal, Signal, always_comb, always_seq

import merp.cosim.block.replay as module
from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.base.signals import Stream, bits
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.conversion.entity import entity
from merp.models.base.errors import BadInput
from merp.testbenches.block.trace import Trace, run_block


@entity
def half(word: Any, y: Any) -> Any:
    """Upper half of a word."""
    width = len(y)

    @always_comb
    def take() -> None:
        y.next = word[2 * width : width]

    return take


@entity
def accumulate(clk: Any, rst: Any, sink: Stream, total: Any, upper: Any) -> Any:
    """Sum the words of a stream; always ready."""

    @always_seq(clk.posedge, reset=rst)
    def add() -> None:
        if sink.valid:
            total.next = (total + sink.data) % 65536

    @always_comb
    def accept() -> None:
        sink.ready.next = sink.valid or not sink.last

    return add, accept, half(total, upper)


@entity
def remainder(a: Any, b: Any, y: Any) -> Any:
    """Of four less one word and more another: the constant is as wide as none of them."""

    @always_comb
    def subtract() -> None:
        y.next = 4 - a + b

    return subtract


def accumulate_trace(cycles: int = 60) -> Trace:
    args = {
        "clk": Signal(bool(0)),
        "rst": ResetSignal(0, active=1, isasync=False),
        "sink": Stream(8),
        "total": bits(16, 0xABC),
        "upper": bits(8),
    }
    rng = random.Random(7)

    def drive(cycle: int, _seen: Any) -> dict[str, int]:
        return {
            "rst": int(cycle == 40),
            "sink_data": rng.getrandbits(8),
            "sink_valid": rng.getrandbits(1),
            "sink_last": rng.getrandbits(1),
        }

    return run_block(
        accumulate, args, ("rst", "sink_data", "sink_valid", "sink_last"), drive, cycles
    )


def half_trace() -> Trace:
    args = {"word": bits(16), "y": bits(8)}
    return run_block(half, args, ("word",), lambda cycle, _: {"word": 257 * cycle}, 20)


def _spoil(monkeypatch: pytest.MonkeyPatch, file: str, change: Callable[[str], str]) -> None:
    """Change a file of the next export."""

    def convert_and_spoil(*args: Any) -> Export:
        export = convert(*args)
        path = next(path for path in export.files if path.name == file)
        before = path.read_text()
        assert change(before) != before
        path.write_text(change(before))
        return export

    monkeypatch.setattr(module, "convert", convert_and_spoil)


@pytest.mark.ghdl
def test_counts_the_compared_cycles(tmp_path: Path) -> None:
    assert replay(accumulate_trace(), tmp_path) == 60


@pytest.mark.ghdl
def test_a_constant_that_is_cut_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Even where the output happens to be right: the next expression's would not be."""
    args = {"a": bits(2), "b": bits(2), "y": bits(3)}
    trace = run_block(remainder, args, ("a", "b"), lambda cycle, _: {"a": 1 + cycle % 3}, 8)
    assert replay(trace, tmp_path) == 8

    def cut(text: str) -> str:
        return text.replace("4 - resize(a_num, 3) + b_num", "resize(4 - a_num + b_num, 3)")

    _spoil(monkeypatch, "remainder.vhd", cut)
    with pytest.raises(RuntimeError, match=r"a value does not fit: .*vector truncated"):
        replay(trace, tmp_path)


@pytest.mark.ghdl
def test_a_block_without_a_clock(tmp_path: Path) -> None:
    assert replay(half_trace(), tmp_path) == 20


@pytest.mark.ghdl
def test_names_port_and_cycle_of_the_first_difference(tmp_path: Path) -> None:
    trace = accumulate_trace()
    column = [port.name for port in trace.ports].index("total")
    rows = [list(row) for row in trace.rows]
    right = rows[33][column]
    for cycle in (33, 50):
        rows[cycle][column] ^= 0x100
    wrong = dataclasses.replace(trace, rows=tuple(tuple(row) for row in rows))
    message = rf"accumulate.total \(16 bits\), cycle 33: expected {right ^ 256:#x}, got {right:#x}"
    with pytest.raises(AssertionError, match=message):
        replay(wrong, tmp_path)


@pytest.mark.ghdl
def test_a_wrong_slice_in_a_sub_entity_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _spoil(
        monkeypatch, "half.vhd", lambda text: text.replace("word(15 downto 8)", "word(14 downto 7)")
    )
    with pytest.raises(AssertionError, match=r"accumulate.upper \(8 bits\), cycle"):
        replay(accumulate_trace(), tmp_path)


@pytest.mark.ghdl
def test_an_undefined_output_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _spoil(monkeypatch, "accumulate.vhd", lambda text: text.replace(' := x"0abc"', ""))
    with pytest.raises(AssertionError, match='cycle 0: expected 0xabc, got "UUUU'):
        replay(accumulate_trace(), tmp_path)


@pytest.mark.ghdl
def test_vhdl_that_ghdl_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _spoil(monkeypatch, "half.vhd", lambda text: text.replace("std_logic_vector(y_", "(y_"))
    with pytest.raises(RuntimeError, match=r"ghdl failed on half: .*half\.vhd"):
        replay(half_trace(), tmp_path)


@pytest.mark.ghdl
def test_a_test_module_that_does_not_run_is_not_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FOLDER", "SOMETHING_ELSE")
    with pytest.raises(RuntimeError, match=r"^ghdl on half: 1 of 1 cocotb tests failed"):
        replay(half_trace(), tmp_path)


@pytest.mark.ghdl
def test_an_output_cannot_be_driven(tmp_path: Path) -> None:
    trace = half_trace()
    ports = tuple(dataclasses.replace(port, is_input=True) for port in trace.ports)
    with pytest.raises(AssertionError, match="the trace drives y, which half drives as well"):
        replay(dataclasses.replace(trace, ports=ports), tmp_path)


@pytest.mark.ghdl
def test_an_empty_trace_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="an empty trace"):
        replay(dataclasses.replace(half_trace(), rows=()), tmp_path)


def test_without_ghdl_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="ghdl: simulator not found, install") as caught:
        replay(half_trace(), tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.verilator
@pytest.mark.full  # tests/examples has one of a design
def test_verilator_replays_the_verilog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    assert replay(accumulate_trace(), tmp_path, "verilator") == 60
    _spoil(monkeypatch, "half.v", lambda text: text.replace("word[15:8]", "word[14:7]"))
    with pytest.raises(AssertionError, match=r"accumulate.upper \(8 bits\), cycle"):
        replay(accumulate_trace(), tmp_path, "verilator")
    assert dict(os.environ) == before


def test_another_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="engine 'icarus': no such engine, allowed: ghdl, verilator"):
        replay(half_trace(), tmp_path, "icarus")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.verilator
def test_lint_accepts_good_verilog_and_reports_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = accumulate_trace(1)
    files = lint_verilog(trace.block, trace.args, tmp_path)
    assert [file.name for file in files] == ["half.v", "accumulate.v"]
    _spoil(monkeypatch, "accumulate.v", lambda text: text.replace(".word (total)", ".wort (total)"))
    with pytest.raises(AssertionError, match=r"verilator on accumulate: (.|\n)*wort"):
        lint_verilog(trace.block, trace.args, tmp_path)
