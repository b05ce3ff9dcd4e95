"""The GHDL engine: cocotb drives the exported VHDL. It is meant for small shapes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from merp.cosim.engines.cocotb_runner import runner_in
from merp.cosim.engines.job import Job, Playing
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.simulators import NO_REWRITING, check_ghdl, check_ghdl_log
from merp.hdl.conversion.convert import Export, convert
from merp.models.base.errors import CheckFailed
from merp.testbenches.top.job_files import FOLDER, POLL_SECONDS, put, run_to_json
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Outcome, Stuck
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

STANDARD = "--std=08"
BENCH = "merp.testbenches.top.top_cocotb"


def run_job(job: Job, progress: Progress | None = None) -> list[RunRecord]:
    """Export, analyse and run every run of the job in one simulation.

    Raises:
        BadInput: GHDL or cocotb is not installed, or the waveform names an unknown instance.
        RuntimeError: GHDL rejects the VHDL, or the simulation ends without results.
    """
    return play(job, job.top, BENCH, {}, progress)


def play(
    job: Job,
    exported: Top,
    bench: str,
    told: Mapping[str, Any],
    progress: Progress | None = None,
) -> list[RunRecord]:
    """Run a job on the VHDL of ``exported``, which is the job's top or contains it.

    ``bench`` is the cocotb module that runs the job. ``told`` holds additional entries for its
    ``job.json``. The exceptions are those of ``run_job``.
    """
    check_ghdl()
    began = perf_counter()
    with scratch() as folder:
        vhdl = folder / "vhdl"
        vhdl.mkdir()
        # GHDL's waveforms omit arrays. Therefore they use VHDL with a separate signal for each
        # element.
        plain = job.wave is not None
        export = convert(exported.function, exported.args, "vhdl", vhdl, fold=not plain)
        sha = _sha(export.files)
        simulation = GhdlSimulation(export.top, export.files, folder, bench)
        playing = Playing(job, "ghdl", sha, began)
        put(folder / "job.json", {"ports": job.top.ports.to_json(), "limit": job.limit, **told})
        with simulation.running(_wave_options(job.wave, export, folder)):
            for index, run in enumerate(playing.runs()):
                put(folder / f"run{index}.json", run_to_json(run))
                answer = simulation.answer(index)
                outcome = Outcome(**{**answer, "faults": tuple(answer["faults"])})
                if progress:
                    progress(outcome.cycles, sum(len(w) for w in outcome.words.values()))
                playing.deliver(outcome)
            put(folder / f"run{len(playing.records)}.json", None)
    return playing.records


def _wave_options(wave: Wave | None, export: Export, folder: Path) -> tuple[str, ...]:
    """Return GHDL's options for a waveform. A file in ``folder`` lists the recorded signals.

    Raises:
        BadInput: the instance does not exist.
    """
    if wave is None:
        return ()
    shown = [f"/{export.top}/{port.name}" for port in export.ports]
    if wave.scope(export.scope) is not None:
        assert wave.below is not None
        shown.append("/" + "/".join((export.top, *wave.below, "**")))
    chosen = folder / "wave.opt"
    chosen.write_text("\n".join(("$version 1.1", *shown, "")), encoding="ascii")
    return f"--{wave.kind}={wave.path.resolve()}", f"--read-wave-opt={chosen}"


def _sha(sources: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


class GhdlSimulation:
    """A GHDL simulation in a job folder, under the cocotb module ``bench``.

    See ``forward_cocotb`` for the files in the folder.
    """

    def __init__(self, top: str, sources: Sequence[Path], folder: Path, bench: str) -> None:
        # optional: if it is missing, BadInput is raised above
        from cocotb_tools.runner import get_runner

        self._top = top
        self._bench = bench
        self._folder = folder
        self._runner = get_runner("ghdl")
        self._ended: Future[Path] | None = None
        log = folder / "build.log"
        try:
            # With GHDL, cocotb's runner needs the build and the test in the same folder.
            with Children() as children:
                runner_in(children, self._runner).build(
                    sources=list(sources),
                    hdl_toplevel=top,
                    build_dir=folder,
                    build_args=[STANDARD],
                    always=True,
                    log_file=log,
                )
        except (SystemExit, RuntimeError) as error:
            raise RuntimeError(f"ghdl refuses the VHDL: {_tail(log)}") from error

    @contextmanager
    def running(self, options: Sequence[str] = ()) -> Iterator[None]:
        """Run the simulation and read its results at the end.

        The results are read here because the runner may not have read them.

        Args:
            options: of GHDL's simulation.
        """
        from cocotb_tools.check_results import get_results

        with ThreadPoolExecutor(1) as pool, Children() as children:
            runner_in(children, self._runner)
            self._ended = pool.submit(self._simulate, options)
            try:
                yield
            except Exception:  # the simulation ends without a signal; its waveform shows the fault
                (self._folder / "stop").touch()
                wait([self._ended])
                raise
            tests, failed = get_results(self._ended.result())
            if (tests, failed) != (1, 0):
                raise RuntimeError(f"{failed} of {tests} cocotb tests failed, 1 must pass")
            check_ghdl_log(self._folder / "test.log")

    def _simulate(self, options: Sequence[str]) -> Path:
        return self._runner.test(
            test_module=self._bench,
            hdl_toplevel=self._top,
            hdl_toplevel_lang="vhdl",
            build_dir=self._folder,
            test_dir=self._folder,
            test_args=[STANDARD],
            plusargs=list(options),
            extra_env={FOLDER: str(self._folder), "COCOTB_ANSI_OUTPUT": "0", **NO_REWRITING},
            log_file=self._folder / "test.log",
        )

    def answer(self, index: int) -> dict[str, Any]:
        """Wait for the outcome of a run and return it as plain values.

        Raises:
            Stuck: the testbench reports it.
            RuntimeError: the simulation ended without an outcome.
        """
        assert self._ended is not None
        path, error = self._folder / f"outcome{index}.json", self._folder / "error.json"
        while not path.exists():
            # checked first, because the simulation may still leave files before its end
            ended = self._ended.done()
            if error.exists():
                plain = json.loads(error.read_text(encoding="ascii"))
                text, stuck = plain["text"], plain["stuck"]
                raise RuntimeError(text) if stuck is None else Stuck(text, stuck)
            if ended and not path.exists():
                if isinstance(failure := self._ended.exception(), CheckFailed):
                    raise failure
                raise RuntimeError(
                    f"the simulation ended early: {_tail(self._folder / 'test.log')}"
                )
            sleep(POLL_SECONDS)
        answer: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
        return answer


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:] if log.exists() else "no log"
