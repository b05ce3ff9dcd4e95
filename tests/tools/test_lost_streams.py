"""Streams that nobody reads, that are full or closed: one status for each, and no traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from marks import in_full
from merp.tools.common.command_line.verbs import VERBS

MERP = [sys.executable, "-m", "merp.tools.cli"]

QUICK = (
    "networks", "networks vgg16 --json", "traffic tiny3", "traffic tiny3 --json",
    "plan tiny3 --board kc705", "layout tiny3", "help delta", "boards", "--help", "--version",
    "traffic --help",
)  # fmt: skip
PRINTING = (
    "boards kc705 --json", "plan tiny3 --board kc705 --json", "map tiny3 --architecture fcnn",
    "compare tiny3 --architecture cnn-merp", "explore tiny3 --board kc705 --scope conv1",
    "cluster tiny3 --devices 2", "sweep tiny3 --over n_cu=1,2",
    "workload tiny3 --format zigzag -o out --json",
    "simulate tiny3 --layer conv1", "simulate tiny3 --layer conv1 --json",
    "verify-float --op fused --taps 1 --rows 1 -o sums.txt", "export tiny3 --layer conv1 -o out",
    "registers tiny3 --layer conv1", "train digits --steps 1", "help", "schema",
    *(f"{verb} --help" for verb in VERBS),
)  # fmt: skip


def steps(verb: str, heading: str, *works: str) -> str:
    """Nothing, or the heading and the times, which a verb reports after two seconds of work."""
    work = rf"({'|'.join((*works, 'compiling by numba', 'other'))}) [\d.]+"
    return rf"(merp {verb}: {heading}\nmerp {verb}: [\d.]+ s: {work}(, {work})*\n)?"


STEPS = {
    "sweep tiny3 --over n_cu=1,2": steps("sweep", "2 points, processes: [12]", "computing"),
    "export tiny3 --layer conv1 -o out": steps(
        "export", "1 design in a phase: VHDL, vectors, scripts",
        "converting and writing", "golden", "analysis by the simulator",
    ),
}  # fmt: skip
"""The steps of their work that these report on standard error."""


def ended(words: str, folder: Path, **streams: object) -> tuple[int, str]:
    """Status and standard error of a command line."""
    given = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | streams
    done = subprocess.run([*MERP, *words.split()], cwd=folder, text=True, **given)  # type: ignore[call-overload]
    return done.returncode, done.stderr or ""


def unread() -> int:
    """The end of a pipe that nobody will read."""
    ours, theirs = os.pipe()
    os.close(ours)
    return theirs


def written(unbuffered: str) -> dict[str, str]:
    """Environment in which Python writes what it holds at the end, or all of it at once."""
    return os.environ | {"PYTHONUNBUFFERED": unbuffered}


def check_unread(words: str, folder: Path) -> None:
    """Check the status, and that standard error has nothing but the lines of ``STEPS``."""
    theirs = unread()
    status, said = ended(words, folder, stdout=theirs, env=written(""))
    assert status == 141
    assert re.fullmatch(STEPS.get(words, ""), said), said
    assert ended(words, folder, stdout=theirs, stderr=theirs, env=written("1"))[0] == 141
    os.close(theirs)


@pytest.mark.sample(4)
@pytest.mark.parametrize("words", [*QUICK, *in_full("completion bash")])
def test_an_output_that_nobody_reads_is_status_141(words: str, tmp_path: Path) -> None:
    check_unread(words, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("words", PRINTING)
def test_it_is_in_every_verb_that_prints(words: str, tmp_path: Path) -> None:
    check_unread(words, tmp_path)


@pytest.mark.parametrize(
    "words", ["networks vgg16 --json", *in_full("plan alexnet --board kc705 --details")]
)
def test_a_reader_that_has_seen_one_line_is_enough(words: str, tmp_path: Path) -> None:
    """The page is larger than what the pipe holds here."""
    process = subprocess.Popen(
        [*MERP, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        pipesize=4096,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        assert process.stdout.read(1)
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, b"")


def test_a_complaint_that_nobody_reads_keeps_its_status(tmp_path: Path) -> None:
    theirs = unread()
    assert ended("networks none", tmp_path, stderr=theirs)[0] == 2
    assert ended("networks none", tmp_path, stdout=theirs, stderr=theirs)[0] == 2
    assert ended("traffic tiny3 --batch 0", tmp_path, stderr=theirs)[0] == 2
    os.close(theirs)


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", ["networks", "traffic --help", "plan tiny3 --board kc705 --json"])
def test_an_output_that_takes_nothing_is_status_2_and_one_line(words: str, tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        said = "merp: an output: cannot be written: No space left on device\n"
        assert ended(words, tmp_path, stdout=full) == (2, said)
        assert ended(words, tmp_path, stdout=full, stderr=full)[0] == 2
        assert ended("networks none", tmp_path, stderr=full)[0] == 2


@pytest.mark.sample(2)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_none(closed: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m merp.tools.cli"
    for words, status in (("networks", 0), ("networks none", 2), ("--version", 0)):
        done = subprocess.run(
            f"{command} {words} {closed}", shell=True, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == status
        assert "Exception ignored" not in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_that_a_library_ends_is_an_internal_error(tmp_path: Path) -> None:
    """Its number would be read as ours: 1 as a check that failed."""
    (tmp_path / "ended.py").write_text(
        "import sys\n"
        "from merp.tools import cli\n"
        "from merp.tools.networks import networks_verb\n"
        "networks_verb.run = lambda _: sys.exit(1)\n"
        "sys.exit(cli.main(['networks']))\n"
    )
    done = subprocess.run(
        [sys.executable, "ended.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "a library ended the program: 1" in done.stderr
