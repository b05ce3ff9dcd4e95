"""Try as many faults of the hardware, drawn at random by seed, as a number of minutes allows.

The faults are those of ``mutator.py``, the tests of each those of ``nearest.py``. A fault that no
test kills is listed with its place and its text; one that ``equivalent.toml`` shows to change
nothing is not tried. Verdicts are kept under ``build``: a fault has one for each state of the tree,
and in another state the test that killed it comes first.
"""

import argparse
import sys
import time
import tomllib
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mutator import KINDS, Fault, all_faults
from nearest import nearest_tests
from records import Name, Records
from trial import ROOT, Trials

LONGEST = 60  # minutes
BUDGET = 120.0
"""Above the 80 s that the tests of the largest block, the trainer of the MAC array, take."""
COMPILED = "hdl/behavioural/"
DEAD = {"killed", "equivalent", "unbuilt"}
QUICK = ["-m", "not full and not ghdl and not verilator"]
"""A replay compares the faulty hardware with itself, so other engines hardly ever tell a fault."""


def read_equivalent(path: Path) -> dict[Name, str]:
    """Of the faults that change nothing, by name, the argument why they do not."""
    return {
        (each["file"], each["process"], each["line"], each["fault"], each.get("nth", 1)): each[
            "why"
        ]
        for each in tomllib.loads(path.read_text())["equivalent"]
    }


def chosen(
    kind: str, file: str, seed: int, first: int | None = None, rooms: Sequence[str] = ()
) -> list[Fault]:
    """The faults of a kind, or of all, in the files whose path contains ``file`` and that are in
    one of the rooms, or in any; of these the first ones in the order by seed. The order stays the
    same when other faults come or go.
    """

    def place(fault: Fault) -> str:
        return sha256(f"{seed} {fault.name}".encode()).hexdigest()

    folders = tuple(f"hdl/{room}/" for room in rooms) or ""
    found = [
        each
        for each in all_faults()
        if kind in ("", each.kind) and file in each.file and each.file.startswith(folders)
    ]
    return sorted(found, key=place)[:first]


def rooms_of(text: str) -> list[str]:
    """The rooms that an option names, with commas between them.

    Raises:
        ArgumentTypeError: no folder of ``hdl`` has that name.
    """
    rooms = text.split(",")
    hdl = ROOT / "hdl"
    known = [path.parent.relative_to(hdl).as_posix() for path in hdl.glob("*/**/__init__.py")]
    for room in rooms:
        if room not in known:
            top = ", ".join(sorted(each for each in known if "/" not in each))
            raise ArgumentTypeError(
                f"{room!r} is no room of hdl: allowed are {top} and their rooms"
            )
    return rooms


def rounds(fault: Fault, records: Records) -> list[list[str]]:
    """Words for pytest: the test that killed the fault before or those that killed others of its
    file, and the circles of tests; these alone where a test did not end before.
    """
    name, test = records.last(fault)
    killers = records.killers(fault.file) if name != "timeout" else []
    first = [test] if name == "killed" else killers
    circles = [[*QUICK, *tests] for tests in nearest_tests(fault.file)]
    return [first, *circles] if first else circles


def main() -> int:
    """Try faults, list survivors and say the score; 1 if any survive or none was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the order (default: 0)")
    parser.add_argument("--minutes", type=float, default=LONGEST, help="at most 60, the default")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: 2)")
    parser.add_argument("--only", choices=KINDS, default="", help="faults of one kind")
    parser.add_argument("--file", default="", help="only files whose path contains this")
    parser.add_argument(
        "--rooms", type=rooms_of, default=[], help="only these folders of hdl: fused,streams"
    )
    parser.add_argument(
        "--first", type=int, help="of these only so many, in the order by seed (default: all)"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=BUDGET,
        help="seconds of the processor for a fault, which survives if no test kills it in these "
        f"(default: {BUDGET:.0f})",
    )
    parser.add_argument("--alive", action="store_true", help="only those tried and not dead so far")
    options = parser.parse_args()
    if not 0 < options.minutes <= LONGEST or options.jobs < 1:
        parser.error(f"--minutes must be more than 0 and at most {LONGEST}, --jobs 1 or more")
    until = time.monotonic() + 60 * options.minutes
    equivalent = read_equivalent(Path(__file__).with_name("equivalent.toml"))
    records = Records()
    faults = chosen(options.only, options.file, options.seed, options.first, options.rooms)
    # What was never tried comes first. What numba compiles comes last: it is compiled anew for each
    # fault, which takes as long as twenty trials.
    faults.sort(key=lambda each: (each.file.startswith(COMPILED), records.last(each) != ("", "")))
    score: Counter[str] = Counter()

    def tasks() -> Iterator[tuple[Fault, tuple[Any, ...]]]:
        for fault in faults:
            if time.monotonic() >= until:
                return
            if options.alive and records.last(fault)[0] in ("", *DEAD):
                continue
            name = records.verdict(fault)
            if fault.name in equivalent:
                score["equivalent"] += 1
            elif name and not options.alive:
                say(fault, name, "as before")
            else:
                tests = rounds(fault, records)
                yield fault, (fault.file, fault.text, tests, dict(records.seconds), options.budget)

    def say(fault: Fault, name: str, more: str) -> None:
        score[name] += 1
        if name not in DEAD:
            print(f"{name:10} {more}  {fault.file}:{fault.row}  {fault.kind}  {fault.process}")
            print(f"    - {fault.line}\n    + {fault.fault}", flush=True)

    with Trials(options.jobs) as trials:
        for fault, verdict in trials.verdicts(tasks()):
            records.add(fault, verdict)
            say(fault, verdict.name, f"{verdict.seconds:.0f} s {verdict.error}")
    tried = score.total()
    counts = ", ".join(f"{number} {name}" for name, number in sorted(score.items()))
    print(f"seed {options.seed}: {tried} of {len(faults)} faults tried: {counts or 'none'}")
    return 0 if tried and not set(score) - DEAD else 1


if __name__ == "__main__":
    sys.exit(main())
