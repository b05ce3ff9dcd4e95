"""The verdicts of Verilator on exported designs."""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from merp.cosim.engines.simulators import find_verilator
from merp.cosim.engines.verilator_runtime import Runtime, model_flags
from side_by_side.engine import BrokenError, Engine
from side_by_side.job import Job, Row
from side_by_side.verdict import first_error, verdict_of
from side_by_side.verilator_bench import bench_of_all, harness

_FLAGS = (
    "-Wno-lint", "-Wno-style", "-Wno-SYMRSVDWORD", "-Wno-fatal", "--x-initial", "unique",
    "--x-assign", "unique", "--top-module", "bench",
)  # fmt: skip


class Verilator(Engine):
    """Verilator: a module that instantiates all designs, and one program in C++ for it."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.verilator = find_verilator()

    def verdicts(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Build and run all designs together, and without those that break this."""
        if not jobs:
            return {}
        try:
            seen = self._simulated(jobs)
        except BrokenError as error:
            return self._verdicts_apart(jobs, str(error))
        return {job.name: verdict_of(job, seen[job.name]) for job in jobs}

    def _verdicts_apart(self, jobs: Sequence[Job], said: str) -> dict[str, str]:
        """The verdicts where the common simulation breaks."""
        refusals = {job.name: refusal for job in jobs if (refusal := self._refusal(job))}
        if refusals:
            found = {name: f"invalid: {refusal}" for name, refusal in refusals.items()}
            return found | self.verdicts([job for job in jobs if job.name not in refusals])
        if len(jobs) == 1:
            return {jobs[0].name: f"differs: {first_error(said)}"}
        guilty = set(re.findall(r"\b(\w+)/\w+\.v\b", said)) & {job.name for job in jobs}
        parts = [
            [job for job in jobs if job.name in guilty],
            [job for job in jobs if job.name not in guilty],
        ]
        if not all(parts):
            parts = [list(jobs[: len(jobs) // 2]), list(jobs[len(jobs) // 2 :])]
        return self.verdicts(parts[0]) | self.verdicts(parts[1])

    def _refusal(self, job: Job) -> str:
        """What Verilator has against the Verilog of a design."""
        flags = "--lint-only", "-Wno-lint", "-Wno-style", "-Wno-fatal", "-Wno-SYMRSVDWORD"
        try:
            self._verilate(*flags, "--top-module", job.export.top, *self.files(job))
        except BrokenError as error:
            return first_error(str(error))
        return ""

    def _simulated(self, jobs: Sequence[Job]) -> dict[str, list[Row]]:
        """Verilate, compile and run the bench.

        Raises:
            BrokenError: one of these fails.
        """
        cycles = max(len(job.trace.rows) for job in jobs)
        (self.place / "bench.v").write_text(bench_of_all(jobs), encoding="ascii")
        (self.place / "harness.cpp").write_text(harness(jobs, cycles), encoding="ascii")
        rows = {job.name: job.rows(job.inputs) for job in jobs}
        with (self.place / "all.in").open("w") as given:
            for cycle in range(cycles):
                for job in jobs:
                    if cycle < len(job.trace.rows):
                        given.write("".join(f"{bits}\n" for bits in rows[job.name][cycle]))
        objects = self.place / "obj"
        shutil.rmtree(objects, ignore_errors=True)
        files = dict.fromkeys(file for job in jobs for file in self.files(job))
        self._verilate("--cc", "--exe", *_FLAGS, "--Mdir", "obj", "bench.v", *files, "harness.cpp")
        runtime = Runtime(self.verilator, ("side by side",))
        runtime.lend(objects)
        self.call(
            ["make", "-C", "obj", "-f", "Vbench.mk", "-j", "2", "CXX=g++", "LINK=g++",
             f"PYTHON3={sys.executable}", "CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=",
             *model_flags("O0")],
            self.verilator.environment,
        )  # fmt: skip
        for path in objects.glob("harness*.o"):
            path.unlink()  # it is of this bench; the library alone is kept
        runtime.keep(objects)
        self.call(["obj/Vbench"], None)
        return self._seen(jobs)

    def _verilate(self, *args: str) -> None:
        self.call([self.verilator.compiler, *args], self.verilator.environment)

    def _seen(self, jobs: Sequence[Job]) -> dict[str, list[Row]]:
        """The outputs, as the program has written them."""
        found: dict[str, list[Row]] = {job.name: [] for job in jobs}
        for cycle, line in enumerate((self.place / "all.out").read_text().splitlines()):
            words: Iterator[str] = iter(line.split())
            for job in jobs:
                if cycle < len(job.trace.rows):
                    found[job.name].append(tuple(next(words) for _ in job.outputs))
        return found
