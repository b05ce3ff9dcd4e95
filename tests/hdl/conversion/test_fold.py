"""Folded VHDL: one entity for the configurations of a block, loops, no idle inputs, comments."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from myhdl import Signal, always, always_comb

from block_bench import BlockBench, Replays
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion import _fold, _prune
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import entity

TAPS = 6


@entity
def scale(clk: Any, rst: Any, x: Any, y: Any, factor: int, offset: int, inverted: bool) -> Any:
    """Multiply, add, and turn around if asked to; the reset does nothing."""
    width = len(y)
    sums = bits(width)

    if inverted:

        @always_comb
        def turn() -> None:
            y.next = (2**width - 1) ^ sums

    else:

        @always_comb
        def turn() -> None:
            y.next = sums

    # Sums wrap around.
    @always(clk.posedge)
    def step() -> None:
        # The product is narrow enough.
        sums.next = (x * factor + offset) % 2**width

    return turn, step


@entity
def scales(clk: Any, rst: Any, spare: Any, word: Any, mark: Any, late: Any, y: Any) -> Any:
    """Some configurations of a few blocks, and an array of equal ones."""
    lanes = [bits(9) for _ in range(TAPS)]
    waits = [bits(9) for _ in range(TAPS)]
    totals = [bits(12) for _ in range(2)]
    marked = flag()
    made = [
        scale(clk, rst, word((k + 1) * 4, k * 4), lanes[k], factor=3, offset=5, inverted=False)
        for k in range(TAPS)
    ]
    others = [
        scale(clk, rst, word(8, 0), totals[0], factor=7, offset=0, inverted=True),
        scale(clk, rst, word(8, 4), totals[1], factor=2, offset=9, inverted=False),
    ]
    # Every lane waits.
    waiting = [delay(clk, lanes[k], waits[k], 2) for k in range(TAPS)]
    marks = [delay(clk, mark, marked, 1), delay(clk, marked, late, 4)]

    @always_comb
    def join() -> None:
        y.next = totals[0] ^ totals[1] ^ waits[0] ^ waits[1] ^ waits[2] ^ waits[3] ^ waits[5]

    return made, others, waiting, marks, join


def arguments() -> dict[str, Any]:
    names = {"clk": Signal(bool(0)), "rst": flag(), "spare": bits(3), "mark": flag()}
    return names | {"word": bits(4 * TAPS), "late": flag(), "y": bits(12)}


def text(folder: Path, name: str, **given: Any) -> str:
    convert(scales, arguments(), "vhdl", folder, **given)
    return (folder / f"{name}.vhd").read_text()


def test_configurations_of_a_block_are_one_entity_with_generics(tmp_path: Path) -> None:
    files = convert(scales, arguments(), "vhdl", tmp_path).files
    assert [file.stem for file in files[1:]] == ["scale", "delay", "scales"]
    assert "        factor   : positive;\n" in (tmp_path / "scale.vhd").read_text()
    top = (tmp_path / "scales.vhd").read_text()
    assert "generic map (inverted => true, factor => 7, offset => 0, " in top
    assert "d(0) => mark" in top  # a bit where others have a vector


def test_equal_instances_are_a_loop_over_arrays(tmp_path: Path) -> None:
    top = text(tmp_path, "scales")
    assert "made : for i in 0 to 5 generate" in top
    assert "word_num(4 * i + 3 downto 4 * i)" in top
    assert "type lanes_t is array (0 to 5) of unsigned(8 downto 0);" in top


def test_an_input_that_drives_nothing_goes_but_not_from_the_top(tmp_path: Path) -> None:
    assert "rst" not in text(tmp_path, "scale").partition("\nentity")[2]
    top = (tmp_path / "scales.vhd").read_text()
    assert "rst   : in  std_logic" in top
    assert "spare : in  std_logic_vector(2 downto 0)" in top


def test_comments_of_the_source_go_along(tmp_path: Path) -> None:
    said = ["-- Sums wrap around.", "-- The product is narrow enough.", "step : process (clk) is"]
    lines = [line.strip() for line in text(tmp_path, "scale").splitlines()]
    assert lines[(at := lines.index(said[0])) : at + 3] == said
    top = (tmp_path / "scales.vhd").read_text()
    assert "    -- Every lane waits.\n    waiting : for i in 0 to 5 generate" in top


def test_plain_entities_are_there_for_the_asking(tmp_path: Path) -> None:
    top = text(tmp_path, "scales", fold=False)
    assert "end generate" not in top
    assert "made_3 : entity work.scale_factor3" in top


@pytest.mark.ghdl
def test_folded_vhdl_has_the_bits_of_the_simulation(replays: Replays) -> None:
    rng = Random(14)
    rows = [{"word": rng.getrandbits(4 * TAPS), "mark": rng.getrandbits(1)} for _ in range(60)]
    assert replays(BlockBench(scales, **arguments()).run(rows)) == 60


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("4 * i + 3", "4 * i + 2"), ("0 to 5 generate", "0 to 4 generate"), ("(0 to 5)", "(0 to 6)"),
     ("offset => 9", "offset => 8"), ("waits(5)", "waits(4)"), ("* factor", "* offset"),
     ("if inverted", "if not inverted"), ("cycles - 2", "cycles - 1")],
)  # fmt: skip
def test_a_file_that_does_not_give_back_its_configurations_is_not_written(
    was: str, becomes: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = _fold.printed
    seen = []

    def spoilt(folded: Any) -> str:
        right = printed(folded)
        seen.append(was in right)
        return right.replace(was, becomes)

    monkeypatch.setattr(_fold, "printed", spoilt)
    converted_plainly(tmp_path)
    assert any(seen)


def converted_plainly(folder: Path) -> None:
    with pytest.warns(RuntimeWarning, match="scales is written without generics: "):
        found = convert(scales, arguments(), "vhdl", folder / "found")
    plain = convert(scales, arguments(), "vhdl", folder / "plain", fold=False)
    assert [file.read_text() for file in found.files] == [file.read_text() for file in plain.files]


def test_a_port_that_is_needed_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    used = _prune.words_used

    def blind(text: str) -> Counter[str]:
        return Counter({name: count for name, count in used(text).items() if name != "x"})

    monkeypatch.setattr(_prune, "words_used", blind)
    converted_plainly(tmp_path)
