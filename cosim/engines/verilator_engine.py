"""The Verilator engine: compiled Verilog of the same blocks, for whole layers at RTL."""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from time import perf_counter
from typing import IO

import numpy as np

from merp.cosim.engines.job import Job, Playing, Wanted
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.programs.pulse import Watched
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.verilator_build import EXECUTABLE
from merp.cosim.engines.verilator_builds import Built, executables
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.scope import Scope
from merp.models.base.errors import CheckFailed
from merp.testbenches.top.border import Border, Left
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Outcome, Run, Stuck
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

NEVER = (1 << 64) - 1
COMMENT = re.compile(r"^[ \t]*//.*\n|[ \t]*//.*$", re.MULTILINE)
STATEMENT = re.compile(r"\n+(?=    (?!end|\))\S|endmodule)")
"""The start of the next declaration or statement of a module, or the end of the module."""

PROGRESS, OUTCOME, STUCK, WINDOW = 0, 1, 2, 3


def run_job(job: Job, progress: Progress | None = None) -> list[RunRecord]:
    """Convert, build (or load from the cache) and run every run of the job in one process.

    Raises:
        BadInput: there is no simulator, or the instance of the waveform does not exist.
    """
    began = perf_counter()
    with closing(executables(job.wanted or [Wanted(job.top)], job.wave)) as builds:
        built = next(builds)
        playing = Playing(job, "verilator", built.sha, began)
        with _Simulation(built, job.top, job.wave) as simulation:
            for run in playing.runs():
                playing.deliver(simulation.play(run, job, progress))
        for _ in builds:  # the tops of later jobs
            pass
    return playing.records


def _shown(top: Top, wave: Wave, scope: Scope | None) -> list[str]:
    """Return the harness's arguments for a waveform."""
    shown = [top.name, str(wave.path.resolve())]
    assert scope is not None  # set in a build with a waveform
    if wave.scope(scope) is not None:
        assert wave.below is not None
        ports = ["clk", *(pin.name for pin in top.ports.signals())]
        shown += [f"{top.name}.{name}" for name in ports]
        shown.append(".".join((top.name, *wave.below)))
    return shown


def verilog_sha(top: Top, *, ordered: bool = True) -> str:
    """Return the fingerprint of the Verilog of ``top``.

    It identifies the hardware, independent of the simulator. Comments are ignored. They quote
    docstrings and name parameters that a design does not use.

    Args:
        ordered: whether the order of a module's declarations and statements counts. The order
            affects the result of synthesis, but not the function: all statements are concurrent.
    """
    digest = hashlib.sha256()
    with scratch() as folder:
        for source in convert(top.function, top.args, "verilog", folder, fold=False).files:
            code = COMMENT.sub("", source.read_text(encoding="utf-8"))
            if not ordered:
                code = "\n".join(sorted(STATEMENT.split(code)))
            digest.update(f"{source.name}\0{code}".encode())
    return digest.hexdigest()


class _Simulation:
    """The running harness. ``harness.cpp`` describes the layout of its messages."""

    def __init__(self, built: Built, top: Top, wave: Wave | None) -> None:
        self._ports = top.ports
        shown = _shown(top, wave, built.scope) if wave is not None else []
        self._errors = tempfile.TemporaryFile()
        self._children = Children()
        self._process = self._children.start(
            [str(built.entry.place / EXECUTABLE), *shown],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._watched = Watched(self._process)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to: IO[bytes] = self._process.stdin
        self._from: IO[bytes] = self._process.stdout

    def __enter__(self) -> _Simulation:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if kind in (None, Stuck):  # the waveform, which shows the cause, is written to its end
                self._send([0])
                self._to.flush()
                self._process.wait()
        finally:
            self._watched.end()
            self._children.end()
            self._errors.close()

    def play(self, run: Run, job: Job, progress: Progress | None) -> Outcome:
        """Run one run of a job.

        Raises:
            Stuck: the harness reports it.
            CheckFailed: the simulation was ended by a signal.
            RuntimeError: the simulation ended early without a signal.
        """
        with self._listening():
            self._begin(run, job)
        while True:
            kind = self._word()
            if kind == PROGRESS:
                cycles, words = self._words(2)
                if progress:
                    progress(cycles, words)
            elif kind == STUCK:
                text = self._text()
                raise Stuck(text, {pin.name: self._word() for pin in self._ports.status})
            elif kind == WINDOW:
                assert job.border is not None
                self._exchange(job.border)
            else:
                return self._outcome()

    def _begin(self, run: Run, job: Job) -> None:
        """Send the run to the harness."""
        reset_at = NEVER if run.reset_at is None else run.reset_at
        window = 0 if job.border is None else job.border.window
        config = (run.config[pin.name] for pin in self._ports.config)
        self._send([1, reset_at, job.limit, window, *config])
        for pin in self._ports.inputs:
            self._send([len(run.words[pin.name])])
            self._to.write(np.asarray(run.words[pin.name]).astype("<u8").tobytes())
            self._send_list(run.pattern(pin.name))
            self._send(self._answer(run, pin.name))
        for pin in self._ports.outputs:
            self._send_list(run.pattern(pin.name))
        for pin in self._ports.streams:
            self._send_list(run.ends.get(pin.name, ()))
        self._to.flush()

    def _exchange(self, border: Border) -> None:
        """Send a time window's outputs to the other simulations, and its inputs to the harness."""
        leaving = len(self._ports.leaving)
        rows = [self._words(leaving) for _ in range(border.window)]
        moved, end = self._words(2)
        come = border.exchange(Left(rows, moved, None if end == NEVER else end))
        done = NEVER if come.done is None else come.done
        with self._listening():
            self._send([*chain.from_iterable(come.rows), come.moved, done])
            self._to.flush()

    def _answer(self, run: Run, source: str) -> tuple[int, int, int]:
        answer = run.answers.get(source)
        if answer is None:
            return NEVER, 1, 0
        outputs = [pin.name for pin in self._ports.outputs]
        return outputs.index(answer.stream), answer.words, answer.given

    def _outcome(self) -> Outcome:
        cycles, resets, nanoseconds = self._words(3)
        counts = {pin.name: self._words(3) for pin in self._ports.streams}
        words = {
            pin.name: np.frombuffer(self._bytes(8 * counts[pin.name][0]), "<u8")
            for pin in self._ports.outputs
        }
        status = {pin.name: self._word() for pin in self._ports.status}
        return Outcome(
            words=words,
            transfers={name: count for name, (count, _, _) in counts.items()},
            first={name: _cycle(first) for name, (_, first, _) in counts.items()},
            last={name: _cycle(last) for name, (_, _, last) in counts.items()},
            status=status,
            cycles=cycles,
            resets=resets,
            faults=tuple(self._text() for _ in range(self._word())),
            seconds=nanoseconds * 1e-9,
        )

    def _send(self, words: Sequence[int]) -> None:
        self._to.write(struct.pack(f"<{len(words)}Q", *words))

    def _send_list(self, words: Sequence[int]) -> None:
        self._send([len(words), *words])

    def _bytes(self, size: int) -> bytes:
        with self._watched:
            data = self._from.read(size)
        if len(data) != size:
            raise self._ended()
        return data

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Send something to the harness. If it no longer reads, raise an error with the reason."""
        try:
            with self._watched:
                yield
        except BrokenPipeError as error:
            raise self._ended() from error

    def _ended(self) -> Exception:
        status = self._process.wait()
        if status < 0:
            return CheckFailed(f"the simulation was ended by signal {-status}")
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        return RuntimeError(f"the simulation ended early, status {status}: {text}")

    def _words(self, number: int) -> tuple[int, ...]:
        return struct.unpack(f"<{number}Q", self._bytes(8 * number))

    def _word(self) -> int:
        return self._words(1)[0]

    def _text(self) -> str:
        return self._bytes(self._word()).decode()


def _cycle(word: int) -> int:
    return -1 if word == NEVER else word
