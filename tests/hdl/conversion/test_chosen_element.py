"""A list of signals of which a signal chooses the one that is written: registers to synthesis."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from myhdl import Signal, always, always_comb

from block_bench import BlockBench, Replays
from merp.hdl.base.signals import bits
from merp.hdl.conversion._signals import assign_chosen_elements, elements_by_number
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def lanes(clk: Bit, lane: Word, x: Word, y: Word, first: Word, count: int) -> Any:
    """A word for each lane.

    lane   in   which is written, if it is one, and read
    x      in   what is written
    y      out  the lane's word
    first  out  that of lane 0
    """
    words = [bits(len(x)) for _ in range(count)]

    @always(clk.posedge)
    def write() -> None:
        if lane < count:
            words[lane].next = x ^ words[0]

    @always_comb
    def read() -> None:
        y.next = 0
        if lane < count:
            y.next = words[lane]
        first.next = words[0]

    return write, read


def ports(count: int) -> dict[str, Any]:
    words = {name: bits(4) for name in ("x", "y", "first")}
    return dict(clk=Signal(False), lane=bits(2), count=count, **words)


@pytest.mark.ghdl
@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_lane_keeps_its_word(count: int, replays: Replays) -> None:
    random = Random(count)

    def drive(cycle: int, seen: Mapping[str, int]) -> dict[str, int]:
        return {"lane": random.randrange(count), "x": random.randrange(16)}

    trace = BlockBench(lanes, **ports(count)).run(drive, 40)
    assert len(set(trace.rows)) > 10
    assert replays(trace) == 40


@pytest.mark.ghdl
@pytest.mark.parametrize("count", [2, 3])
def test_synthesis_makes_registers(count: int, tmp_path: Path) -> None:
    export = convert(lanes, ports(count), "vhdl", tmp_path)
    names = [file.name for file in export.files]
    for words in (["-a", *names], ["--synth", "--out=verilog", export.top]):
        verb, *others = words
        done = subprocess.run(
            ["ghdl", verb, "--std=08", *others], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.count("always @(posedge") >= 1


def test_memories_have_no_elements_by_number() -> None:
    assert not elements_by_number("words", "words(to_integer(place)) <= words(i) + other_words(1);")
    assert elements_by_number("words", "y <= words(1)(3 downto 0);")


def test_a_loop_compares_what_chooses() -> None:
    written = (
        "if a then\n"
        "    w(to_integer(f(a, (b))))(3 downto 0) <= stdl(g(w(to_integer(c))) <= w_at);\n"
        "    w(i) <= x;\n"
        "    w(to_integer(d)) <= \n"
        "        tern_op(a, b);\n"
        "end if;\n"
    )
    assert assign_chosen_elements(written, ["w"]) == (
        "if a then\n"
        "    for w_at1 in w'range loop\n"
        "        if w_at1 = to_integer(f(a, (b))) then\n"
        "            w(w_at1)(3 downto 0) <= stdl(g(w(to_integer(c))) <= w_at);\n"
        "        end if;\n"
        "    end loop;\n"
        "    w(i) <= x;\n"
        "    for w_at1 in w'range loop\n"
        "        if w_at1 = to_integer(d) then\n"
        "            w(w_at1) <= \n"
        "        tern_op(a, b);\n"
        "        end if;\n"
        "    end loop;\n"
        "end if;\n"
    )
    assert assign_chosen_elements(written, []) == written
