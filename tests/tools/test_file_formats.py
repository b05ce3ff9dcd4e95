"""Files that merp writes and reads back: with no number, with a newer one, and with a damaged one.

Each kind of file is written by its verb, and read by the verb that takes it.
"""

import json
import re
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checkout import ROOT
from marks import in_full
from merp.cocotb import Package
from merp.cosim.synthesis.resources import Block
from merp.models.base import file_format
from merp.models.base.errors import BadInput
from merp.models.base.file_format import KEY, NewerFormat, check_format
from merp.models.base.renamed import RenamedWarning
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import DEFAULT
from merp.models.fpga.resources import Resources
from merp.tools.cli import main
from merp.tools.common.seal import SEAL, sealed
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.engines import engine_of
from merp.tools.fpga.bitstream.resources import resources_verb
from network_text import layer, network_text
from small_training import SHORT, laid
from terminal import Terminal

TINY = network_text(
    "tiny",
    (5, 5, 2),
    layer("conv1", 3, kernel=2, design="k2"),
    layer("fc2", 3, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1}},
)
VERSION_0_1 = ROOT / "tests" / "data" / "version_0_1"
TRAIN = f"train small.toml --data data.npz {' '.join(SHORT)}"
EXPLORE = "explore tiny.toml --board kc705 --scope conv1 -o found"
EXPORT = "export tiny.toml --layer conv1 --phase fp -o exported"
SWEEP = "sweep tiny.toml --over n_cu=1,2 --jobs 1 -o swept"
COMPARE = "compare small.toml --architecture cnn-merp --scope conv1 --measured"
DAMAGED = ("1", -1)
HUGE = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class Read:
    """A file and a command that reads it.

    Attributes:
        file: its path, a pattern. command: after ``merp``. newest: its format.
        again: whether a damaged file is made again, with one line.
    """

    file: str
    command: str
    newest: int = 1
    again: bool = False


READ = {
    "a network": Read(file="found/knee.toml", command="networks found/knee.toml"),
    "a network of one's own": Read(file="tiny.toml", command="networks tiny.toml"),
    "a base": Read(file="over.toml", command="networks over.toml"),
    "a checkpoint": Read(
        file="saved.npz", command=f"{TRAIN} --steps 3 --resume saved.npz --save saved.npz"
    ),
    "parameters": Read(file="saved.npz", command=f"{TRAIN} --steps 1 --weights saved.npz"),
    "a finished part": Read(
        file="run/finished/conv1-fp.npz", command="simulate tiny.toml --layer all -o run --resume",
        again=True,
    ),
    "a finished point": Read(file="swept/finished/*.json", command=SWEEP, again=True),
    "runs": Read(
        file="run/simulate.json", command="report tiny.toml --measured run -o page.html"
    ),
    "runs compared": Read(
        file="run/simulate.json", command="compare tiny.toml --architecture cnn-merp --scope conv1 "
        "--measured run",
    ),
    "passes": Read(
        file="boarded/board.json", command="report tiny.toml --measured boarded -o page.html"
    ),
    "a training": Read(file="trained/train.json", command="losses trained -o losses.svg"),
    "a training compared": Read(file="trained/train.json", command=f"{COMPARE} trained/train.json"),
    "a synthesis": Read(file="synthesis.json", command=f"{COMPARE} synthesis.json"),
    "a front": Read(file="found/front.json", command=EXPLORE),
    "a package": Read(file="exported/tiny-k2-fp/manifest.json", command=EXPORT),
}  # fmt: skip

REFUSED_ANYWAY = {"runs compared", "a synthesis"}
"""Commands that need more records, or other hardware, than the folder has."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of file, each as its verb writes it."""
    folder = laid(tmp_path_factory.mktemp("made"))
    (folder / "tiny.toml").write_text(f"{KEY} = 1\n{TINY}")
    (folder / "over.toml").write_text(f'{KEY} = 1\nbase = "digits"\n[network]\nname = "over"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in (
            f"{TRAIN} --steps 2 --save saved.npz -o trained",
            "simulate tiny.toml --layer all -o run",
            "simulate tiny.toml --board kc705 --layer conv1 --images 2 -o boarded",
            SWEEP, EXPLORE, EXPORT,
        ):  # fmt: skip
            assert main(command.split()) == 0, command
    synthesis = {"network": "small", "yosys": "0.70", "layer": "conv1", "phase": "fp"}
    (folder / "synthesis.json").write_text(json.dumps({KEY: 1, **synthesis}))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the working directory."""
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    return copy


ABSENT = object()


def set_number(path: Path, number: object) -> None:
    """Write a file again with another number, or with none; a seal is made anew."""
    if path.suffix == ".npz":
        with np.load(path) as data:
            arrays: dict[str, Any] = {key: data[key] for key in data.files if key != SEAL}
        del arrays[KEY]
        if number is not ABSENT:
            arrays[KEY] = np.array("None" if number is None else number)
        path.write_bytes(sealed(arrays))
    elif path.suffix == ".json":
        content = json.loads(path.read_text())
        del content[KEY]
        path.write_text(json.dumps(content if number is ABSENT else {KEY: number, **content}))
    else:
        line = "" if number is ABSENT else f"{KEY} = {json.dumps(number).replace('null', '{}')}\n"
        text, count = re.subn(rf"^{KEY} = 1\n", line, path.read_text(), flags=re.MULTILINE)
        assert count == 1
        path.write_text(text)


def found(folder: Path, read: Read) -> Path:
    return sorted(folder.glob(read.file))[0]


def number_of(path: Path) -> object:
    if path.suffix == ".npz":
        with np.load(path) as data:
            return data[KEY].item()
    if path.suffix == ".json":
        assert next(iter(json.loads(path.read_text()))) == KEY
        return json.loads(path.read_text())[KEY]
    return int(re.findall(rf"^{KEY} = (\d+)$", path.read_text(), re.MULTILINE)[0])


def files(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", READ)
def test_a_file_carries_its_number(kind: str, made: Path) -> None:
    assert number_of(found(made, READ[kind])) == READ[kind].newest


REPORTED = ("runs", "passes")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "kind",
    [
        *(kind for kind in READ if kind not in (*REFUSED_ANYWAY, *REPORTED)),
        *in_full(*REPORTED),
    ],
)
def test_an_old_file_without_a_number_still_works(
    kind: str, folder: Path, terminal: Terminal
) -> None:
    """It gives the same answer and the same files, and no notice, as nothing else differs."""
    read = READ[kind]
    before = files(folder)
    numbered = terminal.output(*read.command.split()), files(folder)
    for path in set(numbered[1]) - set(before):
        Path(path).unlink()
    for path, content in before.items():
        Path(path).write_bytes(content)
    set_number(found(folder, read), ABSENT)
    old = terminal.output(*read.command.split()), files(folder)
    assert _without_seconds(old[0]) == _without_seconds(numbered[0])
    assert old[1].keys() == numbered[1].keys()


def _without_seconds(text: str) -> str:
    return re.sub(r"[\d.,]+ s\b.*", "", text)


@pytest.mark.parametrize("kind", READ)
def test_a_newer_file_is_refused_by_name_and_nothing_is_written(
    kind: str, folder: Path, terminal: Terminal
) -> None:
    read = READ[kind]
    path = found(folder, read)
    set_number(path, 2)
    before = files(folder)
    line = terminal.refusal(*read.command.split())
    version = metadata.version("merp")
    assert path.name in line
    assert line.endswith(
        f"{path.name}: format 2 is newer than format {read.newest}, which merp {version} "
        "reads: update merp"
    )
    assert files(folder) == before


@pytest.mark.sample(13)
@pytest.mark.parametrize("kind", [kind for kind in READ if not READ[kind].again])
@pytest.mark.parametrize("number", [*DAMAGED, HUGE], ids=lambda value: repr(value)[:12])
def test_a_damaged_number_is_refused_in_one_line(
    kind: str, number: object, folder: Path, terminal: Terminal
) -> None:
    path = found(folder, READ[kind])
    set_number(path, number)
    before = files(folder)
    line = terminal.refusal(*READ[kind].command.split())
    assert path.name in line
    assert len(line) < 400
    if number == HUGE:
        assert f"{path.name}: format {HUGE} is newer than" in line
    else:
        assert f"{path.name}: {KEY} = " in line
        assert line.endswith(": allowed is a whole number from 1 to 1")
    assert files(folder) == before


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", [kind for kind in READ if READ[kind].again])
@pytest.mark.parametrize("number", DAMAGED, ids=lambda value: repr(value)[:12])
def test_kept_work_with_a_damaged_number_is_done_again(
    kind: str, number: object, folder: Path, terminal: Terminal
) -> None:
    path = found(folder, READ[kind])
    set_number(path, number)
    ended = terminal.run(*READ[kind].command.split())
    assert (ended.status, ended.err.count("\n")) == (0, 1)
    assert path.name in ended.err
    assert number_of(path) == 1


def test_the_answers_that_others_read_carry_the_number(folder: Path, terminal: Terminal) -> None:
    for command in (f"{TRAIN} --steps 1", "simulate tiny.toml", f"{EXPLORE[:-9]}"):
        assert next(iter(terminal.answer(*command.split()))) == KEY, command


@pytest.mark.usefixtures("folder")
def test_a_synthesis_carries_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merp.cosim.synthesis.synthesis.yosys_version", lambda: "0.70")
    network = open_network("tiny.toml")
    block = Block(name="top", count=1, each=Resources(), delay_ns=1.0)
    answer = resources_verb.answer(
        network, engine_of(network, "conv1", "fp"), part_named(DEFAULT), [block], False
    )
    assert answer[KEY] == file_format.SYNTHESIS


@pytest.mark.parametrize("number", [2, "1"])
def test_a_package_of_a_newer_merp_is_refused_by_the_bench(number: object, folder: Path) -> None:
    package = folder / "exported" / "tiny-k2-fp"
    assert Package(package).top
    set_number(package / "manifest.json", number)
    with pytest.raises(BadInput, match=r"^package .*tiny-k2-fp: manifest\.json: "):
        Package(package)


def test_every_damaged_number_is_refused() -> None:
    assert check_format("f", {KEY: np.array(1)}, 1) == 1
    assert check_format("f", {KEY: np.array(1, np.uint8)}, 2) == 1
    assert check_format("f", {}, 2) == check_format("f", None, 2) == 1
    arrays = np.array([1]), np.array(1.0), np.array("1"), np.array(True), np.zeros(10**6)
    for damaged in (*arrays, "1", None, True, 0, -1, 1.0, [1], {}, "x" * 10_000, -(10**4000)):
        with pytest.raises(BadInput, match="allowed is a whole number from 1 to 2") as refused:
            check_format("f", {KEY: damaged}, 2)
        assert len(str(refused.value)) < 200
    with pytest.raises(NewerFormat, match="format 3 is newer than format 2, which merp"):
        check_format("f", {KEY: 3}, 2)
    with pytest.raises(NewerFormat) as newer:
        check_format("f", {KEY: 10**4000}, 2)
    assert len(str(newer.value)) < 200


@pytest.mark.usefixtures("folder")
def test_files_of_version_0_1_still_work(terminal: Terminal) -> None:
    """``merp train`` of version 0.1 saved three steps of the small network."""
    more = f"{TRAIN} --steps 5".split()
    assert terminal.answer(*more, "--resume", VERSION_0_1 / "trained.npz") == terminal.answer(*more)
    drawn = terminal.answer("losses", VERSION_0_1, "-o", "losses.svg")
    assert drawn["runs"][0]["steps"] == 3


def test_an_old_network_file_gives_one_line_for_each_former_name(
    tmp_path: Path, terminal: Terminal
) -> None:
    """A file of the first version: no number, and every former key and word of a network file."""
    path = tmp_path / "old.toml"
    old = (
        'base = "digits"\n[network]\nname = "old"\nbackward = "fused"\nfuse = ["conv1", "conv2"]\n'
    )
    path.write_text(f'{old}[design.k3]\narchitecture = "cnn_merp"\n')
    ended = terminal.run("networks", path, "--json")
    until = "now; the former name works until version 1.0"
    assert ended.status == 0
    assert sorted(ended.err.splitlines()) == [
        f"merp: {former} is called {now} {until}"
        for former, now in (("cnn_merp", "cnn-merp"), ("fuse", "layer_fusion"),
                            ("fused", "combined"))
    ]  # fmt: skip
    new = old.replace('"fused"', '"combined"').replace("fuse =", "layer_fusion =")
    path.write_text(f"{KEY} = 1\n{new}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RenamedWarning)
        assert terminal.output("networks", path, "--json") == ended.out
