"""Jobs beside each other: their order, and what is left of them after a failure."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from merp.cosim.engines.programs import beside
from merp.cosim.engines.programs.children import run


def test_results_come_in_the_order_of_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 2)
    met = threading.Barrier(2)  # both run at once, or neither ends

    def job(number: int) -> int:
        met.wait(60)
        return number

    assert list(beside.beside([lambda n=n: job(n) for n in range(4)])) == [0, 1, 2, 3]


def test_a_failure_ends_the_commands_that_run_and_begins_no_further(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 2)
    begun: list[int] = []
    written = tmp_path / "pid"

    def fails() -> None:
        while not written.exists():
            time.sleep(0.01)
        raise RuntimeError("no")

    def waits() -> None:
        code = "import os, pathlib, time; pathlib.Path('new').write_text(str(os.getpid()));"
        code += "os.replace('new', 'pid'); time.sleep(600)"
        run([sys.executable, "-c", code], cwd=tmp_path)

    def keeps_the_other_thread() -> None:
        run([sys.executable, "-c", "import time; time.sleep(600)"])

    with pytest.raises(RuntimeError, match="no"):
        list(beside.beside([fails, waits, keeps_the_other_thread, *[lambda: begun.append(1)] * 20]))
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)
    assert begun == []
