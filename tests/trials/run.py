"""``make trials``: real processes, killed or two at once, and what they leave; a table of counts.

python tests/trials/run.py --moments 200 --pairs 50 --jobs 2
python tests/trials/run.py --only "export -o"
"""

from __future__ import annotations

import os

# One thread: a process that has more cannot be forked. numba's pool is one, BLAS' another.
os.environ |= {"NUMBA_DISABLE_JIT": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from cache import try_cache_kills, try_cache_pairs
from content import OUTCOMES
from counts import Counts
from faults import FAULTS
from kills import try_kills
from pairs import try_pairs
from place import Place
from remembered import remember
from verbs import VERBS

import merp.cosim
import merp.tools

Task = Callable[[Path], Counts]
PAIRS = ("both", "one refused", "wrong")


def tasks(args: argparse.Namespace) -> Iterator[tuple[str, str, Task]]:
    """Kind, name and work of each row of the tables."""
    plant, alone = FAULTS.get(args.fault), args.alone
    moments, pairs, seed = range(args.moments), range(args.pairs), args.seed
    for verb in VERBS:
        yield (
            "kills", verb.name,
            lambda at, verb=verb: try_kills(Place(verb, at), moments, seed, alone, plant),
        )  # fmt: skip
    yield "kills", "build cache", lambda at: try_cache_kills(at, moments, seed, plant)
    for verb in VERBS:
        if verb.pairs:
            yield (
                "pairs", verb.name,
                lambda at, verb=verb: try_pairs(Place(verb, at), pairs, seed, plant),
            )  # fmt: skip
    yield "pairs", "build cache", lambda at: try_cache_pairs(at, pairs, seed, plant)


def main() -> int:
    """Run the trials that are asked for; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200, help="for each verb (default 200)")
    parser.add_argument("--pairs", type=int, default=50, help="for each place (default 50)")
    parser.add_argument("--alone", type=int, default=2, help="moments of processes not forked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", help="a row's name; may be repeated")
    parser.add_argument("--fault", choices=FAULTS, help="plant it: something must be wrong")
    args = parser.parse_args()
    for tree in (merp.cosim, merp.tools):
        for module in walk_packages(tree.__path__, f"{tree.__name__}."):
            import_module(module.name)
    remember()
    # GHDL, where it is installed, analyses each export, which takes long and writes nothing there.
    os.environ["PATH"] = os.pathsep.join(
        folder
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if shutil.which("ghdl", path=folder) is None
    )
    chosen = [each for each in tasks(args) if not args.only or each[1] in args.only]
    rows: dict[str, list[tuple[str, Counts]]] = {"kills": [], "pairs": []}
    with tempfile.TemporaryDirectory(prefix="trials-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder  # the killed leave their own
        for kind, name, counts in _done(chosen, Path(folder), args.jobs):
            rows[kind].append((name, counts))
            for fault in counts.faults:
                print(f"{name} ({kind}): {fault}", flush=True)
    for kind, columns in (("kills", OUTCOMES), ("pairs", PAIRS)):
        if rows[kind]:
            _show(kind, columns, rows[kind], [name for each, name, _ in chosen if each == kind])
    return 1 if any(counts.faults for each in rows.values() for _, counts in each) else 0


def _done(
    chosen: list[tuple[str, str, Task]], folder: Path, jobs: int
) -> Iterator[tuple[str, str, Counts]]:
    """Each task in a process forked from this one, so many at a time."""
    running: dict[int, tuple[str, str, Path]] = {}
    waiting = list(enumerate(chosen))
    while waiting or running:
        while waiting and len(running) < jobs:
            number, (kind, name, task) = waiting.pop(0)
            place = folder / str(number)
            place.mkdir()
            pid = os.fork()
            if not pid:
                status = 1
                try:
                    counts = task(place)
                    (place / "counts.json").write_text(json.dumps(vars(counts)))
                    status = 0
                finally:
                    sys.stderr.flush()
                    if status:
                        import traceback
                        traceback.print_exc()
                    os._exit(status)
            running[pid] = kind, name, place
        kind, name, place = running.pop(os.wait()[0])
        told = place / "counts.json"
        counts = Counts(faults=["the trials themselves failed"])
        if told.exists():
            counts = Counts(**json.loads(told.read_text()))
        shutil.rmtree(place, ignore_errors=True)
        yield kind, name, counts


def _show(
    kind: str, columns: tuple[str, ...], rows: list[tuple[str, Counts]], order: list[str]
) -> None:
    last = ("ended before",) if kind == "kills" else ()
    print(f"\n{kind:18}" + "".join(f"{column:>13}" for column in (*columns, *last)))
    for name, counts in sorted(rows, key=lambda row: order.index(row[0])):
        numbers = [counts.outcomes.get(column, 0) for column in columns]
        numbers += [counts.alive] if last else []
        print(f"{name:18}" + "".join(f"{number:13}" for number in numbers))


if __name__ == "__main__":
    began = time.process_time()
    sys.exit(main())
