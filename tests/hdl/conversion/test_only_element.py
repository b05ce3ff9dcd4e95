"""A list of one signal that a signal indexes: synthesis takes no index of no bits."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from myhdl import Signal, always, always_comb

from block_bench import BlockBench, Replays
from merp.hdl.base.signals import bits
from merp.hdl.conversion._signals import index_only_elements
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def shelf(clk: Bit, place: Word, x: Word, y: Word, places: int) -> Any:
    """A word is written and read at a place.

    place  in   where, in both directions
    x      in   what is written
    y      out  what was there before
    """
    words = [bits(len(x)) for _ in range(places)]

    @always(clk.posedge)
    def write() -> None:
        words[place].next = x ^ words[place]

    @always_comb
    def read() -> None:
        y.next = words[place]

    return write, read


def ports(places: int) -> dict[str, Any]:
    return dict(clk=Signal(False), place=bits(1), x=bits(4), y=bits(4), places=places)


@pytest.mark.ghdl
def test_its_only_place_is_written_and_read(replays: Replays) -> None:
    random = Random(1)

    def drive(cycle: int, seen: Mapping[str, int]) -> dict[str, int]:
        return {"place": 0, "x": random.randrange(16)}

    assert replays(BlockBench(shelf, **ports(1)).run(drive, 20)) == 20


@pytest.mark.ghdl
@pytest.mark.parametrize("places", [1, 2])
def test_synthesis_takes_it(places: int, tmp_path: Path) -> None:
    export = convert(shelf, ports(places), "vhdl", tmp_path)
    names = [file.name for file in export.files]
    for words in (["-a", "--std=08", *names], ["--synth", "--std=08", export.top]):
        done = subprocess.run(["ghdl", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    text = (tmp_path / f"{export.top}.vhd").read_text()
    assert ("words(0) <= x_num xor words(0);" in text) == (places == 1)
    assert ("words(to_integer(place_num))" in text) == (places == 2)


def test_only_the_index_is_replaced() -> None:
    written = "ages(to_integer(f(a, (b))))(3 downto 1) <= other_ages(i) + ages(0)(2);"
    assert index_only_elements(written, ["ages"]) == (
        "ages(0)(3 downto 1) <= other_ages(i) + ages(0)(2);"
    )
    assert index_only_elements(written, []) == written
    with pytest.raises(ValueError, match="not closed"):
        index_only_elements("ages(to_integer(1)", ["ages"])
