"""A package as a core of FuseSoC: its simulation, and its synthesis set up."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from merp.tools.cli import main
from merp.tools.common.data import DATA
from needed_tools import needs
from packages import run, tcl


def core_of(folder: Path) -> str:
    named = re.search(r"^name: (.*)$", next(folder.glob("*.core")).read_text(), re.MULTILINE)
    assert named is not None
    return named[1]


def fusesoc(folder: Path, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # A configuration and a cache of its own: nothing of the user's is read or written.
    return run(
        work, sys.executable, "-m", "fusesoc.main", "--cores-root", str(folder), "run",
        "--work-root", str(work / "build"), *words, core_of(folder),
        HOME=str(work), XDG_CACHE_HOME=str(work / "cache"),
    )  # fmt: skip


@pytest.mark.full
@needs("fusesoc", "tclsh")
def test_fusesoc_sets_a_synthesis_up_that_is_out_of_context(
    exports: dict[str, Path], tmp_path: Path
) -> None:
    folder = exports["fp"]
    done = fusesoc(folder, tmp_path, "--target=synth", "--setup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deprecat" not in (done.stdout + done.stderr).lower()
    project = tmp_path / "build" / f"{core_of(folder).replace(':', '_')}.tcl"
    calls = tcl(project)
    option = ["STEPS.SYNTH_DESIGN.ARGS.MORE", "OPTIONS", "-value", "-mode", "out_of_context"]
    assert ["set_property", "-name", *option, "-objects", "get_runs"] in calls
    assert ["set_property", "top", "merp_tiny_net_k2_fp", "current_fileset"] in calls
    assert any(call[0] == "read_xdc" for call in calls)
    makefile = (tmp_path / "build" / "Makefile").read_text()
    assert "synth:" in makefile


@pytest.mark.full
@pytest.mark.ghdl
@needs("fusesoc")
def test_fusesoc_simulates_an_export(exports: dict[str, Path], tmp_path: Path) -> None:
    done = fusesoc(exports["fp"], tmp_path, "--target=sim")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout + done.stderr
    assert "deprecat" not in (done.stdout + done.stderr).lower()


@pytest.mark.full
@needs("fusesoc")
def test_fusesoc_sets_a_simulation_of_verilog_up(tmp_path: Path) -> None:
    words = ["export", "tiny3", "--layer", "conv1", "--language", "verilog", "-o", str(tmp_path)]
    assert main(words) == 0
    (core,) = tmp_path.glob("*/*.core")
    done = fusesoc(core.parent, tmp_path, "--target=sim", "--setup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deprecat" not in (done.stdout + done.stderr).lower()
    (options,) = (tmp_path / "build").glob("*.vc")
    assert {"--binary", "--timing", "--top-module bench"} <= set(options.read_text().splitlines())


def test_targets_are_of_the_flow_api() -> None:
    """``default_tool`` and ``tools`` are of the tool API, which FuseSoC deprecates."""
    template = (DATA / "export" / "fusesoc.core").read_text()
    assert "default_tool" not in template
    assert "tools:" not in template
    assert template.count("flow:") == template.count("flow_options:") == 2
