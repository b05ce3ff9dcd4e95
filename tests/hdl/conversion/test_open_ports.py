"""Configurations that lack an input of others: one entity, unless a name is in the way."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from myhdl import always

from block_bench import BlockBench, Replays
from merp.hdl.base.signals import bits
from merp.hdl.conversion import _fold
from merp.hdl.conversion._open_ports import alike
from merp.hdl.conversion._vhdl_text import Declared, Module, Type, VhdlPort
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import entity


@entity
def ramp(clk: Any, go: Any, step: Any, total: Any) -> Any:
    """Add step, a signal or a number, while go is high."""
    size = 2 ** len(total)

    @always(clk.posedge)
    def add() -> None:
        if go:
            total.next = (total + step) % size

    return add


@entity
def ramps(clk: Any, go: Any, step: Any, three: Any, free: Any) -> Any:
    """One by a number, one by a signal."""
    return ramp(clk, go, 3, three), ramp(clk, go, step, free)


def bench_for() -> BlockBench:
    words = {"step": bits(4), "three": bits(8), "free": bits(8)}
    return BlockBench(ramps, "clk go", **words)


def test_an_input_that_some_lack_has_a_default(tmp_path: Path) -> None:
    files = convert(ramps, bench_for().args, "vhdl", tmp_path).files
    assert [file.stem for file in files[1:]] == ["ramp", "ramps"]
    written = (tmp_path / "ramp.vhd").read_text()
    assert "-- step = 3 or an input" in written
    default = "step  : in  unsigned(3 downto 0) := (others => '0');"
    assert default in written
    three, free = (tmp_path / "ramps.vhd").read_text().split("entity work.ramp")[1:]
    assert ("step" in three, "step" in free) == (False, True)


@pytest.mark.parametrize("name", ["step", "Step"])
def test_where_its_name_means_something_else_entities_stay_apart(name: str) -> None:
    ports = [VhdlPort("clk", "in", Type("std_logic"), ())]
    few = Module("few", "", ports, [Declared(name, Type("std_logic"), ("'0'",))], [])
    many = Module("many", "", [*ports, VhdlPort("step", "in", Type("std_logic"), ())], [], [])
    assert alike([few, many]) == [[0], [1]]
    assert alike([replace(few, declared=[]), many]) == [[0, 1]]


def test_where_an_output_or_the_order_differs_they_stay_apart() -> None:
    one, two = (VhdlPort(name, "in", Type("std_logic"), ()) for name in ("one", "two"))
    out = VhdlPort("out", "out", Type("std_logic"), ("'0'",))
    for ports in ([one, two, out], [two, one]):
        modules = [Module("block", "", each, [], []) for each in ([one, two], ports)]
        assert alike(modules) == [[0], [1]]


@pytest.mark.parametrize("fault", ["lost", "too many"])
def test_an_input_that_is_connected_wrongly_is_noticed(
    fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unified = _fold.unified

    def wrong(chosen: Any) -> Any:
        made = unified(chosen)
        if len(chosen) > 1:
            lacking = [frozenset(), *made.lacking[1:]] if fault == "lost" else [{"step"}, {"step"}]
            object.__setattr__(made, "lacking", tuple(lacking))
        return made

    monkeypatch.setattr(_fold, "unified", wrong)
    with pytest.warns(
        RuntimeWarning, match="ramps is written without generics: .* does not give back"
    ):
        convert(ramps, bench_for().args, "vhdl", tmp_path)


@pytest.mark.ghdl
def test_both_have_the_bits_of_the_simulation(replays: Replays) -> None:
    rng = Random(3)
    rows = [{"go": rng.getrandbits(1), "step": rng.getrandbits(4)} for _ in range(50)]
    assert replays(bench_for().run(rows)) == 50
