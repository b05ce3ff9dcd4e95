"""pytest in a fork: what it comes to is told rightly, and nothing of it stays behind."""

import time
from pathlib import Path

import forked
import pytest
from forked import Outcome, run_tests

from marks import in_full
from merp.models.base import shape

SUITE = """
import os, subprocess, time

def test_slow():
    time.sleep(0.2)
def test_quick():
    pass
def test_wrong():
    assert os.getpid() == 0
def test_raises():
    raise OverflowError
def test_hangs():
    while True:
        pass
def test_ends():
    os._exit(0)
def test_imports():
    import merp.models.base.shape
    assert not hasattr(merp.models.base.shape, "before_the_fork")
def test_leaves():
    left = subprocess.Popen(["sleep", "1000"])
    open("pid", "w").write(str(left.pid))
"""


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name")
    (tmp_path / "pytest.ini").write_text("[pytest]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(forked, "GRACE", 1.0)


def name(test: str) -> str:
    return f"test_suite.py::test_{test}"


def outcome(*tests: str, known: dict[str, float] | None = None, budget: float = 60.0) -> Outcome:
    """Of tests, each in a round of its own."""
    return run_tests([[name(test)] for test in tests], known or {}, budget, None)


def test_what_passes() -> None:
    found = outcome("quick", "slow")
    assert (found.status, found.error) == ("passed", "")
    assert found.seconds.keys() == {name("quick"), name("slow")}


def test_the_first_failure_ends_it() -> None:
    found = outcome("quick", "wrong", "hangs")
    assert (found.status, found.test, found.error) == ("failed", name("wrong"), "AssertionError")
    assert found.seconds.keys() == {name("quick")}
    assert outcome("raises").error == "OverflowError"


def test_in_a_round_the_quickest_comes_first() -> None:
    known = {name("slow"): 0.5, name("quick"): 0.01}
    words = [["test_suite.py", "-k", "slow or quick or wrong"]]
    found = run_tests(words, {**known, name("wrong"): 0.1}, 60.0, None)
    assert found.seconds.keys() == {name("quick")}
    found = run_tests(words, {**known, name("wrong"): 0.6}, 60.0, None)
    assert found.seconds.keys() == {name("quick"), name("slow")}


@pytest.mark.parametrize("test", ["ends", *in_full("hangs")])
def test_neither_passed_nor_failed_is_not_killed(test: str) -> None:
    found = outcome("quick", test, known={name(test): 0.0})
    assert (found.status, found.test) == ("timeout", name(test))


def test_where_no_test_runs_nothing_is_shown() -> None:
    assert outcome("absent").status == "error"
    broken = run_tests([["test_broken.py"], [name("wrong")]], {}, 60.0, None)
    assert (broken.status, broken.error) == ("error", "not collected")


def test_a_spent_budget_is_said() -> None:
    known = {name("slow"): 5.0, name("quick"): 0.01}
    words = [["test_suite.py", "-k", "slow or quick"], [name("wrong")]]
    found = run_tests(words, known, 1.0, None)
    assert (found.status, found.error) == ("passed", "the budget is spent")
    assert found.seconds.keys() == {name("quick")}


def test_what_was_imported_before_the_fork_is_imported_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a fault in it would be tried without the fault."""
    monkeypatch.setattr(shape, "before_the_fork", True, raising=False)
    assert outcome("imports").status == "failed"
    assert run_tests([[name("imports")]], {}, 60.0, None, anew=True).status == "passed"


def test_no_process_is_left() -> None:
    assert outcome("leaves").status == "passed"
    left = Path("pid").read_text()
    for _ in range(100):
        if not runs(left):
            return
        time.sleep(0.1)
    pytest.fail("it goes on")


def runs(process: str) -> bool:
    """Whether a process is there and has not ended, whether it was waited for or not."""
    try:
        return Path("/proc", process, "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
