"""Plant one-line faults in the hardware and see the tests fail.

``mutants.toml`` has a table for each file: the tests to run (the block's own first), and faults. A
fault is a text that the file has once, and the text in its place. A third element names other
tests for it. A mutant is killed when a test fails; a mutant whose line is not found, or
with which no test runs at all, is an error of the list and fails the run.
"""

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from trial import ROOT, Trials

MARKS = "not full", "full and not board"
"""A mutant that survives the quick tests meets those of ``make test-full``."""


@dataclass(frozen=True)
class Mutant:
    """One planted fault."""

    file: str
    line: str
    fault: str
    tests: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file with the fault in it."""
        return (ROOT / self.file).read_text().replace(self.line, self.fault)

    @property
    def rounds(self) -> list[list[str]]:
        """Words for pytest, a round for each test; the long tests are the last ones."""
        return [["-m", marks, *test.split()] for marks in MARKS for test in self.tests]


def read_mutants(path: Path) -> list[Mutant]:
    """Read the list; a line must occur exactly once in its file."""
    mutants = []
    for file, listed in tomllib.loads(path.read_text()).items():
        text = (ROOT / file).read_text()
        for line, fault, *own in listed["faults"]:
            if text.count(line) != 1:
                count = text.count(line)
                raise SystemExit(f"{path}: {file}: {line!r} occurs {count} times, not 1")
            tests = own[0] if own else listed["tests"]
            mutants.append(Mutant(file, line, fault, tuple(tests)))
    return mutants


def main() -> int:
    """Try all mutants, print each verdict and the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only mutants whose file or line contains this")
    options = parser.parse_args()
    mutants = [
        m
        for m in read_mutants(Path(__file__).with_name("mutants.toml"))
        if options.only in m.file or options.only in m.line
    ]
    verdicts = []
    seconds: dict[str, float] = {}
    with Trials(options.jobs) as trials:
        tasks = ((m, (m.file, m.text, m.rounds, dict(seconds))) for m in mutants)
        for mutant, verdict in trials.verdicts(tasks):
            verdicts.append(verdict.name)
            seconds |= verdict.passed
            print(
                f"{verdict.name:9} {verdict.seconds:5.0f} s  {mutant.file}: "
                f"{mutant.line.strip()}  ->  {mutant.fault.strip()}",
                flush=True,
            )
    killed = verdicts.count("killed")
    print(f"{killed} of {len(verdicts)} mutants killed")
    return 0 if verdicts and killed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
