"""Run verbs with a long start-up in a copy of this process, with its own limits and streams."""

import os
import resource
import select
import shutil
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random

from harness import PATIENCE, answered
from kinds.checkpoints import TRAIN, prepared
from kinds.networks import NET
from kinds.results import RUN
from merp.tools.cli import main
from replay import replayed

NOBODY = 65534
VERBS: tuple[Sequence[str], ...] = (
    [*RUN, "out/run"], [*RUN, "out/run", "--resume"], ["simulate", str(NET), "-o", "out/new"],
    [*TRAIN, "--steps", "2", "--batch", "4", "--save", "out/saved.npz", "-o", "out/new"],
    [*TRAIN, "--steps", "3", "--resume", "in/saved/run.npz", "--save", "in/saved/run.npz"],
    ["report", str(NET), "-o", "out/page.html"], ["networks", str(NET), "--json"],
    ["report", str(NET), "--measured", "in/run", "-o", "out/page.html"],
    ["registers", str(NET), "--layer", "conv1", "-o", "out/new"],
    ["workload", str(NET), "--format", "zigzag", "-o", "out/new"],
    ["traffic", str(NET), "--strategies"], ["losses", "in/saved", "-o", "out/x.svg"],
)  # fmt: skip
FILE_SIZES = (0, 1, 100, 1000, 4096, 20_000)
OPEN_FILES = (8, 12, 16, 24)
PLACES = ("", "/dev/null", "/dev/null/x", "/proc/x", "in/net.toml", "no/such", "\udcff")


def surroundings(random: Random) -> list[str]:
    """Try a verb on good input when files, memory or places are refused."""
    with replayed():
        prepared()
        words = random.choice(VERBS)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            _as_child(random, words, write)
        os.close(write)
        said, status = _awaited(child, read)
    if status < 0:
        return [f"signal {-status}: {words}"]
    found = answered(status, said, (0, 1, 2, 141))
    quiet = [each for each in found if "with 0 lines" not in each]  # standard error may be closed
    return [f"{each}: {words}" for each in (quiet if status == 2 else found)]


def _awaited(child: int, read: int) -> tuple[str, int]:
    """Return the output of a child until its end, and its status or its negative signal."""
    text = b""
    while True:
        ready, _, _ = select.select([read], [], [], PATIENCE)
        part = os.read(read, 1 << 16) if ready else b""
        if not part:
            break
        text += part
    os.close(read)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return text.decode("utf-8", "replace"), os.waitstatus_to_exitcode(status)


def _as_child(random: Random, words: Sequence[str], write: int) -> None:
    """Run as such a process and end; never return."""
    status = 3
    try:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        null = os.open(os.devnull, os.O_RDWR)
        full = os.open("/dev/full", os.O_RDWR)
        os.dup2(random.choice((null, null, full)), 1)
        os.dup2(write, 2)
        sys.stdout = open(1, "w", encoding=random.choice(("ascii", "utf-8")), closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        for name in ("HOME", "TMPDIR", "MERP_CACHE", "MPLCONFIGDIR", "XDG_CACHE_HOME", "COLUMNS"):
            kind = random.randrange(4)
            if kind == 0:
                os.environ.pop(name, None)
            elif kind == 1:
                os.environ[name] = random.choice((*PLACES, "0", "-7", "9" * 30, "x"))
        _limited(random)
        try:
            status = main(words)
        except SystemExit as stop:
            status = int(stop.code or 0)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(status)


def _limited(random: Random) -> None:
    """Limit something: space for files, descriptors, the folder, the right to write."""
    kind = random.randrange(6)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python's start does
    if kind == 0:
        size = random.choice(FILE_SIZES)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    elif kind == 1:
        count = random.choice(OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    elif kind == 2:
        shutil.rmtree("out")
        Path("out").touch() if random.randrange(2) else None
    elif kind == 3:
        Path("out").chmod(0o500)
        Path("in/saved").chmod(0o500)
        if os.geteuid() == 0:
            os.setuid(NOBODY)
