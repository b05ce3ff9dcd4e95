"""``merp doctor``: packages by the metadata, programs that misbehave, and any surroundings."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from merp.tools.doctor import examination, packages, programs
from merp.tools.doctor.examination import ENABLES, OWN_WORK, Examination, Extra
from merp.tools.doctor.packages import Package
from merp.tools.doctor.programs import Program
from merp.tools.doctor.screen import lines
from needed_tools import needs
from terminal import Terminal

MERP = Path(sys.executable).with_name("merp")
OWN = """Metadata-Version: 2.1
Name: merp
Version: 0.2.0
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Programming Language :: Python :: 3.10
Classifier: Programming Language :: Python :: 3.9
Requires-Dist: plain<2,>=1
Requires-Dist: never; python_version < "3"
Provides-Extra: more
Requires-Dist: Under_Score>=1; extra == "more"
Requires-Dist: reads[fast]; extra == "more"
Provides-Extra: all
Requires-Dist: merp[all,more]; extra == "all"
Requires-Dist: last; extra == "all"
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts metadata of a package in front of that which is installed."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, version: str, *rest: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        head = ("Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}")
        (folder / "METADATA").write_text("\n".join((*head, *rest, "")))

    return write


@pytest.fixture
def own(tmp_path: Path, install: Install) -> Install:
    """A merp with few requirements."""
    folder = tmp_path / "merp-0.2.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(OWN)
    return install


def said(some: Iterable[Package]) -> list[str]:
    return [each.said for each in some]


def test_this_installation_is_right(terminal: Terminal) -> None:
    found = terminal.answer("doctor")
    assert found["right"]
    assert found["merp"] == metadata.version("merp")
    assert found["packages"]["myhdl"] == {"version": "0.11.52", "allowed": "==0.11.52",
                                          "right": True}  # fmt: skip
    assert list(found["programs"]) == list(programs.KNOWN)
    assert found["engines"]["myhdl"] == {"ready": True, "lacks": []}


def test_every_requirement_of_the_metadata_is_reported_once(terminal: Terminal) -> None:
    found = terminal.answer("doctor")
    shown = {*found["packages"]}.union(*(each["packages"] for each in found["extras"].values()))
    listed = {re.match(r"[\w.-]+", text)[0] for text in metadata.requires("merp") or []}
    brought = {"mkdocstrings-python"}  # by an extra of mkdocstrings
    assert shown - brought == listed - {"merp"}
    assert list(found["extras"]) == packages.extras()
    assert set(found["extras"]["full"]["packages"]) > set(found["extras"]["dev"]["packages"])


def test_every_extra_has_a_purpose() -> None:
    assert set(packages.extras()) == set(ENABLES)


def test_packages_are_those_of_the_metadata(own: Install) -> None:
    assert said(packages.packages()) == ["plain is missing"]
    own("plain", "1.5")
    assert said(packages.packages()) == ["plain 1.5"]
    assert said(packages.packages("more")) == ["Under_Score is missing", "reads is missing"]
    assert said(packages.packages("all")) == [
        "Under_Score is missing", "reads is missing", "last is missing"
    ]  # fmt: skip
    own("under-score", "3")
    own("reads", "1", "Provides-Extra: fast", 'Requires-Dist: quick>=2; extra == "fast"',
        'Requires-Dist: slow; extra == "other"', "Requires-Dist: base")  # fmt: skip
    assert said(packages.packages("more")) == ["Under_Score 3", "reads 1", "quick is missing"]


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("2.0", "plain 2.0 (allowed: <2,>=1)"),
        ("0.9", "plain 0.9 (allowed: <2,>=1)"),
        ("nonsense", "plain nonsense (allowed: <2,>=1)"),
        ("1.0rc1", "plain 1.0rc1 (allowed: <2,>=1)"),
        ("1.1rc1", "plain 1.1rc1"),
        ("1.9.9+local", "plain 1.9.9+local"),
    ],
)
def test_a_version_that_is_not_allowed_is_reported(own: Install, version: str, text: str) -> None:
    own("plain", version)
    (found,) = packages.packages()
    assert found.said == text
    assert found.right is ("allowed" not in text)


@pytest.mark.parametrize("content", [b"Name: plain\n", b"Name: plain\nVersion: \xff\n", b""])
def test_a_package_without_a_version_is_not_right(
    own: Install, tmp_path: Path, content: bytes
) -> None:
    own("plain", "1")
    (tmp_path / "plain-1.dist-info" / "METADATA").write_bytes(content)
    (found,) = packages.packages()
    assert not found.right
    assert found.said.startswith("plain")


def test_a_wrong_package_is_status_1_with_the_line_that_mends_it(
    install: Install, terminal: Terminal
) -> None:
    install("numpy", "2.7.0")
    install("cocotb", "2.2.0")
    ended = terminal.run("doctor")
    assert (ended.status, ended.err) == (1, "")
    shown = ended.out.splitlines()
    assert "numpy 2.7.0 (allowed: <2.6,>=2.0)" in ended.out
    assert shown.index("    pip install merp") < 6
    place = shown.index("    pip install 'merp[hdl]'  # cocotb 2.2.0 (allowed: <2.2,>=2.1)")
    assert shown[place - 1].startswith("merp[hdl]      incomplete ")
    ended = terminal.run("doctor", "--json")
    assert ended.status == 1
    assert '"right": false' in ended.out


def test_an_extra_that_is_missing_is_no_failure(install: Install, terminal: Terminal) -> None:
    install("cocotb", "1.0")
    found = terminal.answer("doctor")
    assert not found["extras"]["hdl"]["complete"]
    assert "cocotb" in found["engines"]["ghdl"]["lacks"]
    assert "cocotb" not in found["engines"]["verilator"]["lacks"]


def test_without_packaging_one_line_says_so(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith(("merp.tools.doctor.", "packaging")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "packaging", None)
    line = terminal.refusal("doctor", status=1)
    assert line.startswith("merp: doctor: packaging")
    assert line.endswith("is missing: pip install packaging")


def test_nothing_heavy_is_imported() -> None:
    code = """
import sys
from merp.tools.cli import main
assert main(["doctor"]) == 0
sys.exit(" ".join({"numpy", "numba", "myhdl", "rich", "matplotlib", "cocotb"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "\n"


def program(folder: Path, name: str, script: str) -> str:
    """A program of that name."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SECONDS", 0.5)


@pytest.mark.usefixtures("impatience", "impatient")
@pytest.mark.parametrize(
    ("script", "version", "broken"),
    [
        ("echo 'Tool 4.1.0-dev (x) [Dunoon edition]'; echo 9.9.9", "4.1.0", False),
        ("echo 'Tool 3.5' >&2", "3.5", False),
        ("sleep 1000", None, True),
        ("trap '' TERM; sleep 1000 & wait; sleep 1000", None, True),
        ("yes", None, True),
        ("echo 1.2.3; head -c 100000 /dev/zero", None, True),
        ("echo 1.2.3; exit 7", None, True),
        ("echo 1.2.3; sleep 1000", None, True),
        ("kill -9 $$", None, True),
        ("printf '\\377\\000\\033[2J'", None, False),
        ("read line; echo 5.${line:-0}", "5.0", False),
    ],
)
def test_a_program_is_asked_for_its_version(
    tmp_path: Path, script: str, version: str | None, broken: bool
) -> None:
    path = program(tmp_path, "tool", script)
    known = replace(programs.KNOWN["ghdl"], find=lambda: path)
    found = programs._found(known)
    assert (found.path, found.version, found.broken) == (path, version, broken)
    assert found.works is not broken


def test_what_is_no_program_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    found = programs._found(replace(programs.KNOWN["ghdl"], find=lambda: str(path)))
    assert found.broken


def test_a_viewer_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "gtkwave", f"touch {tmp_path / 'started'}; echo 3.3")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = programs.programs()["gtkwave"]
    assert (found.works, found.version) == (True, None)
    assert not (tmp_path / "started").exists()


@needs("tclsh")
def test_tclsh_reads_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    found = programs.programs()["tclsh"]
    assert found.version is not None
    assert found.version.startswith("8.") or found.version.startswith("9.")


@needs("verilator")
def test_the_version_of_a_program_without_one_is_that_of_its_package(tmp_path: Path) -> None:
    path = program(tmp_path, "verilator_bin", "echo ' rev vUNKNOWN-built20260516'")
    found = programs._found(replace(programs.KNOWN["verilator"], find=lambda: path))
    assert found.version == metadata.version("verilator")


@pytest.mark.usefixtures("impatience")
def test_an_engine_lacks_what_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    program(tmp_path, "ghdl", "exit 3")
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = terminal.run("doctor")
    assert ended.status == 0
    assert "ghdl lacks ghdl" in ended.out
    assert "verilator lacks g++, make" in " ".join(ended.out.split())
    place = ended.out.index("\nghdl           broken ")
    shown = ended.out[place:].partition("    apt-get install ghdl\n")[0]
    assert f"{tmp_path}/ghdl fails, or does not answer in" in " ".join(shown.split())


def test_without_a_shared_python_ghdl_lacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cocotb = Package(name="cocotb", allowed="", version="2.1", right=True)
    found = Examination()
    found.required, found.extras = [], [Extra("hdl", [cocotb])]
    works = {name: Program(path="x", version="1.0", broken=False, known=each)
             for name, each in programs.KNOWN.items()}  # fmt: skip
    found.programs = works
    monkeypatch.delenv("LIBPYTHON_LOC", raising=False)
    monkeypatch.setattr(examination, "answer", lambda command: "\n")
    assert found.lacking == {"myhdl": [], "verilator": [], "ghdl": ["libpython"]}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "environment",
    [{}, {"PATH": ""}, {"PATH": "/nowhere", "HOME": "/nowhere"}, {"HOME": "/dev/null"}],
    ids=str,
)
def test_no_path_and_no_home(environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        [MERP, "doctor"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, cwd="/",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("merp ")


def test_without_pip_its_own_line_stands(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ensurepip" not in terminal.output("doctor")
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setattr(examination, "find_spec", lambda name: None)
    assert terminal.output("doctor").endswith(f"    {sys.executable} -m ensurepip\n")


def whole() -> Examination:
    """An installation with everything."""
    found = Examination()
    found.required = [_right(each) for each in found.required]
    found.required.append(Package(name="packaging", allowed=">=22", version="26.4", right=True))
    found.extras = [Extra(x.name, [_right(each) for each in x.packages]) for x in found.extras]
    found.programs = {
        name: Program(path=f"/usr/bin/{name}", version="12.12.12", broken=False, known=known)
        for name, known in programs.KNOWN.items()
    }
    return found


def _right(package: Package) -> Package:
    return replace(package, version=package.version or "12.12.12", right=True)


def test_with_everything_the_screen_has_25_lines_of_80_columns() -> None:
    shown = list(lines(whole(), 80))
    assert len(shown) <= 25
    assert max(map(len, shown)) <= 80
    assert not any("install" in line for line in shown)
    (shared,) = (line for line in shown if line.startswith("work on merp"))
    assert set(shared.partition("extras ")[2].split(", ")) == OWN_WORK


@pytest.mark.parametrize("width", [1, 20, 40, 59, 60, 200])
def test_a_command_is_one_line_at_any_width(width: int) -> None:
    found = Examination()
    versions = dict.fromkeys(("gone", "cocotb", *map(str, range(90)))) | {"cocotb": "2.2.0"}
    found.extras = [Extra("hdl", [
        Package(name=name, allowed="<2", version=version, right=False)
        for name, version in versions.items()
    ])]  # fmt: skip
    shown = list(lines(found, width))
    (line,) = (each for each in shown if each.startswith("    pip install 'merp[hdl]'"))
    assert "cocotb 2.2.0 (allowed: <2)" in " ".join(" ".join(shown).split())
    if width >= 60:
        assert max(map(len, shown)) <= width
        assert "  # cocotb 2.2.0 (allowed: <2)" in line or width == 60
        assert line.endswith(" more") or width == 60


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("Linux x86_64", "Linux x86_64: untested (supported: Linux x86-64 with Python 3.9 to 3.10"),
        ("Darwin arm64", "Darwin arm64: untested (supported: Linux x86-64 with Python 3.9 to 3.10"),
    ],
)
def test_another_system_or_python_is_untested(
    own: Install, monkeypatch: pytest.MonkeyPatch, system: str, text: str
) -> None:
    found = Examination()
    monkeypatch.setattr(found, "system", system)
    assert not found.supported
    assert text in " ".join(" ".join(lines(found, 80)).split())


def test_the_doctor_runs_in_a_narrow_terminal_and_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        [MERP, "doctor"], env=os.environ | {"COLUMNS": "20"}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert any(60 < len(line) <= 80 for line in done.stdout.splitlines())  # a pipe has 80 columns
