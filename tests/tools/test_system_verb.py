"""``merp system``: the accelerator of a training step as a package, with lists for a driver."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from system_files import read, words_of
from unconverted import unconverted

import merp
from merp.cosim.board.driver import Board
from merp.cosim.board.system import System
from merp.models.golden.training import RATE
from merp.models.memory.params.commands import ENGINE, Operation
from merp.tools.fpga.system import system_package
from small_memory import BOARD
from terminal import Terminal

PORTS = {
    "s_axis_map": "map_in", "s_axis_delta": "delta_in",
    "m_axis_map": "map_out", "m_axis_delta": "delta_out",
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hardware is converted."""
    unconverted(monkeypatch)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.usefixtures("quick")
def test_the_table_has_engines_movers_memory_lists_and_files(
    tmp_path: Path, terminal: Terminal
) -> None:
    out = terminal.output("system", "tiny3", "-o", tmp_path / "made")
    lines = out.splitlines()
    assert lines[0] == "System of tiny3, 1 image"
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert rows[0] == ["fp0", "fp", "conv1, conv2", "2", "3", "2"]
    assert [row[0] for row in rows] == ["fp0", "fp1", "dp0", "dp1", "ku0", "ku1"]
    assert "movers: 5 read, 3 write, on a port of 128 bits" in lines
    assert "memory: 3,904 bytes of arrays, 5,440 of lists and records" in lines
    assert "list forward: 3 passes, 399 words at 0x20c0" in lines
    assert lines[-1] == f"16 files in {tmp_path / 'made'}"
    assert len(lines) <= 25


@pytest.mark.usefixtures("quick")
def test_the_manifest_names_every_file_by_its_hash(tmp_path: Path, terminal: Terminal) -> None:
    made = tmp_path / "made"
    found = terminal.answer("system", "tiny3", "-o", made)
    manifest = read(made, "manifest")
    files = contents(made)
    assert set(files) == {
        "README.md", "driver/merp.c", "driver/merp.h", "driver/system.h",
        "hdl/memory_system.vhd", "layout.json", "lists.json", "lists/backward.bin",
        "lists/forward.bin", "manifest.json", "registers.json", "verilog/memory_system.v",
        *(f"vivado/{name}" for name in ("build.tcl", "constraints.xdc", "host.tcl", "ip.tcl")),
    }  # fmt: skip
    assert found["files"] == [str(made / name) for name in (*manifest["files"], "manifest.json")]
    del files["manifest.json"]
    assert manifest["files"] == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items()
    }
    assert (manifest["name"], manifest["top"]) == ("made", "memory_system")
    assert manifest["compile_order"] == {
        "vhdl": ["hdl/memory_system.vhd"], "verilog": ["verilog/memory_system.v"],
    }  # fmt: skip


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "words", ["tiny3 --images 2 --momentum", "digits-fixed --board nexys-video"]
)
def test_the_layout_is_that_of_its_verb_and_the_lists_are_behind(
    words: str, tmp_path: Path, terminal: Terminal
) -> None:
    made = tmp_path / "made"
    answer = terminal.answer("system", *words.split(), "-o", made)
    layout, lists = read(made, "layout"), read(made, "lists")["lists"]
    board = () if "--board" in words else ("--board", "kc705")
    assert layout == terminal.answer("layout", *words.split(), *board)
    places = [(each["address"], each["bytes"]) for each in layout["arrays"]]
    for each in lists:
        records = each["records"]
        places += [(records["address"], 4 * records["words"]), (each["address"], 4 * each["words"])]
        assert words_of(made, each).size == each["words"]
    for (one, size), (other, _) in pairwise(places):
        assert one + size <= other < one + size + 64
        assert other % 64 == 0
    assert answer["memory"]["end"] - sum(places[-1]) in range(64)
    total = answer["memory"]["arrays"] + answer["memory"]["lists"]
    assert answer["memory"]["first"] + total == answer["memory"]["end"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("network", ["tiny3", "digits-fixed"])
def test_settings_are_words_of_the_list(network: str, tmp_path: Path, terminal: Terminal) -> None:
    """The command in front of them names the first register, and their number."""
    made = tmp_path / "made"
    terminal.answer("system", network, "--momentum", "-o", made)
    engines = {each["engine"]: each for each in read(made, "registers")["engines"]}
    rated = 0
    for each in read(made, "lists")["lists"]:
        words = words_of(made, each)
        for one in each["passes"]:
            engine = engines[one["engine"]]
            offsets = {row["name"]: row["offset"] for row in engine["registers"]}
            names, word = one["settings"]["names"], one["settings"]["word"]
            place = engine["first_register"] + offsets[names[0]] // 4
            head = Operation.WRITE << 24 | len(names) << 16 | place
            assert words[word - 1] == head
            assert engine["first_register"] == ENGINE * engine["number"]
            legal = {row["name"]: (row["least"], row["most"]) for row in engine["registers"]}
            for name, value in zip(names, words[word:], strict=False):
                assert legal[name][0] <= value <= legal[name][1]
            if one["phase"] == "ku" and network == "tiny3":
                rate = int(words[word + names.index("update_config_rate")])
                assert np.uint32(rate).view(np.float32) == np.float32(RATE)
                rated += 1
    assert rated == (3 if network == "tiny3" else 0)


@pytest.mark.usefixtures("quick")
def test_walks_and_records_are_those_of_the_passes(tmp_path: Path, terminal: Terminal) -> None:
    made = tmp_path / "made"
    answer = terminal.answer("system", "tiny3", "-o", made)
    layout, lists = read(made, "layout"), read(made, "lists")["lists"]
    addresses = {each["name"]: each["address"] for each in layout["arrays"]}
    engines = {each["engine"]: each for each in answer["engines"]}
    passes = iter(layout["passes"])
    for each in lists:
        recorded = 0
        for one in each["passes"]:
            known = next(passes)
            assert [one[key] for key in ("layer", "phase", "number")] == [
                known[key] for key in ("layer", "phase", "group")
            ]
            assert one["record"] == recorded
            (registers,) = (
                found for found in read(made, "registers")["engines"]
                if found["engine"] == one["engine"]
            )  # fmt: skip
            assert registers["recorded"][0] == "status"
            recorded += len(registers["recorded"])
            for stream, walk in one["walks"].items():
                assert walk["stream"] == engines[one["engine"]]["streams"][stream]
                if stream in PORTS:
                    of = known["ports"][PORTS[stream]]
                    assert of["array"] == walk["array"]
                    first = walk["base"] * walk["word_bytes"] - addresses[walk["array"]]
                    assert first == of["base"] * walk["word_bytes"]
        assert recorded == each["records"]["words"]


@pytest.mark.usefixtures("quick")
def test_the_page_tells_a_driver_what_to_write(tmp_path: Path, terminal: Terminal) -> None:
    made = tmp_path / "made"
    terminal.answer("system", "tiny3", "-o", made)
    page, found = (made / "README.md").read_text(), read(made, "lists")
    host = {each["name"]: each for each in read(made, "registers")["host"]}
    for each in found["lists"]:
        assert [row["offset"] for row in each["ring"]] == [
            host[row["register"]]["offset"] for row in each["ring"]
        ]
    for rows in zip(*(each["ring"] for each in found["lists"]), strict=True):
        values = " | ".join(f"{row['value']:#x}" for row in rows)
        assert f"| `{rows[0]['register']}` | 0x{rows[0]['offset']:03x} | {values} |\n" in page
    assert "1. Write `images`. Ring list `forward`, and wait for the interrupt.\n" in page
    assert "2. Compute the loss from `fc3.maps`.\n" in page
    assert "3. Write `fc3.deltas`. Ring list `backward`, and wait for the interrupt.\n" in page
    assert "| `update_config_rate` | word of the learning rate |\n" in page
    assert "| `moves` | `moves` out 8 | for a monitor" in page
    assert found["kept"][:2] == ["conv1.kernels", "conv1.biases"]
    assert "\n\n\n" not in page


class Opened(Exception):
    """A device was opened for an accelerator."""


class Catching:
    """A device that tells for which accelerator it was opened."""

    def open(self, system: System) -> Board:
        """Raise the registers of the accelerator."""
        raise Opened([system.host, *(each.registers for each in system.engines)])


def images(net: merp.Network) -> tuple[Any, Any]:
    """Images of three classes."""
    random = np.random.default_rng(0)
    return random.random((20, *net.description.input)), random.integers(0, 3, 20)


def test_steps_that_a_board_cannot_run_are_refused_before_it_is_opened() -> None:
    """Without a board, the host would ring once per pass."""
    net = merp.load("digits-fixed")
    with pytest.raises(merp.BadInput, match=r"^loss cross-entropy: a host computes its deltas: "):
        net.train(images(net), batch=2, on=Catching())


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("network", "loss", "momentum"),
    [("tiny3", "squared", 0.9), ("digits-fixed", "hinge", 0.0), ("digits-fixed", "squared", 0.9)],
)
def test_training_on_a_board_wants_the_hardware_of_the_package(
    network: str, loss: str, momentum: float, tmp_path: Path
) -> None:
    """Also with another loss of the array, another rate and another seed."""
    net = merp.load(network)
    with pytest.raises(Opened) as opened:
        net.train(
            images(net),
            batch=2,
            loss=loss,
            momentum=momentum,
            learning_rate=0.1,
            seed=5,
            on=Catching(),
        )
    made = tmp_path / "made"
    net.system(2, output=made, momentum=momentum > 0)
    found = read(made, "registers")
    wanted = [found["host"], *(each["registers"] for each in found["engines"])]
    (registers,) = opened.value.args
    assert wanted == [[asdict(row) for row in each.registers] for each in registers]


@pytest.mark.usefixtures("quick")
def test_the_mac_array_has_one_list_and_computes_the_loss(
    tmp_path: Path, terminal: Terminal
) -> None:
    made = tmp_path / "made"
    terminal.answer("system", "digits-fixed", "--momentum", "-o", made)
    found, page = read(made, "lists"), (made / "README.md").read_text()
    (only,) = found["lists"]
    assert (only["name"], only["host"]) == ("step", {"writes": ["images", "targets"], "reads": []})
    assert sorted(found["kept"]) == sorted(
        f"{layer}.{kind}"
        for layer in ("conv1", "conv2", "fc3")
        for kind in ("parameters", "velocities")
    )
    assert "One list is a whole step." in page
    assert "| `update_config_update_shift` |" in page
    assert "\n\n\n" not in page


@pytest.mark.usefixtures("quick")
def test_the_same_command_writes_the_same_bytes_and_keeps_files_of_others(
    tmp_path: Path, terminal: Terminal
) -> None:
    made = tmp_path / "made"
    terminal.answer("system", "tiny3", "-o", made)
    before = contents(made)
    (made / "build.log").write_text("mine")
    terminal.answer("system", "tiny3", "-o", made)
    assert contents(made) == before | {"build.log": b"mine"}
    terminal.answer("system", "tiny3", "--images", "2", "-o", made)
    assert contents(made)["build.log"] == b"mine"
    assert read(made, "lists")["images"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]


@pytest.mark.usefixtures("quick")
def test_a_package_that_fails_leaves_the_old_one(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "new" / "made"

    def refuse(*_: object) -> None:
        raise RuntimeError("ghdl refuses the export")

    with monkeypatch.context() as patch:
        patch.setattr(system_package, "analyse", refuse)
        assert terminal.run("system", "tiny3", "-o", made).status == 3
        assert list(tmp_path.iterdir()) == []
        terminal.run("system", "tiny3", "-o", made)
    terminal.answer("system", "tiny3", "-o", made)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(system_package, "analyse", refuse)
        assert terminal.run("system", "tiny3", "--images", "2", "-o", made).status == 3
    assert contents(tmp_path) == before


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that gets as far as a conversion fails."""

    def convert(*_: object) -> None:
        raise AssertionError("nothing must be converted")

    monkeypatch.setattr(system_package, "convert", convert)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("alexnet", "alexnet: layer fc8 has no design (traffic only)"),
        ("tiny3 --images 0", "must be a whole number from 1 to 65536, not '0'"),
        ("tiny3 --images 257", "tiny3: layer conv1: needs max_images = 257"),
        ("tiny3 --board kc75", "no board 'kc75': allowed are arty-a7-100, "),
        ("tiny3 --board paper", "--board 'paper': the size of its memory is not known: allowed"),
        ("nothing", "no network 'nothing'"),
    ],
)
def test_what_has_no_accelerator_is_one_line(
    words: str, said: str, tmp_path: Path, terminal: Terminal
) -> None:
    assert said in terminal.refusal("system", *words.split(), "-o", tmp_path / "new" / "made")
    assert list(tmp_path.iterdir()) == []


def test_an_output_is_required(terminal: Terminal) -> None:
    assert "-o/--output" in terminal.refusal("system", "tiny3")


@pytest.mark.usefixtures("no_work")
def test_lists_that_do_not_fit_the_memory_are_refused(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(BOARD)
    words = ("digits-fixed", "--images", "40", "--board", path)
    assert terminal.answer("layout", *words)["total"]["bytes"] < 1 << 20
    said = terminal.refusal("system", *words, "-o", tmp_path / "made")
    assert said.startswith(f"merp: digits-fixed: --images 40, --board {path}: ")
    assert said.endswith(f" bytes of arrays and lists: allowed are the memory's {(1 << 20) - 4096}")


def a_file(place: Path) -> None:
    place.touch()


def a_thesis(place: Path) -> None:
    place.mkdir()
    (place / "thesis.txt").write_text("years of work")


def below_a_file(place: Path) -> None:
    place.parent.rmdir()
    place.parent.touch()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("there", "said"),
    [
        (a_file, "is no folder: allowed is a folder, or a new name"),
        (a_thesis, "made exists and is no export: give another folder"),
        (below_a_file, "in is no folder"),
    ],
)
def test_places_of_others_are_not_touched(
    there: Callable[[Path], None], said: str, tmp_path: Path, terminal: Terminal
) -> None:
    place = tmp_path / "in" / "made"
    place.parent.mkdir()
    there(place)
    before = contents(tmp_path)
    assert said in terminal.refusal("system", "tiny3", "-o", place)
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("place", [".", "..", "/"])
def test_the_working_directory_is_not_replaced(
    place: str, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = terminal.refusal("system", "tiny3", "-o", place)
    assert said == (f"merp: -o {place}: has the working directory: allowed is another folder")


def test_a_machine_without_the_part_names_those_that_have_it(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "merp.tools.common.machine_parts"
    monkeypatch.setattr(f"{module}.optional_part", lambda *_: None)
    monkeypatch.setattr(f"{module}.having", lambda part: {f"one with {part}": None})
    said = terminal.refusal("system", "tiny3", "-o", tmp_path / "made")
    assert said == ("merp: tiny3: it runs on cnn-merp: allowed are networks on one with system")


@pytest.mark.usefixtures("quick")
def test_python_writes_the_package_of_the_command_line(tmp_path: Path, terminal: Terminal) -> None:
    mine, other = tmp_path / "mine" / "made", tmp_path / "other" / "made"
    said: list[str] = []
    found = merp.load("tiny3").system(2, output=mine, momentum=True, progress=said.append)
    answer = terminal.answer("system", "tiny3", "--images", "2", "--momentum", "-o", other)
    assert contents(mine) == contents(other)
    assert said == ["converting to vhdl", "converting to verilog"]
    assert {path.relative_to(mine).as_posix() for path in found.paths} == set(contents(mine))
    assert found.json()["engines"] == answer["engines"] == [dict(row) for row in found]
    assert repr(found) == "<System of tiny3, 2 images: 6 rows>"
    with pytest.raises(merp.BadInput, match=r"^output .*mine: mine exists and is no export: "):
        merp.load("tiny3").system(output=mine.parent)
