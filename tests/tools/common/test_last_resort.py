"""Errors that nobody foresaw, and surroundings that few have: one line, the right status.

What depends on descriptors and signals runs in a process of its own.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from checkout import ROOT
from merp.models.base.errors import LINE
from merp.tools import cli
from merp.tools.networks import networks_verb
from terminal import Terminal

MERP = (sys.executable, "-m", "merp.tools.cli")


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(args: object) -> int:
        raise error

    monkeypatch.setattr(networks_verb, "run", run)


def test_an_internal_error_is_one_line_and_status_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(ZeroDivisionError("two\nlines" + 5000 * "x"), monkeypatch)
    assert cli.main(["networks"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert len(err) <= LINE
    assert err.startswith("merp: internal error in merp.tools.cli, line ")
    assert "ZeroDivisionError: two\\nlines" in err
    assert "please report" in err


@pytest.mark.parametrize("words", [["--debug", "networks"], ["networks", "--debug"]])
def test_debug_shows_the_traceback_too(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(ZeroDivisionError(), monkeypatch)
    assert cli.main(words) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("merp: internal error")


@pytest.mark.parametrize("error", [RecursionError("deep"), AssertionError()])
def test_nothing_but_a_check_is_status_1(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(error, monkeypatch)
    assert cli.main(["networks"]) == 3
    assert type(error).__name__ in capsys.readouterr().err


def test_too_little_memory_is_no_internal_error(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for said, error in {
        "Unable to allocate 8.00 TiB": MemoryError("Unable to allocate 8.00 TiB"),
        "for a part of the answer": MemoryError(),
    }.items():
        fails_with(error, monkeypatch)
        assert terminal.refusal("networks") == f"merp: not enough memory: {said}"


@pytest.mark.sample(2)
@pytest.mark.parametrize("verb", ["networks", "registers lenet5 --layer conv1"])
@pytest.mark.parametrize("files", [3, 4, 8])
def test_too_few_files_that_may_be_open_are_no_internal_error(files: int, verb: str) -> None:
    """Python and the command line have started, and then there is room for so many."""
    code = (
        "import resource, sys; from merp.tools.cli import main;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}));"
        f"held = [open('/dev/null') for _ in range(3, min({files}, 5))];"
        f"sys.exit(main({verb.split()}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) in ((2, 1), (0, 0))
    assert files > 3 or "merp: ulimit -n: Too many open files" in done.stderr


def test_a_full_disk_is_no_internal_error(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(OSError(28, "No space left on device", "x.txt"), monkeypatch)
    assert terminal.refusal("networks") == "merp: x.txt: cannot be written: No space left on device"


@pytest.mark.parametrize(
    "words", [["-o", "a\nb"], ["--layer", "a\nb"], ["--x\ny"], ["--batch", "1\n2"]]
)
def test_what_is_repeated_stays_on_the_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verb = "report" if words[0] == "-o" else "traffic"
    strategies = ["--strategies"] if words[0] == "--layer" else []
    try:
        status = cli.main([verb, "alexnet", *words, *strategies])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert capsys.readouterr().err.count("\n") == 1


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        f"{' '.join(MERP)} {command}", shell=True, capture_output=True, text=True, timeout=900,
        env=os.environ | environment,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("networks >&-", 0, ""),
        ("networks <&- >&- 2>&-", 0, ""),
        ("no-verb <&- >&- 2>&-", 2, ""),
        ("networks > /dev/full", 2, "merp: an output: cannot be written: No space left on device"),
    ],
)
def test_a_standard_output_that_takes_nothing(command: str, status: int, said: str) -> None:
    assert shell(command) == (status, "", said and said + "\n")


def test_an_output_of_ascii_alone(tmp_path: Path) -> None:
    command = f"workload lenet5 --format scalesim -o '{tmp_path}/é'"
    status, out, err = shell(command, PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert "\\xe9/lenet5-fp.csv" in out
    assert (tmp_path / "é" / "lenet5-fp.csv").exists()


def interrupted(tmp_path: Path, seconds: float, **environment: str) -> None:
    """``simulate``, interrupted so long after it began, ends with 130 and no word of ours."""
    process = subprocess.Popen(
        [*MERP, "simulate", "alexnet", "--layer", "conv2", "-o", str(tmp_path / "made")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment,
        # Of a parent in the background it would inherit that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not (tmp_path / "made").exists() and process.poll() is None:
        sleep(0.05)
    sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    # A library's object that is half made at that moment may tell of its end by itself.
    ours = [line for line in err.splitlines() if line.startswith(("merp:", "KeyboardInterrupt"))]
    assert (process.returncode, out, ours) == (130, "", [])


def test_an_interrupt_of_the_process_is_status_130(tmp_path: Path) -> None:
    interrupted(tmp_path, 0)


@pytest.mark.full
@pytest.mark.parametrize("tenths", range(0, 120, 5))
def test_an_interrupt_at_any_moment_is_status_130(tenths: int, tmp_path: Path) -> None:
    """Imports and the compiler without its cache, where it strikes what is half made."""
    cache = tmp_path / "numba"
    cache.mkdir(mode=0o700)
    interrupted(tmp_path, tenths / 10, NUMBA_CACHE_DIR=str(cache))


def test_no_home_and_no_cache_that_can_be_written(tmp_path: Path) -> None:
    """Neither beside the code nor in a home, as for a service; a named one is refused."""
    package = tmp_path / "merp"
    for tree in ("models", "hdl", "testbenches", "cosim", "tools"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / tree, package / tree, ignore=ignored)
    for folder in [path for path in package.rglob("*") if path.is_dir()]:
        (folder / "__pycache__").write_text("")  # no folder can be made here, even by root
    nowhere = dict.fromkeys(
        ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"), "/dev/null/x"
    )
    code = (
        "import sys; from merp.tools.cli import main;"
        "status = main(['registers', 'lenet5', '--layer', 'conv1']);"
        "import merp.models.arithmetic.fused, matplotlib;"
        "import merp.models.machines.cnn_merp.traffic.counter;"
        "sys.exit(status)"
    )
    environment = os.environ | nowhere | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.stderr == ""
    assert done.returncode == 0
