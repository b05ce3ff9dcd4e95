"""pytest in a fork of a process that has imported all but the hardware and what uses it.

Imports and caches are most of the time of a short test; a fork has them at once. The fork is a
process group of its own, and none of the group outlives it.
"""

import contextlib
import gc
import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

LONGEST = 900  # seconds of a fork; running out of them shows nothing
PATIENCE = 5.0  # a test may take so many times as long as it is known to take, and
GRACE = 10.0  # so many seconds of the processor more
SPENT = "the budget is spent"
UNKNOWN = 1.0  # seconds of a test that has not passed yet, which orders tests
UNKNOWN_LIMIT = 120.0
FOREIGN = ("numpy", "numba", "myhdl", "hypothesis", "cocotb", "cocotb_tools.runner", "rich.console")
"""Imported before the fork where they are there, with all of ``merp.models``."""


@dataclass(frozen=True)
class Outcome:
    """What tests came to.

    Attributes:
        status: ``passed``, ``failed``, ``timeout`` if neither came, or ``error`` if no test ran.
        test, error: the last test, and the type of the exception that failed it; or that the
            budget was spent before all tests were run.
        seconds: processor time of each test that passed; of one that was never seen to pass, and
            took all the time there was, this time.
    """

    status: str
    test: str = ""
    error: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


def prepare(tree: Path) -> None:
    """Make this process one that runs the tests of ``tree``; once, and before numba is there."""
    os.chdir(tree)
    os.environ.update(
        PYTHONPATH=str(tree / ".typing"),
        NUMBA_CACHE_DIR=str(tree / "numba"),
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    sys.dont_write_bytecode = False  # what pytest makes of tests is kept
    sys.path.insert(0, str(tree / ".typing"))
    for name in FOREIGN:
        if importlib.util.find_spec(name.split(".")[0]):
            importlib.import_module(name)
    models = importlib.import_module("merp.models")
    for module in pkgutil.walk_packages(models.__path__, "merp.models."):
        importlib.import_module(module.name)
    assert "merp.hdl" not in sys.modules
    inspect.getmodule(prepare.__code__)  # remembers where each module is from
    gc.collect()


def run_tests(
    rounds: Sequence[Sequence[str]],
    known: dict[str, float],
    budget: float,
    compiled: Path | None,
    anew: bool = False,
) -> Outcome:
    """Run rounds of pytest in a fork to the first failure; see ``Trial.attempt``.

    ``compiled`` is numba's cache, if not the one of all. ``anew``: the package is imported in the
    fork, as the fault is in what was imported before it.
    """
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(listen)
            os.setpgid(0, 0)
            if anew:
                _forget("merp")
            _run(rounds, known, budget, compiled, tell)
        finally:
            os._exit(0)
    os.close(tell)
    told = _listen(listen, time.monotonic() + LONGEST)
    os.close(listen)
    # The fork is not waited for yet, so the number of its group is still its own.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _outcome(told, known)


def _listen(pipe: int, until: float) -> list[tuple[str, str, Any]]:
    """What a fork tells, to its end, to ``until`` or to the end of this process's parent."""
    parent = os.getppid()
    told = b""
    while time.monotonic() < until and os.getppid() == parent:
        if select.select([pipe], [], [], 1.0)[0]:
            more = os.read(pipe, 1 << 16)
            if not more:
                break
            told += more
    whole = told[: told.rfind(b"\n") + 1]
    return [tuple(json.loads(line)) for line in whole.splitlines()]


def _outcome(told: list[tuple[str, str, Any]], known: dict[str, float]) -> Outcome:
    seconds = {test: took for kind, test, took in told if kind == "passed"}
    for kind, test, more in told:
        if kind in ("failed", "error"):
            return Outcome(kind, test, more, seconds)
    if not seconds and told[-1:] == [("done", "", "")]:
        return Outcome("error", "", "no test ran")
    kind, test, more = told[-1] if told else ("", "", "")
    if kind == "begun" and test not in known:  # it may be as long without a fault
        return Outcome("passed", test, SPENT, seconds | {test: more})
    return Outcome("passed", test, more, seconds) if kind == "done" else Outcome("timeout", test)


class _Watch:
    """pytest's plugin: the quickest test first, a limit for each, and word of what they came to."""

    def __init__(self, known: dict[str, float], until: float, tell: int) -> None:
        self._known, self._until, self._tell = known, until, tell
        self.failed = self.spent = False

    def say(self, kind: str, test: str, more: object) -> None:
        os.write(self._tell, json.dumps([kind, test, more]).encode() + b"\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.say("error", report.nodeid, "not collected")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._known.get(item.nodeid, UNKNOWN))
        takes = (self._known.get(item.nodeid, 0.0) for item in items)
        ends = accumulate(takes, initial=time.process_time())
        within = sum(end <= self._until for end in ends) - 1
        if within < len(items):
            self.spent = True
            del items[max(within, 0) :]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.process_time()
        known = self._known.get(item.nodeid)
        left = min(max(self._until - start, 1.0), UNKNOWN_LIMIT)
        limit = left if known is None else PATIENCE * known + GRACE
        # By default the signal ends the process, in compiled code as well.
        signal.setitimer(signal.ITIMER_PROF, limit)
        self.say("begun", item.nodeid, limit)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        if not self.failed:
            self.say("passed", item.nodeid, round(time.process_time() - start, 3))
        if time.process_time() > self._until:
            self.spent = True
            item.session.shouldstop = "the budget is spent"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        outcome: Any = yield
        if outcome.get_result().failed and not self.failed:
            self.failed = True
            self.say("failed", item.nodeid, call.excinfo.typename if call.excinfo else "")


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]


def _run(
    rounds: Sequence[Sequence[str]],
    known: dict[str, float],
    budget: float,
    compiled: Path | None,
    tell: int,
) -> None:
    """In the fork: all rounds, or up to the first that fails."""
    gc.freeze()  # pytest collects garbage at each end, and what is from before the fork is none
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.set_inheritable(tell, False)
    if compiled is not None:
        import numba.core.config

        os.environ["NUMBA_CACHE_DIR"] = numba.core.config.CACHE_DIR = str(compiled)
    watch = _Watch(known, budget + time.process_time(), tell)
    words = ["-x", "-q", "--basetemp=tmp", "--tb=no", "-p", "no:cacheprovider"]
    for tests in rounds:
        status = pytest.main([*words, *tests], plugins=[watch])
        if status == pytest.ExitCode.USAGE_ERROR and not any("::" in word for word in tests):
            watch.say("error", " ".join(tests), "no such tests")
        if watch.failed or watch.spent:
            break
    watch.say("done", "", SPENT if watch.spent else "")
