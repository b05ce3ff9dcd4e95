"""Jobs beside each other: their order, and what is left of them after a failure."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from merp.cosim.synthesis import beside


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
    status: list[int] = []
    begun: list[int] = []

    def fails() -> None:
        while not beside._running:
            pass
        raise RuntimeError("no")

    def waits() -> None:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        status.append(beside.run(command, tmp_path).returncode)

    with pytest.raises(RuntimeError, match="no"):
        list(beside.beside([fails, waits, *[lambda: begun.append(1)] * 20]))
    assert status == [-15]
    assert not beside._running
    assert len(begun) <= 20
