"""What this process starts ends with it, however it ends, and with all that was started there."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep
from uuid import uuid4

import pytest

from checkout import ROOT
from merp.cosim.engines.programs import children as module
from merp.cosim.engines.programs.children import Children, run

# A program, which starts one that ignores every signal that can be, which starts another.
STUBBORN = "trap '' TERM INT HUP; sleep 600 & wait; sleep 600"
NESTED = f'sh -c "{STUBBORN}" & echo begun; wait'

PARENT = """
import signal, sys
from subprocess import PIPE
from threading import Thread
from merp.cosim.engines.programs.children import Children

def begin():  # the thread ends, and the program that it has started goes on
    process = children.start(["sh", "-c", sys.argv[1]], stdout=PIPE)
    print(process.stdout.readline(), flush=True)

with Children() as children:
    thread = Thread(target=begin)
    thread.start()
    thread.join()
    signal.pause()
"""


def marked(mark: str) -> list[int]:
    """Processes whose environment has a mark: a child, and whatever it has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    """Whether all that are marked end; waits for as long as a test may take."""
    for _ in range(1000):
        if not marked(mark):
            return True
        sleep(0.02)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_programs_and_what_they_started_end_with_this_process(how: int) -> None:
    mark = uuid4().hex
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, NESTED], env=os.environ | {"MARK": mark},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with parent:
        assert parent.stdout is not None
        assert "begun" in parent.stdout.readline()
        assert len(marked(mark)) >= 4  # the keeper, and the program with two below it
        parent.send_signal(how)
        parent.wait()
    assert gone(mark)


def test_a_group_that_is_left_has_nothing_that_runs() -> None:
    mark = uuid4().hex
    with Children() as children:
        process = children.start(
            ["sh", "-c", NESTED], stdout=subprocess.PIPE, env=os.environ | {"MARK": mark}
        )
        process.stdout.readline()
        other = run(["sh", "-c", "kill -TERM 0; echo unreached"])
        assert other.returncode == -signal.SIGTERM  # of its own group alone
        assert process.poll() is None
    assert process.returncode == -signal.SIGTERM
    assert marked(mark) == []


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    with Children() as children:
        process = children.start(
            ["sh", "-c", "trap '' TERM; echo begun; exec sleep 600"], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        children.end(grace=0.01)
    assert process.returncode == -signal.SIGKILL


def test_a_second_interrupt_while_a_group_ends_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def struck(*_: object) -> None:
        raise KeyboardInterrupt

    children = Children()
    process = children.start(["sleep", "600"])
    monkeypatch.setattr(Children, "_await", struck)
    with pytest.raises(KeyboardInterrupt):
        children.end()
    assert process.returncode is not None
    assert children._keeper.returncode is not None


def test_nothing_is_started_in_a_group_that_has_ended() -> None:
    with Children() as children:
        pass
    with pytest.raises(RuntimeError, match="not started"):
        children.start(["true"])


def test_a_copy_by_fork_neither_ends_a_group_nor_keeps_it(tmp_path: Path) -> None:
    with Children() as children:
        process = children.start(["sleep", "600"])
        copy = os.fork()
        if not copy:
            children.end()
            os._exit(0 if not list(module._open) else 1)
        assert os.waitpid(copy, 0)[1] == 0
        assert process.poll() is None


def test_it_tells_status_and_output_and_reads_nothing() -> None:
    done = run(["sh", "-c", "cat; echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_output_that_is_no_text_is_no_error() -> None:
    assert run(["printf", r"a\377b"]).stdout == "a\ufffdb"


def test_what_cannot_be_started_leaves_no_keeper() -> None:
    mark = uuid4().hex
    with pytest.raises(FileNotFoundError):
        run([f"./{mark}"], env=os.environ | {"MARK": mark})
    assert marked(mark) == []


STARTS = re.compile(
    r"subprocess\.(run|Popen|call|check_\w+|getoutput)\b|from subprocess import .*\b(run|Popen)\b"
    r"|\bos\.(system|popen|fork|spawn\w+|posix_spawn\w*)\("
)


def test_no_other_module_starts_a_program() -> None:
    """Pools of workers come from ``multiprocessing``, and join a group."""
    rooms = ("models", "hdl", "testbenches", "cosim", "tools")
    found = [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in sorted((ROOT / room).rglob("*.py"))
        if STARTS.search(path.read_text(encoding="utf-8"))
    ]
    # The converter is to be usable without the rest: it starts compilers by itself. So does the
    # generator of a LiteX system, which is part of a package.
    assert found == [
        "hdl/conversion/_compiler.py",
        "cosim/engines/programs/children.py",
        "tools/data/export/litex/soc.py",
    ]
