"""A verb that a signal ends: the status, no program left, no draft, and the old output intact."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep
from uuid import uuid4

import pytest

MERP = [sys.executable, "-m", "merp.tools.cli"]
STATUS = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}

# A verb, and the program that it waits for when the signal comes.
EXPORT = ("export lenet5 --all -o out", "ghdl")
RUNS = (
    EXPORT,
    ("resources tiny3 --layer conv1 --json", "yosys"),
    ("simulate tiny3 --layer conv1 --engine verilator -o out", "cc1plus"),
    ("simulate alexnet --layer conv1 --engine ghdl -o out", "ghdl"),
    ("sweep tiny3 --over n_cu=1,2,3 --for lut --jobs 2 -o out", "yosys"),
    ("train digits --save out/s.npz -o out", ""),
)


def marked(mark: str) -> dict[int, str]:
    """Processes whose environment has a mark, and their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}".encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = words.decode(errors="replace")
        except OSError:
            continue
    return found


def waited(mark: str, process: subprocess.Popen[str], program: str) -> None:
    """Wait until a verb has started a program; or, without one, until it has written a draft."""
    while process.poll() is None:
        found = marked(mark)
        found.pop(process.pid, None)
        if any(program in words for words in found.values()) if program else drafts(process):
            return
        sleep(0.02)
    raise AssertionError(f"it has ended: {process.communicate()}")


def drafts(process: subprocess.Popen[str]) -> bool:
    return any((Path(f"/proc/{process.pid}/cwd").resolve() / "out").glob(".*"))


def kill_and_check(words: str, program: str, folder: Path, number: int, times: int = 1) -> None:
    mark = uuid4().hex
    place, temporary = folder / "out", folder / "tmp"
    place.mkdir()
    temporary.mkdir()
    (place / "old.txt").write_text("old")
    process = subprocess.Popen(
        [*MERP, *words.split()], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"MARK": mark, "TMPDIR": str(temporary), "MERP_CACHE": f"{folder}/cache"},
    )  # fmt: skip
    waited(mark, process, program)
    for _ in range(times):
        process.send_signal(number)
    out, said = process.communicate()
    assert (process.returncode, out) == (STATUS[number], ""), said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    for _ in range(1000):  # those of a killed parent have a moment to end
        if not marked(mark):
            break
        sleep(0.02)
    assert marked(mark) == {}
    assert (place / "old.txt").read_text() == "old"
    if number != signal.SIGKILL:
        assert not list(place.glob(".*"))
        assert not list(temporary.glob("merp*"))
        assert not list((folder / "cache").rglob("*.draft"))


@pytest.mark.ghdl
def test_a_signal_that_comes_twice_while_ghdl_reads_an_export(tmp_path: Path) -> None:
    """As ``timeout`` sends it."""
    kill_and_check(*EXPORT, tmp_path, signal.SIGTERM, times=2)


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("number", STATUS)
@pytest.mark.parametrize(("words", "program"), RUNS)
def test_every_verb_that_waits_for_programs(
    words: str, program: str, number: int, tmp_path: Path
) -> None:
    kill_and_check(words, program, tmp_path, number)
