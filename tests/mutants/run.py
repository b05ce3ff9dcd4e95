"""Plant one-line faults in the hardware and see the tests fail.

Each mutant of ``mutants.toml`` names a file, a line of it, the faulty line, and the tests to run
(the block's own first). A mutant is killed when a test fails; a mutant whose line is not found, or
with which no test runs at all, is an error of the list and fails the run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")
LIMIT = 900  # seconds; running out of time shows nothing and does not count as killed


@dataclass(frozen=True)
class Mutant:
    """One planted fault."""

    file: str
    line: str
    fault: str
    tests: tuple[str, ...]


def read_mutants(path: Path) -> list[Mutant]:
    """Read the list; a line must occur exactly once in its file."""
    mutants = []
    for entry in tomllib.loads(path.read_text())["mutant"]:
        mutant = Mutant(entry["file"], entry["line"], entry["fault"], tuple(entry["tests"]))
        found = (ROOT / mutant.file).read_text().count(mutant.line)
        if found != 1:
            raise SystemExit(f"{path}: {mutant.file}: {mutant.line!r} occurs {found} times, not 1")
        mutants.append(mutant)
    return mutants


def try_mutant(mutant: Mutant, home: Path) -> tuple[str, float]:
    """Return ``killed``, ``survived``, ``timeout`` or ``error``, and the seconds it took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir=home) as folder:
        tree = Path(folder)
        for name in (*FOLDERS, "tests"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        package = tree / ".typing" / "merp"
        package.mkdir(parents=True)
        for name in FOLDERS:
            (package / name).symlink_to(tree / name)
        file = tree / mutant.file
        file.write_text(file.read_text().replace(mutant.line, mutant.fault))
        environment = os.environ | {
            "PYTHONPATH": str(tree / ".typing"),
            "NUMBA_CACHE_DIR": str(home / "numba"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        verdict = "survived"
        for test in mutant.tests:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not full"]
            try:
                status = subprocess.run(
                    [*command, *test.split()],
                    cwd=tree,
                    env=environment,
                    capture_output=True,
                    timeout=LIMIT,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                verdict = "timeout"
                break
            if status == 1:
                verdict = "killed"
                break
            if status != 0:  # a test that does not collect or run has shown nothing
                verdict = "error"
                break
    return verdict, time.monotonic() - start


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
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda m: (m, *try_mutant(m, Path(folder))), mutants)
        for mutant, verdict, seconds in results:
            verdicts.append(verdict)
            print(
                f"{verdict:9} {seconds:5.0f} s  {mutant.file}: "
                f"{mutant.line.strip()}  ->  {mutant.fault.strip()}",
                flush=True,
            )
    killed = verdicts.count("killed")
    print(f"{killed} of {len(verdicts)} mutants killed")
    return 0 if verdicts and killed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
