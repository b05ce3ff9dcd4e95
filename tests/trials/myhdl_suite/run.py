"""Convert every design of MyHDL's own test suite for conversion, and compare each with MyHDL.

The suite is part of MyHDL's source distribution. Its tests run in the unpacked distribution, each
file in a separate process. The plug-in next to this script replaces MyHDL's ``verify``.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import Any

from suite_page import page
from suite_table import ENGINES, counts, rows

VERSION = "0.11.52"
HERE = Path(__file__).resolve().parent
TESTS = "myhdl/test"
SUITES = ("conversion", "bugs")
SECONDS = 1500


def _fetched(folder: Path) -> Path:
    """Download the source distribution."""
    command = [
        sys.executable, "-m", "pip", "download", f"myhdl=={VERSION}", "--no-deps",
        "--no-binary", ":all:", "--quiet", "--disable-pip-version-check", "--dest", str(folder),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    (found,) = folder.glob("myhdl-*.tar.gz")
    return found


def _unpacked(tarball: Path, folder: Path) -> Path:
    """Unpack the source distribution, and find its folder."""
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter="data")
    (found,) = (each for each in folder.iterdir() if (each / TESTS).is_dir())
    return found


def _tried(test: Path, engines: list[str], folder: Path) -> dict[str, Any]:
    """Run the tests of a file in a separate process, and read its results."""
    folder.mkdir(parents=True)
    result = folder / "result.json"
    request = {"engines": engines, "folder": str(folder / "designs"), "result": str(result)}
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    work = folder / "work"
    work.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="ascii")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "suite_plugin", "-p", "no:cacheprovider",
        "-c", str(folder / "pytest.ini"), "--import-mode=prepend", str(test),
    ]  # fmt: skip
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "MYHDL_SUITE": str(folder / "request.json"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # because it takes a second of each file
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    began = perf_counter()
    said = ""
    with (folder / "log").open("w") as log:
        try:
            subprocess.run(
                command, cwd=work, env=environment, stdout=log, stderr=subprocess.STDOUT,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            said = f"more than {SECONDS} s"
    found: dict[str, Any] = {"designs": []}
    if result.is_file():
        found = json.loads(result.read_text(encoding="utf-8"))
    if not found.pop("complete", False):
        found["broken"] = said or (folder / "log").read_text(errors="replace")[-2000:]
    return found | {"seconds": round(perf_counter() - began, 1)}


def _tests(root: Path, suite: str, only: list[str]) -> list[tuple[str, Path]]:
    """Return the files with tests, by their names in the table; the largest first."""
    folder = root / TESTS / suite
    found = [(each.relative_to(folder).as_posix(), each) for each in folder.rglob("test_*.py")]
    wanted = [each for each in found if not only or any(word in each[0] for word in only)]
    return sorted(wanted, key=lambda each: -each[1].stat().st_size)


def _all(
    tests: list[tuple[str, Path]], engines: list[str], jobs: int, folder: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the results of each file of the suite as soon as they are available."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            pool.submit(_tried, test, engines, folder / str(number)): name
            for number, (name, test) in enumerate(tests)
        }
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", action="append", choices=tuple(ENGINES), help="default: both")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time")
    parser.add_argument("--source", type=Path, help="source distribution (default: download it)")
    parser.add_argument("--suite", choices=SUITES, default=SUITES[0], help="default: %(default)s")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="some files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the page of the documentation"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files here")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the suite and write the results; return 0 if every file was completed."""
    args = _parser().parse_args(words)
    engines = list(dict.fromkeys(args.engine or ENGINES))
    began = perf_counter()
    files: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        root = _unpacked(args.source or _fetched(Path(temporary)), Path(temporary))
        folder = args.keep or Path(temporary) / "runs"
        tests = _tests(root, args.suite, args.only)
        for file, result in _all(tests, engines, args.jobs, folder):
            files[file] = result
            broken = "  BROKEN" if "broken" in result else ""
            print(
                f"{file}: {len(result['designs'])} designs, {result['seconds']} s{broken}",
                flush=True,
            )
            if args.json:
                args.json.write_text(json.dumps(dict(sorted(files.items())), indent=1) + "\n")
    found = rows(files, engines)
    for what, number in counts(found, engines).items():
        print(f"{number:5} {what}")
    print(f"{perf_counter() - began:.0f} s")
    if args.markdown:
        args.markdown.write_text(page(found, engines, args.suite), encoding="utf-8")
    return int(any("broken" in result for result in files.values()))


if __name__ == "__main__":
    sys.exit(main())
