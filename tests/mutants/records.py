"""What is known of earlier trials: verdicts, and how long tests take."""

import json
from collections import Counter, defaultdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from mutator import Fault
from trial import FOLDERS, ROOT, Verdict

MOST = 4
Name = tuple[str, str, str, str, int]
PLACE = ROOT / "build" / "mutants"


@cache
def state_of(tests: str) -> str:
    """A hash of the hardware, of what its tests use, and of ``tests``, a file or a folder."""
    total = sha256()
    for folder in (*FOLDERS, "tests/house", tests):
        paths = [ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py")
        for path in sorted(paths):
            if path.exists():
                total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def state_behind(verdict: str, test: str) -> str:
    """The state of the tree that a verdict holds in: a kill needs the one test only."""
    return state_of(test.split("::")[0] if verdict == "killed" else "tests/hdl")


class Records:
    """Verdicts by fault, the last one of each, and the seconds of tests.

    They stand in two files, to which each verdict adds a line, so that a run that is broken off
    loses nothing.
    """

    def __init__(self, place: Path = PLACE) -> None:
        """Read what is there."""
        place.mkdir(parents=True, exist_ok=True)
        self._path = place / "verdicts.jsonl"
        self._last: dict[Name, dict[str, Any]] = {}
        self._killers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: dict[str, float] = {}
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                self._take(json.loads(line))

    def _take(self, record: dict[str, Any]) -> None:
        file, process, line, fault, nth = record["fault"]
        self._last[file, process, line, fault, nth] = record
        if record["verdict"] == "killed":
            self._killers[file][record["test"]] += 1
        for test, took in record["passed"].items():
            self.seconds[test] = min(took, self.seconds.get(test, took))

    def add(self, fault: Fault, verdict: Verdict) -> None:
        """Keep a verdict."""
        record = {
            "fault": fault.name, "state": state_behind(verdict.name, verdict.test),
            "verdict": verdict.name, "test": verdict.test, "error": verdict.error,
            "seconds": round(verdict.seconds, 2),
            "passed": {
                test: took
                for test, took in verdict.passed.items()
                if took < self.seconds.get(test, float("inf"))
            },
        }  # fmt: skip
        self._take(record)
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def verdict(self, fault: Fault) -> str:
        """The verdict on a fault in this very tree, or an empty text."""
        record = self._last.get(fault.name)
        if record and record["state"] == state_behind(record["verdict"], record["test"]):
            return record["verdict"]
        return ""

    def killers(self, file: str) -> list[str]:
        """Tests that killed faults of a file, those first that killed most."""
        return [test for test, _ in self._killers[file].most_common(MOST)]

    def last(self, fault: Fault) -> tuple[str, str]:
        """The last verdict on a fault in any state of the tree, and the test that it ended with."""
        record = self._last.get(fault.name)
        return (record["verdict"], record["test"]) if record else ("", "")
