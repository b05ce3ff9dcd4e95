"""Generics of folded VHDL: what was converted elaborates, and nothing else does."""

import itertools
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, always_comb

from marks import in_full
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion import _fold
from merp.hdl.conversion._affine import Generics
from merp.hdl.conversion._logarithm import logarithm
from merp.hdl.conversion.convert import Export, Language, convert
from merp.hdl.conversion.entity import entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of

CHECK = re.compile(r'are_converted\(\s*"(\w+): ([\w, ]+)",\s*([^\n]+),\n\s*(.*?)\n +\);', re.DOTALL)


@dataclass(frozen=True)
class Legal:
    """What the file of an entity says of its generics: names and rows of values."""

    names: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


def legal(text: str) -> Legal | None:
    """What a file admits, as its text has it."""
    found = CHECK.search(text)
    if found is None:
        return None
    rows = re.findall(r"\(([\d, \n]+)\)", found[4][1:-1]) or found[4][1:-1].split(",")
    return Legal(
        tuple(found[2].split(", ")), tuple(tuple(map(int, row.split(","))) for row in rows)
    )


def elaborated(folder: Path, name: str, values: Mapping[str, object]) -> str:
    """What GHDL has against an entity with these generics; nothing if it elaborates."""
    given = [f"-g{key}={value}" for key, value in values.items()]
    command = ["ghdl", "--elab-run", "--std=08", name, *given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stdout + done.stderr == ""), done
    return done.stdout + done.stderr


def analysed(export: Export) -> Path:
    """The folder of an export that GHDL has analysed."""
    folder = export.files[0].parent
    names = [file.name for file in export.files]
    subprocess.run(["ghdl", "-a", "--std=08", *names], cwd=folder, check=True)
    return folder


def given(text: str, names: Sequence[str], row: Sequence[int]) -> dict[str, object]:
    """Generics as GHDL takes them."""
    return {
        name: str(bool(value)).lower() if re.search(rf" {name} +: boolean", text) else value
        for name, value in zip(names, row, strict=True)
    }


@entity
def fifos(clk: Any, rst: Any, push: Any, data: Any, take: Any, y: Any) -> Any:
    """Several depths and widths."""
    first, second, third = heads = bits(8), bits(5), bits(8)
    valids, credits = [flag() for _ in heads], [flag() for _ in heads]
    made = [
        credit_fifo(
            clk, rst, push, data(len(head), 0), head, valids[k], take, credits[k], words=words
        )
        for k, (head, words) in enumerate(zip(heads, (6, 4, 39), strict=True))
    ]

    @always_comb
    def join() -> None:
        y.next = first ^ second ^ third

    return made, join


def converted_fifos(folder: Path, language: Language = "vhdl") -> Export:
    """The design above."""
    args = {"clk": Signal(bool(0)), "rst": flag(), "push": flag(), "data": bits(8)}
    return convert(fifos, args | {"take": flag(), "y": bits(8)}, language, folder)


def test_a_width_that_follows_from_a_depth_is_no_generic(tmp_path: Path) -> None:
    converted_fifos(tmp_path)
    text = (tmp_path / "credit_fifo.vhd").read_text()
    assert "        words      : positive;\n        data_width : positive\n" in text
    assert "constant write_addr_width : positive := ceil_log2(words);" in text
    assert "constant fill_width       : positive := ceil_log2(words + 1);" in text
    assert legal(text) == Legal(("words", "data_width"), ((6, 8), (4, 5), (39, 8)))
    assert "generic map (words => 39, data_width => 8)" in (tmp_path / "fifos.vhd").read_text()


@pytest.mark.ghdl
def test_a_depth_that_was_not_converted_is_refused(tmp_path: Path) -> None:
    folder = analysed(converted_fifos(tmp_path))
    for words, width in itertools.product((4, 6, 39, 44), (5, 8)):
        said = elaborated(folder, "credit_fifo", {"words": words, "data_width": width})
        if (words, width) in ((6, 8), (4, 5), (39, 8)):
            assert not said
            continue
        assert (
            f"credit_fifo: words, data_width = {words}, {width}; converted were 6, 8 or 4, 5 or "
            "39, 8: for other values convert the block again"
        ) in said.splitlines()[0]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("ceil_log2(words + 1)", "ceil_log2(words)"), ("ceil_log2(words);", "ceil_log2(words + 1);"),
     ("(6, 8), ", ""), ("(words, data_width)", "(data_width, words)")],
)  # fmt: skip
def test_constants_and_checks_are_compared_with_the_source(
    was: str, becomes: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = _fold.printed
    monkeypatch.setattr(_fold, "printed", lambda folded: printed(folded).replace(was, becomes))
    with pytest.warns(RuntimeWarning, match="fifos is written without generics: "):
        converted_fifos(tmp_path)


@pytest.mark.ghdl
@pytest.mark.parametrize("phase", ["fp", *in_full("ku")])
def test_every_configuration_of_an_engine_elaborates_and_no_other(
    phase: str, tmp_path: Path
) -> None:
    network = open_network("tiny3")
    top = axi_top(bitstream_of(network, network.layer("conv2"), phase).phase.top())
    export = convert(top.function, top.args, "vhdl", tmp_path)
    folder = analysed(export)
    seen = 0
    for file in export.files[1:]:
        text = file.read_text()
        admitted = legal(text)
        assert admitted or "    generic (" not in text
        for row in admitted.rows if admitted else ():
            seen += 1
            assert not elaborated(folder, file.stem, given(text, admitted.names, row))
            for place, name in enumerate(admitted.names):
                if f" {name} : boolean" in re.sub(" +", " ", text):
                    continue
                other = (*row[:place], row[place] + 1, *row[place + 1 :])
                if other not in admitted.rows:
                    said = elaborated(folder, file.stem, given(text, admitted.names, other))
                    assert "convert the block again" in said.splitlines()[0]
    assert seen > 20


def test_a_logarithm_has_its_forms() -> None:
    def form(row: Sequence[int], known: dict[str, tuple[int, ...]], *own: str) -> str:
        return str(logarithm(row, known, range(len(row)), own))

    assert form((3, 2), {"words": (6, 4)}, "words") == "ceil_log2(words)"
    assert form((3, 3, 2), {"words": (6, 4, 3)}, "words") == "ceil_log2(words + 1)"
    assert form((1, 1, 2), {"most": (0, 1, 2)}, "most") == "maximum(ceil_log2(most + 1), 1)"
    # Two widths may agree by chance, unless what they follow from is a parameter.
    assert form((3, 2), {"data_width": (6, 4)}) == "None"
    assert form((3, 2, 4), {"data_width": (6, 4, 9)}) == "ceil_log2(data_width)"
    # Nothing has less than no numbers.
    assert form((3, 2), {"words": (8, 4)}, "words") == "ceil_log2(words)"


def test_a_form_sees_the_generics_of_all_configurations() -> None:
    known = {"words": (6, 4, 0)}
    generics = Generics(known, set(), 3, parameters=frozenset(known))
    assert generics.derive((3, 2), (0, 1), "address_width") is None
