"""``merp layout``: arrays of a training step in memory, on the command line and from Python."""

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest

import merp
from checkout import ROOT
from merp.models.memory.layout import ALIGN, Array, Layout, Part
from merp.models.memory.step_arrays import StepArrays, StepPass
from merp.models.memory.walk import Dimension, Walk
from merp.models.network.network import Network
from merp.models.network.phases import COUNTED
from merp.tools.common.boards import sized_names
from merp.tools.common.command_line.parser import page_of
from pseudo_terminal import in_terminal
from small_memory import BOARD
from terminal import Terminal


def rows_of(out: str) -> dict[str, list[str]]:
    """The other cells of each row of a table, by its first cell."""
    lines = [line for line in out.splitlines() if line.startswith("│")]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    return {name: cells for name, *cells in rows}


def addresses(array: Mapping[str, Any], port: Mapping[str, Any]) -> Iterator[int]:
    """The function that the page gives to drivers."""
    page = (ROOT / "docs" / "layout.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["addresses"](array, port)


def test_the_table_has_size_bits_address_bytes_and_padding_of_each_array(
    terminal: Terminal,
) -> None:
    out = terminal.output("layout", "tiny3")
    assert out.startswith("Memory of tiny3, 1 image\n")
    assert rows_of(out)["images"] == ["1 x 8 x 8 x 1", "32", "0x1040", "256", "0"]
    assert rows_of(out)["conv2.state"] == ["1 x 9", "8", "0x17c0", "9", "55"]
    assert out.endswith("15 arrays: 3,904 bytes used, 483 of them padding (12.4 %)\n")
    assert len(out.splitlines()) <= 25


def test_the_table_is_that_of_the_answer(terminal: Terminal) -> None:
    words = ("layout", "digits", "--images", "4")
    out, found = terminal.output(*words), terminal.answer(*words)
    assert rows_of(out)["images"][0] == "4 x 8 x 8 x 1"
    assert rows_of(out) == {
        each["name"]: [
            " x ".join(map(str, each["shape"])), str(each["element_bits"]), hex(each["address"]),
            f"{each['bytes']:,}", f"{each['padding']:,}",
        ]
        for each in found["arrays"]
    }  # fmt: skip
    total = found["total"]
    said = f"{total['arrays']} arrays: {total['bytes']:,} bytes used, {total['padding']} of them"
    assert said in out


@pytest.mark.parametrize("words", ["tiny3", "digits --images 3 --momentum", "digits-bf16"])
def test_arrays_do_not_overlap_and_begin_at_multiples_of_64(words: str, terminal: Terminal) -> None:
    found = terminal.answer("layout", *words.split())
    assert (found["machine"], found["first"], found["end"]) == ("cnn-merp", 4096, 1 << 32)
    arrays = found["arrays"]
    assert arrays[0]["address"] == found["first"]
    for one, other in pairwise(arrays):
        end = one["address"] + one["bytes"]
        assert end <= other["address"] < end + ALIGN
    for each in arrays:
        assert each["address"] % ALIGN == 0
        assert each["bytes"] == prod(each["shape"]) * each["element_bytes"]
        unused = prod(each["shape"]) * (8 * each["element_bytes"] - each["element_bits"]) // 8
        assert each["padding"] == unused + -each["bytes"] % ALIGN
    end = arrays[-1]["address"] + arrays[-1]["bytes"]
    assert found["total"] == {
        "arrays": len(arrays),
        "bytes": -(-end // ALIGN) * ALIGN - found["first"],
        "padding": sum(each["padding"] for each in arrays),
    }


def test_a_machine_gives_arrays_and_passes(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arrays(network: Network, images: int, *, momentum: bool) -> StepArrays:
        assert (network.name, images, momentum) == ("tiny3", 5, True)
        walk = Walk(3, 2, (Dimension(4, 8), Dimension(5, -1)))
        here = {"map_in": Part("odd", walk)}
        return StepArrays({"odd": Array.of("odd", (5, 10), 20)}, [StepPass("conv1", "fp", 4, here)])

    monkeypatch.setattr("merp.tools.common.machine_parts.optional_part", lambda *_: arrays)
    words = ("layout", "tiny3", "--images", "5", "--momentum")
    found = terminal.answer(*words)
    assert found["arrays"] == [
        {
            "name": "odd", "shape": [5, 10], "element_bits": 20, "element_bytes": 4,
            "address": 4096, "bytes": 200, "padding": 50 * 12 // 8 + 56,
        }
    ]  # fmt: skip
    port = {"array": "odd", "base": 3, "words": 2, "dimensions": [[4, 8], [5, -1]]}
    assert found["passes"] == [
        {"layer": "conv1", "phase": "fp", "group": 4, "ports": {"map_in": port}}
    ]
    assert "1 array: 256 bytes used, 131 of them padding (51.2 %)" in terminal.output(*words)


@pytest.mark.parametrize("words", ["tiny3 --images 2", "digits --momentum"])
def test_passes_have_the_byte_address_of_each_element(words: str, terminal: Terminal) -> None:
    found = terminal.answer("layout", *words.split())
    arrays = {each["name"]: each for each in found["arrays"]}
    layout = Layout(
        {
            name: Array(name, tuple(each["shape"]), each["element_bits"], each["element_bytes"])
            for name, each in arrays.items()
        },
        {name: each["address"] for name, each in arrays.items()},
        found["first"],
        found["end"],
    )
    network, *options = words.split()
    passes = merp.load(network).layout(2 if "--images" in options else 1, momentum=True).passes
    assert len(passes) == len(found["passes"])
    read = set()
    for shown, each in zip(found["passes"], passes, strict=True):
        assert (shown["layer"], shown["phase"], shown["group"]) == each[:3]
        for port, walk in shown["ports"].items():
            array = arrays[walk["array"]]
            size = array["element_bytes"]
            here = list(addresses(array, walk))
            of = layout.walk(*each.parts[port], size)
            assert here == [size * address for address in of.addresses()]
            assert array["address"] <= min(here) <= max(here) < array["address"] + array["bytes"]
            read.add(walk["array"])
    assert read == arrays.keys()
    phases = [each["phase"] for each in found["passes"]]
    assert list(dict.fromkeys(sorted(phases, key=COUNTED.index))) == ["fp", "dp", "ku"]
    assert phases == sorted(phases, key=lambda phase: phase != "fp")


def test_more_images_make_maps_and_masks_larger_but_not_kernels(terminal: Terminal) -> None:
    one, four = (
        {
            each["name"]: each["shape"]
            for each in terminal.answer("layout", "digits", "--images", images)["arrays"]
        }
        for images in (1, 4)
    )
    assert one.keys() == four.keys()
    for name, shape in one.items():
        if name.endswith((".kernels", ".biases")):
            assert four[name] == shape
        elif name.endswith(".state"):
            assert four[name] == [shape[0], 4 * shape[1]]
        else:
            assert four[name] == [4 * shape[0], *shape[1:]]


def test_momentum_adds_the_velocities_of_each_layer(terminal: Terminal) -> None:
    plain, moving = (
        {each["name"]: each["shape"] for each in found["arrays"]}
        for found in (terminal.answer("layout", "tiny3"),
                      terminal.answer("layout", "tiny3", "--momentum"))
    )  # fmt: skip
    layers = merp.load("tiny3")
    added = {f"{layer}.{kind}_velocities" for layer in layers for kind in ("kernel", "bias")}
    assert moving.keys() - plain.keys() == added
    assert plain.items() <= moving.items()
    for layer in layers:
        assert moving[f"{layer}.kernel_velocities"] == moving[f"{layer}.kernels"]
        assert moving[f"{layer}.bias_velocities"] == moving[f"{layer}.biases"]


def test_the_first_screen_has_the_largest_arrays(terminal: Terminal) -> None:
    words = ("layout", "cifar10-4x", "--images", "2")
    out, whole = terminal.output(*words), terminal.output(*words, "--all")
    found = terminal.answer(*words)
    assert len(out.splitlines()) <= 25
    assert list(rows_of(whole)) == [each["name"] for each in found["arrays"]]
    *shown, others = rows_of(out)
    assert others == f"{len(found['arrays']) - len(shown)} others"
    sizes = {each["name"]: each["bytes"] for each in found["arrays"]}
    hidden = sizes.keys() - set(shown)
    assert min(sizes[name] for name in shown) >= max(sizes[name] for name in hidden)
    assert rows_of(out)[others][3] == f"{sum(sizes[name] for name in hidden):,}"
    assert "--all: every array" in out
    assert "--all" not in whole
    assert "--all: allowed without --json" in terminal.refusal(*words, "--all", "--json")


def test_a_narrow_terminal_has_every_cell(tmp_path: Path, terminal: Terminal) -> None:
    merp = Path(sys.executable).with_name("merp")
    words = ["layout", "digits", "--images", "32"]
    text = in_terminal([merp, *words], tmp_path / "errors", 40)
    assert max(map(len, text.splitlines())) <= 40
    assert "…" not in text
    told = " ".join(re.sub("[│┃]", " ", text).split())
    for name, (_, *cells) in rows_of(terminal.output(*words)).items():
        assert all(cell in told for cell in (name, *cells))


@pytest.mark.parametrize("board", ["kc705", "vc709", "pynq-z2", "zcu102", "ulx3s-85f"])
def test_memory_ends_with_that_of_a_board(board: str, terminal: Terminal) -> None:
    figures = terminal.answer("boards", board)["figures"]["memory: mib"]
    assert (figures["unit"], figures["from"]) == ("MiB", "vendor")
    found = terminal.answer("layout", "tiny3", "--board", board)
    assert (found["board"], found["end"]) == (board, figures["value"] << 20)
    assert terminal.answer("layout", "tiny3")["board"] is None


def test_a_board_of_your_own_limits_the_arrays(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(BOARD)
    found = terminal.answer("layout", "digits", "--board", path)
    assert (found["board"], found["end"]) == ("mine", 1 << 20)
    said = terminal.refusal("layout", "digits", "--images", 128, "--board", path)
    assert re.fullmatch(
        rf"merp: digits: --images 128, --board {path}: \d+ bytes of arrays: allowed are the "
        rf"memory's {(1 << 20) - 4096}", said
    )  # fmt: skip
    path.write_text(BOARD.replace("mib = 1", ""))
    said = terminal.refusal("layout", "digits", "--board", path)
    assert "the size of its memory is not known: allowed are arty-a7-100, " in said
    assert said.endswith("or a .toml file with memory.mib")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("alexnet", "alexnet: layer fc8 has no design (traffic only)"),
        ("tiny3 --images 0", "must be a whole number from 1 to 65536, not '0'"),
        ("cifar10-4x --images 65536", "cifar10-4x: --images 65536: 100"),
        ("tiny3 --board paper", "--board 'paper': the size of its memory is not known: allowed"),
        ("tiny3 --board kc75", "no board 'kc75': allowed are arty-a7-100, "),
        ("nothing", "no network 'nothing'"),
    ],
)
def test_what_cannot_be_placed_is_one_line(words: str, said: str, terminal: Terminal) -> None:
    assert said in terminal.refusal("layout", *words.split())


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('backward = "combined"', "allowed in memory are separate backward passes"),
        ('layer_fusion = ["conv1+conv2"]', "layer_fusion = "),
    ],
)
def test_steps_that_are_not_layer_by_layer_are_refused(
    keys: str, said: str, tmp_path: Path, terminal: Terminal
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "digits"\n[network]\nname = "mine"\n{keys}\n')
    assert said in terminal.refusal("layout", path)


def test_a_machine_without_the_part_names_those_that_have_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "merp.tools.common.machine_parts"
    monkeypatch.setattr(f"{module}.optional_part", lambda *_: None)
    monkeypatch.setattr(f"{module}.having", lambda _: {"one": None, "two": None})
    said = terminal.refusal("layout", "tiny3")
    assert said == "merp: tiny3: it runs on cnn-merp: allowed are networks on one or two"


def test_python_gives_the_answer_of_the_command_line(terminal: Terminal) -> None:
    found = merp.load("digits").layout(4, momentum=True, board="kc705")
    words = ("layout", "digits", "--images", "4", "--momentum", "--board", "kc705")
    assert found.json() == terminal.answer(*words)
    assert [dict(row) for row in found] == found.json()["arrays"]
    assert (found.bytes, found.padding) == tuple(
        found.json()["total"][key] for key in ("bytes", "padding")
    )
    assert repr(found) == f"<Memory of digits, 4 images: {len(found)} rows>"
    for arguments, said in (
        ({"images": 0}, "images = 0: must be a whole number from 1 to 65536"),
        ({"momentum": 1}, "momentum = 1: allowed are True, False"),
        ({"board": "paper"}, "board 'paper': the size of its memory is not known"),
    ):
        with pytest.raises(merp.BadInput) as told:
            merp.load("digits").layout(**arguments)  # type: ignore[arg-type]
        assert str(told.value).startswith(said)


def test_the_help_has_the_boards_and_defaults_of_the_code(terminal: Terminal) -> None:
    page = " ".join(page_of("layout").split())
    assert f"a shipped board ({', '.join(sized_names())})" in page
    for board in sized_names():
        assert terminal.answer("layout", "tiny3", "--board", board)["board"] == board
    assert "images of a step (default 1)" in page
    assert terminal.answer("layout", "tiny3")["images"] == 1
