"""Try as many faults of the hardware, drawn at random by seed, as a number of minutes allows.

The faults are those of ``mutator.py``, the tests of each those of ``nearest.py``. A fault that no
test kills is listed with its place and its text; one that ``equivalent.toml`` shows to change
nothing is not tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from mutator import KINDS, Fault, all_faults
from nearest import nearest_tests
from trial import Trees

LONGEST = 60  # minutes


def read_equivalent(path: Path) -> dict[tuple[str, str, str, str, int], str]:
    """Of the faults that change nothing, by name, the argument why they do not."""
    return {
        (each["file"], each["process"], each["line"], each["fault"], each.get("nth", 1)): each[
            "why"
        ]
        for each in tomllib.loads(path.read_text())["equivalent"]
    }


def chosen(kind: str, file: str, seed: int) -> list[Fault]:
    """The faults of a kind, or of all, in the files whose path contains ``file``, in their order
    by seed.
    """
    found = [each for each in all_faults() if kind in ("", each.kind) and file in each.file]
    return Random(seed).sample(found, len(found))


def main() -> int:
    """Try faults, list survivors and say the score; 1 if any survive or none was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the order (default: 0)")
    parser.add_argument("--minutes", type=float, default=LONGEST, help="at most 60, the default")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: 2)")
    parser.add_argument("--only", choices=KINDS, default="", help="faults of one kind")
    parser.add_argument("--file", default="", help="only files whose path contains this")
    options = parser.parse_args()
    if not 0 < options.minutes <= LONGEST or options.jobs < 1:
        parser.error(f"--minutes must be more than 0 and at most {LONGEST}, --jobs 1 or more")
    until = time.monotonic() + 60 * options.minutes
    faults = chosen(options.only, options.file, options.seed)
    equivalent = read_equivalent(Path(__file__).with_name("equivalent.toml"))
    score: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        trees = Trees(Path(folder), options.jobs)

        def verdict(fault: Fault) -> tuple[Fault, str, float]:
            if time.monotonic() >= until:
                return fault, "unfinished", 0.0
            if fault.name in equivalent:
                return fault, "equivalent", 0.0
            return fault, *trees.attempt(fault.file, fault.text, nearest_tests(fault.file), until)

        for fault, found, seconds in pool.map(verdict, faults):
            if found == "unfinished":
                continue
            score[found] += 1
            if found != "killed":
                print(f"{found:10} {seconds:4.0f} s  {fault.file}:{fault.row}  {fault.kind}")
                print(f"    - {fault.line}\n    + {fault.fault}", flush=True)
    tried = score.total()
    counts = ", ".join(f"{number} {name}" for name, number in sorted(score.items()))
    print(f"seed {options.seed}: {tried} of {len(faults)} faults tried: {counts or 'none'}")
    return 0 if tried and tried == score["killed"] + score["equivalent"] else 1


if __name__ == "__main__":
    sys.exit(main())
