"""Exports from Python: the files of the command line, byte for byte."""

from pathlib import Path

import pytest

import merp
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "small",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1}},
)


@pytest.fixture(scope="module")
def net(network_file: Path) -> merp.Network:
    return merp.load(network_file)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_package_is_that_of_the_command_line(
    net: merp.Network,
    network_file: Path,
    tmp_path: Path,
    terminal: Terminal,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    said: list[str] = []
    found = net.export(mine, layer="conv1", state=True, clock_mhz=100, progress=said.append)
    assert capsys.readouterr() == ("", "")
    assert said == ["small-k2-fp, 0 of 1 done"]
    words = "--layer", "conv1", "--state", "--clock", "100", "-o", other
    answer = terminal.answer("export", network_file, *words)
    assert contents(mine) == contents(other)
    assert {path.relative_to(mine).as_posix() for path in found.paths} == set(contents(mine))
    assert found.json()["exports"][0] | {"directory": ""} == answer["exports"][0] | {
        "directory": ""
    }
    assert (found[0]["phase"], found[0]["directory"]) == ("fp", str(mine / "small-k2-fp"))
    assert "<td>merp_small_k2_fp</td>" in found._repr_html_()


BAD = {
    "output = 3: allowed is a path": {"output": 3},
    "layer = None: allowed is text": {"layer": None},
    "phase = 'all': allowed are fp, ff, dp, bp, ku, pool, unpool": {"phase": "all"},
    "phase = 'ku': all exports every phase: allowed with layer": {"phase": "ku"},
    "phase dp: conv1 is the first layer, its input has no delta: allowed: fp, ku, or another "
    "layer": {"layer": "conv1", "phase": "dp"},
    "state = 'yes': allowed are True, False": {"state": "yes"},
    "state: phase ku writes none: allowed with fp": {
        "layer": "conv1", "phase": "ku", "state": True,
    },
    "delta_at pooled: phase fp takes no deltas: allowed with dp, bp, ku": {
        "layer": "conv1", "delta_at": "pooled",
    },
    "images = 0: must be a whole number from 1 to 256": {"images": 0},
    "part = 7: allowed is text": {"part": 7},
    "clock_mhz = 1000000.0: must be a number above 0 and below 10^6": {"clock_mhz": 1e6},
    "language = 'chisel': allowed are vhdl, verilog": {"language": "chisel"},
    "progress = 0: allowed is a function of a text": {"progress": 0},
}  # fmt: skip


@pytest.mark.parametrize("complaint", BAD)
def test_a_wrong_argument_is_one_line(net: merp.Network, tmp_path: Path, complaint: str) -> None:
    arguments = {"output": tmp_path / "out"} | BAD[complaint]
    with pytest.raises(merp.BadInput) as told:
        net.export(**arguments)  # type: ignore[arg-type]
    assert str(told.value) == complaint
    assert not (tmp_path / "out").exists()


def test_an_unknown_part_is_told_as_an_argument(net: merp.Network, tmp_path: Path) -> None:
    with pytest.raises(merp.BadInput, match=r"^part = 'xc7k325': allowed are "):
        net.export(tmp_path, part="xc7k325")


def test_a_place_that_is_no_folder_is_told(net: merp.Network, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(merp.BadInput, match=r"^output .*file: is no folder: "):
        net.export(tmp_path / "file", layer="conv1")
