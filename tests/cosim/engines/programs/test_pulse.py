"""Programs that stand still: found by the processor time that they do not get."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from merp.cosim.engines.programs import children, pulse
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.programs.pulse import Pulse, Watched, ran
from merp.models.base.errors import CheckFailed

WORKS = "import time\nwhile True: time.sleep(0.001)"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A program, below which another one works and then stops itself."""
    monkeypatch.setattr(pulse, "STILL_SECONDS", 3)
    with Children() as group:
        nested = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {WORKS!r}])"
        yield group.start([sys.executable, "-c", nested])


def below(pid: int) -> list[int]:
    """Programs below it that have begun.

    A process that has not begun its program holds up the one that starts it: stopped then, it would
    keep both from ever being stopped.
    """
    others = [int(name) for name in ran(pid) if name != str(pid)]
    works = WORKS.encode() + b"\0"  # the end of its command line
    return [each for each in others if Path(f"/proc/{each}/cmdline").read_bytes().endswith(works)]


def state(pid: int) -> str:
    """Of a process, as /proc says it: T where it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_program_that_waits_for_one_that_works_is_alive(
    program: subprocess.Popen[bytes],
) -> None:
    while not below(program.pid):
        assert program.poll() is None
    seen = Pulse(program.pid)
    for _ in range(5):
        assert not seen.is_still()
        before = ran(program.pid)
        while ran(program.pid) == before:
            assert program.poll() is None


def test_one_that_is_stopped_is_still(program: subprocess.Popen[bytes]) -> None:
    while not below(program.pid):
        assert program.poll() is None
    pids = (*below(program.pid), program.pid)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    while any(state(pid) != "T" for pid in pids):
        pass
    seen = Pulse(program.pid)
    found = [seen.is_still() for _ in range(8)]
    assert found[-1]
    assert not found[0]
    with pytest.raises(CheckFailed) as told, Watched(program):
        program.wait()
    program = os.path.basename(sys.executable)
    assert str(told.value).startswith(f"{program} made no progress: process ")


def test_a_program_with_nothing_to_do_is_let_alone(program: subprocess.Popen[bytes]) -> None:
    """Only waits count, each by itself."""
    os.kill(program.pid, signal.SIGSTOP)
    watched = Watched(program)
    for _ in range(4):
        with watched:
            pass
        watched._ended.wait(1)
    assert program.poll() is None
    watched.end()


def test_what_is_run_to_its_end_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "STILL_SECONDS", 2)
    stops = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"
    with pytest.raises(CheckFailed, match="made no progress"):
        children.run([sys.executable, "-c", stops])
    with Children() as group, pytest.raises(CheckFailed, match="made no progress"):
        group.call([sys.executable, "-c", stops])
    assert children.run([sys.executable, "-c", "print(1)"]).stdout == "1\n"
