"""Run ``make trials``: kill real processes, or run two in parallel; print tables of the outcomes.

python tests/trials/run.py --moments 200 --pairs 50 --builds 2 --jobs 2
python tests/trials/run.py --only "export -o" --only "build cache"
python tests/trials/run.py --faults
"""

import os

# A process with several threads cannot be forked: numba has a pool of threads, and so has BLAS.
os.environ |= {"NUMBA_DISABLE_JIT": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import argparse
import json
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

sys.path.append(str(Path(__file__).parents[1] / "house"))  # network_text.py

import cache
import merp.cosim
import merp.tools
from builds import try_builds
from child import Plant
from content import OUTCOMES
from counts import Counts
from faults import FAULTS
from kills import try_kills
from pairs import try_pairs
from place import Place
from remembered import remember
from verbs import VERBS

COLUMNS = {
    "kills": (*OUTCOMES, "ended before"),
    "pairs": ("both", "one refused", "wrong"),
    "builds": ("both", "killed", "wrong"),
    "faults": ("seen", "wrong"),
}
"""Titles of the tables by kind of trials."""

CACHE = "build cache"
BUILDS = "verilator"
Rows = dict[str, Counts]


def main() -> int:
    """Run the requested trials; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200, help="for each verb (default 200)")
    parser.add_argument("--pairs", type=int, default=50, help="for each place (default 50)")
    parser.add_argument("--builds", type=int, default=2, help="real builds (default 2)")
    parser.add_argument("--alone", type=int, default=2, help="moments of processes not forked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", help="a row's name; may be repeated")
    parser.add_argument(
        "--faults", action="store_true", help="plant each fault, and check its detection"
    )
    args = parser.parse_args()
    names = list(FAULTS) if args.faults else [*(verb.name for verb in VERBS), CACHE, BUILDS]
    names = [name for name in names if not args.only or name in args.only]
    path = os.environ.get("PATH", "")
    _prepare()
    tables: dict[str, list[tuple[str, Counts]]] = {}
    with tempfile.TemporaryDirectory(prefix="trials-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder  # killed processes leave files in it
        for name, rows in _done(names, args, Path(folder), path):
            tried = {kind: sum(counts.outcomes.values()) for kind, counts in rows.items()}
            print(f"{name}: tried {tried}", file=sys.stderr, flush=True)
            for kind, counts in rows.items():
                tables.setdefault(kind, []).append((name, counts))
                for fault in counts.faults:
                    print(f"{name} ({kind}): {fault}", flush=True)
    for kind, found in tables.items():
        _show(kind, sorted(found, key=lambda row: names.index(row[0])))
    return 1 if any(counts.faults for found in tables.values() for _, counts in found) else 0


def _prepare() -> None:
    """Import everything, so that forked processes need not."""
    for tree in (merp.cosim, merp.tools):
        for module in walk_packages(tree.__path__, f"{tree.__name__}."):
            import_module(module.name)
    remember()
    # If GHDL is installed, it analyses each export, which takes long and writes nothing there.
    folders = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(
        folder for folder in folders if shutil.which("ghdl", path=folder) is None
    )


def _rows(name: str, args: argparse.Namespace, folder: Path, path: str) -> Rows:
    """Run the trials of one row of each table."""
    if args.faults:
        fault = FAULTS[name]
        numbers = {"kills": 0, "pairs": 0} | {fault.kind: fault.number}
        found = _trials(fault.row, numbers, args.seed, 0, folder, fault.plant)[fault.kind]
        seen = Counts()
        seen.add(0, "seen", [] if found.faults else [f"not seen in {fault.number} trials"])
        return {"faults": seen}
    if name == BUILDS:
        os.environ["PATH"] = path
        return {"builds": try_builds(folder, args.builds, args.seed)} if args.builds else {}
    numbers = {"kills": args.moments, "pairs": args.pairs}
    return _trials(name, numbers, args.seed, args.alone, folder, None)


def _trials(
    name: str, numbers: dict[str, int], seed: int, alone: int, folder: Path, plant: Plant | None
) -> Rows:
    moments, pairs = range(numbers["kills"]), range(numbers["pairs"])
    if name == CACHE:
        kept = cache.Kept(folder, plant)
        return {
            "kills": cache.try_kills(kept, moments, seed),
            "pairs": cache.try_pairs(kept, pairs, seed),
        }
    (verb,) = (verb for verb in VERBS if verb.name == name)
    place = Place(verb, folder, plant)
    rows = {"kills": try_kills(place, moments, seed, alone)}
    return rows | {"pairs": try_pairs(place, pairs, seed)} if verb.pairs else rows


def _done(
    names: Sequence[str], args: argparse.Namespace, folder: Path, path: str
) -> Iterator[tuple[str, Rows]]:
    """Run each row in a process forked from this one, ``jobs`` in parallel."""
    waiting, running = list(names), dict[int, str]()
    while waiting or running:
        while waiting and len(running) < args.jobs:
            name = waiting.pop(0)
            place = folder / name.replace(" ", "")
            place.mkdir()
            pid = os.fork()
            if not pid:
                status = 1
                try:
                    rows = _rows(name, args, place, path)
                    told = {kind: vars(counts) for kind, counts in rows.items()}
                    (place / "rows.json").write_text(json.dumps(told))
                    status = 0
                except Exception:
                    traceback.print_exc()
                finally:
                    sys.stderr.flush()
                    os._exit(status)
            running[pid] = name
        pid, status = os.wait()
        name = running.pop(pid)
        place = folder / name.replace(" ", "")
        if status:
            yield name, {"kills": Counts(faults=["the trials themselves failed"])}
        else:
            told = json.loads((place / "rows.json").read_text())
            yield name, {kind: Counts(**counts) for kind, counts in told.items()}
        shutil.rmtree(place, ignore_errors=True)


def _show(kind: str, rows: Sequence[tuple[str, Counts]]) -> None:
    print(f"\n{kind:18}" + "".join(f"{column:>13}" for column in COLUMNS[kind]))
    for name, counts in rows:
        found = {**counts.outcomes, "ended before": counts.alive}
        print(f"{name:18}" + "".join(f"{found.get(column, 0):13}" for column in COLUMNS[kind]))


if __name__ == "__main__":
    sys.exit(main())
