"""Machines of other distributions: found by their entry points, and refused in one line."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest

from checkout import ROOT
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network import registry
from merp.models.network.machine import Machine
from merp.models.network.network_file import read_network
from merp.models.network.phases import has_phase, phases_of_step
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "one",
    (4, 4, 1),
    layer("conv1", 2, kernel=1, design="own"),
    designs={"own": {"architecture": "point"}},
)

MODULE = """
from dataclasses import dataclass
from merp.models.network.machine import Machine
from merp.models.network.phases import FP, KU
from merp.models.base.formats import FloatFormat

@dataclass(frozen=True)
class Design:
    layers: tuple

def read(section, name, users):
    section.finish()
    return Design(users.layers)

MACHINE = Machine(
    name="point", design=Design, numbers=FloatFormat, keys=(), read=read,
    phases=(FP, KU), bytes="no_such_package:BYTES", hardware="no_such_package:HARDWARE",
)
OTHER = "no machine"
"""

RUNNER = """
from dataclasses import replace
from merp.models.machines.cnn_merp.machine import MACHINE as OF
from merp.models.network.machine import Option

MACHINE = replace(
    OF, name="loop", aliases=("ring",), says="in a loop", runs="cnn-merp", hardware="math:pi",
    options={"depth": Option(1, 3, 2)},
)
"""

Bring = Callable[..., None]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bring]:
    """Install a distribution that brings a machine by an entry point."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "point_machine.py").write_text(MODULE)

    def forget() -> None:
        registry._brought.cache_clear()
        registry.machine_named.cache_clear()

    def install(distribution: str, name: str, value: str) -> None:
        folder = tmp_path / f"{distribution}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\n")
        (folder / "entry_points.txt").write_text(f"[merp.machines]\n{name} = {value}\n")
        forget()

    yield install
    sys.modules.pop("point_machine", None)
    forget()


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "one.toml"
    path.write_text(NETWORK)
    return path


def test_ours_come_first_and_the_first_is_meant_without_a_name() -> None:
    ours = ("cnn-merp", "mac-array", "fcnn", "pipeline", "chain")
    assert registry.names()[:5] == ours
    assert registry.architecture_key().default == "cnn-merp"
    assert registry.machine_for(BINARY32).name == "cnn-merp"


def test_an_underscore_in_a_file_is_taken_for_a_hyphen(tmp_path: Path) -> None:
    shipped = (ROOT / "tools" / "data" / "digits-fixed.toml").read_text()
    spelled = tmp_path / "digits-fixed.toml"
    spelled.write_text(shipped.replace('"mac-array"', '"mac_array"'))
    assert spelled.read_text() != shipped
    assert open_network(str(spelled)).designs == open_network("digits-fixed").designs


def test_a_machine_from_outside_reads_its_designs(bring: Bring, network: Path) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    read = read_network(network)
    design = read.designs["own"]
    assert registry.machine_of(design).name == "point"
    with pytest.raises(BadInput, match="architecture = 'point': allowed here is 'cnn-merp'"):
        design_of(read, read.layers[0])


@pytest.mark.parametrize("name", ["cnn-merp", "mac-array"])
def test_ours_have_every_part(name: str) -> None:
    half = resolve_name(registry.machine_named(name).hardware)
    parts = (
        "phases simulated choose resized ways arithmetic engine settings plan report export"
    ).split()
    for part in parts:
        assert getattr(half, part)
    with pytest.raises(AttributeError, match="nothing"):
        _ = half.nothing


@pytest.mark.parametrize("machine", [*registry.runners()], ids=lambda each: each.name)
def test_a_machine_that_runs_the_designs_of_another_is_chosen_by_an_option(
    machine: Machine, tmp_path: Path, terminal: Terminal
) -> None:
    network = open_network("digits")
    half = resolve_name(machine.hardware)
    assert all(getattr(half, part) for part in ("course", "arithmetic", "trained", "export"))
    for name in (None, "cnn-merp"):
        assert registry.machine_asked(network, name).name == machine.runs == "cnn-merp"
    assert registry.machine_asked(network, machine.name) is machine
    assert registry.machine_of(network.design(network.layers[0])).name == "cnn-merp"
    file = tmp_path / "own.toml"
    file.write_text(NETWORK.replace('"point"', f'"{machine.name}"'))
    line = terminal.refusal("traffic", file)
    assert f"architecture = '{machine.name}': must be one of cnn-merp, mac-array" in line


def test_a_runner_from_outside_is_offered_and_lacks_parts_in_one_line(
    bring: Bring, tmp_path: Path
) -> None:
    (tmp_path / "point_machine.py").write_text(RUNNER)
    bring("pointy", "loop", "point_machine:MACHINE")
    merp = [sys.executable, "-m", "merp.tools.cli"]
    for asked, said in (
        ("train digits --architecture ring", "pointy: machine loop has no course"),
        ("export digits --architecture loop", "pointy: machine loop has no export"),
        ("train digits --depth 2", "--depth 2: allowed with --architecture pipeline, chain, loop"),
        ("train digits --architecture loup", "did you mean loop?"),
    ):
        found = subprocess.run(
            [*merp, *asked.split()], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.count("\n") == 1
        assert said in found.stderr


def test_hardware_that_lacks_a_part_is_refused_in_one_line(
    bring: Bring, network: Path, tmp_path: Path, terminal: Terminal
) -> None:
    (tmp_path / "point_machine.py").write_text(
        MODULE.replace("no_such_package:HARDWARE", "math:pi")
    )
    bring("pointy", "point", "point_machine:MACHINE")
    line = terminal.refusal("simulate", network, "--layer", "conv1")
    assert line.removeprefix("merp: ") == "pointy: machine point has no simulated"


def test_a_reader_that_fails_is_refused_in_one_line(
    bring: Bring, network: Path, tmp_path: Path, terminal: Terminal
) -> None:
    failing = MODULE.replace("section.finish()", "section.no_such_method()")
    (tmp_path / "point_machine.py").write_text(failing)
    bring("pointy", "point", "point_machine:MACHINE")
    line = terminal.refusal("traffic", network)
    assert "design own: pointy: machine point: its reader failed: AttributeError" in line
    assert terminal.output("traffic", "tiny3")


def test_its_bytes_are_refused_in_one_line(
    bring: Bring, network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    assert main(["traffic", str(network)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pointy: machine point: no_such_package:BYTES: not there: ModuleNotFound" in line


def test_its_phases_are_those_of_its_layers(bring: Bring, network: Path) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    read = read_network(network)
    assert phases_of_step(read) == ("fp", "ku")
    assert not has_phase(replace(read, backward="combined"), read.layers[0], "bp")


def test_a_network_on_two_machines_is_refused_where_one_answers(
    bring: Bring, network: Path
) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    other = open_network("tiny3")
    designs = {**read_network(network).designs, **other.designs}
    with pytest.raises(BadInput, match="its designs are of cnn-merp and point: allowed are"):
        registry.machine_that_runs(replace(other, designs=designs))


def test_its_hardware_is_refused_in_one_line(
    bring: Bring, network: Path, terminal: Terminal
) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    line = terminal.refusal("simulate", network, "--layer", "conv1")
    assert "pointy: machine point: no_such_package:HARDWARE: no simulated: ModuleNotFound" in line


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:MACHINE", "no_such_module:MACHINE cannot be loaded: ModuleNotFoundError"),
        ("point_machine:NOTHING", "point_machine:NOTHING cannot be loaded: AttributeError"),
        ("point_machine:OTHER", "point_machine:OTHER must be a Machine of this name"),
    ],
)
def test_a_machine_that_cannot_be_loaded_is_refused_and_the_others_work(
    value: str, reason: str, bring: Bring, network: Path, terminal: Terminal
) -> None:
    bring("pointy", "point", value)
    assert f"pointy: machine point: {reason}" in terminal.refusal("traffic", network)
    assert main(["traffic", "tiny3"]) == 0
    assert main(["traffic", "digits-fixed"]) == 0


def test_a_name_that_two_bring_is_refused(bring: Bring, network: Path, terminal: Terminal) -> None:
    bring("pointy", "point", "point_machine:MACHINE")
    bring("sharp", "point", "point_machine:MACHINE")
    bring("blunt", "mac-array", "point_machine:MACHINE")
    line = terminal.refusal("traffic", network)
    assert "machine point: " in line
    assert "pointy" in line
    assert "sharp" in line
    said = terminal.refusal("traffic", "digits-fixed")
    assert "machine mac-array: merp, blunt bring one each" in said
    assert main(["traffic", "tiny3"]) == 0


def test_a_machine_that_is_not_installed_is_named(network: Path, terminal: Terminal) -> None:
    line = terminal.refusal("traffic", network)
    assert "architecture = 'point': must be one of cnn-merp, mac-array" in line
