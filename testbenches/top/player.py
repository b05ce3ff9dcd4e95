"""Plays runs on a top: the timing protocol that every engine follows.

For cycle t the inputs change after edge t-1; all pins are sampled just before edge t. ``player``
is a generator. It yields the pins to change for the next cycle, and is resumed just before the edge
that ends this cycle. ``harness.cpp`` plays the same protocol in C++.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from time import perf_counter

from merp.testbenches.top.border import Alone, Border, RunCourse, Together
from merp.testbenches.top.run import RESET_CYCLES, TAIL_CYCLES, Outcome, Run, Stuck
from merp.testbenches.top.streams import Changes, Monitor, Read, Sink, Source, StreamPins
from merp.testbenches.top.top import TopPorts

Progress = Callable[[int, int], None]
"""``progress(cycles, words)``: clock cycles and output words of this run so far."""

PROGRESS_CYCLES = 4096


def player(
    ports: TopPorts,
    read: Callable[[str], Read],
    runs: Iterable[Run],
    deliver: Callable[[Outcome], None],
    limit: int,
    progress: Progress | None = None,
    border: Border | None = None,
) -> Iterator[Changes]:
    """Play ``runs`` one after the other, without a reset in between.

    ``read(name)`` returns a function that reads a pin. ``deliver`` receives the outcome of each
    run before the next run is taken from ``runs``. ``border`` is the interface to the other tops
    that run together with this one, each in a separate simulation.

    Raises:
        Stuck: no word moved for ``limit`` cycles.
    """
    pins = {stream.name: StreamPins.of(stream, read) for stream in ports.streams}
    status = {pin.name: read(pin.name) for pin in ports.status}
    done = status["status_done"]

    def course() -> RunCourse:
        return Alone(done) if border is None else Together(ports, read, done, border)

    quiet = _quiet(ports)
    yield from _reset(quiet | {pin.name: 0 for pin in ports.config})
    for run in runs:
        run.check(ports)
        began = perf_counter()
        resets = 0
        attempt = _Attempt(ports, pins, status, run, course())
        if not (yield from attempt.play(quiet, limit, progress, run.reset_at)):
            resets = 1
            yield from _reset(quiet)
            attempt = _Attempt(ports, pins, status, run, course())
            yield from attempt.play(quiet, limit, progress, None)
        deliver(attempt.outcome(resets, perf_counter() - began))


def _quiet(ports: TopPorts) -> Changes:
    """Return idle inputs: no valid, no ready and no start."""
    quiet = {"start": 0}
    for stream in ports.inputs:
        quiet |= {f"{stream.name}_{field}": 0 for field in ("tdata", "tvalid", "tlast")}
        if stream.keep:
            quiet[f"{stream.name}_tkeep"] = 0
    return quiet | {f"{stream.name}_tready": 0 for stream in ports.outputs}


def _reset(changes: Changes) -> Iterator[Changes]:
    yield changes | {"rst": 1}
    for _ in range(RESET_CYCLES - 1):
        yield {}


class _Attempt:
    """One run from ``start`` to ``status_done``, or to a reset."""

    def __init__(
        self,
        ports: TopPorts,
        pins: Mapping[str, StreamPins],
        status: Mapping[str, Read],
        run: Run,
        course: RunCourse,
    ) -> None:
        self._ports = ports
        self._course = course
        self._run = run
        self._status = status
        ends = {pin.name: run.ends.get(pin.name, ()) for pin in ports.streams}
        self._sources = [
            Source(pin, run.words[pin.name].tolist(), run.pattern(pin.name), ends[pin.name])
            for pin in ports.inputs
        ]
        self._sinks = [Sink(pin.name, run.pattern(pin.name)) for pin in ports.outputs]
        self._in = [Monitor(pin, pins[pin.name], len(run.words[pin.name])) for pin in ports.inputs]
        self._out = [Monitor(pin, pins[pin.name], None, ends[pin.name]) for pin in ports.outputs]
        sources = dict(zip((pin.name for pin in ports.inputs), self._sources, strict=True))
        outputs = {monitor.name: monitor for monitor in self._out}
        self._answers = [
            (sources[name], each, outputs[each.stream]) for name, each in run.answers.items()
        ]
        self._final: dict[str, int] = {}
        self._moved: list[str] = []
        self._cycles = 0

    def play(
        self, quiet: Changes, limit: int, progress: Progress | None, reset_at: int | None
    ) -> Generator[Changes, None, bool]:
        """Play the run; return False if it was reset."""
        course = self._course
        inputs = list(zip(self._in, self._sources, strict=True))
        changes: Changes = {**quiet, **self._run.config, "rst": 0, "start": 1}
        t = 0
        end: int | None = None  # the cycle in which the end of the run became known
        while True:
            for source, answer, output in self._answers:
                source.known = answer.known(output.count)
            for source in self._sources:
                source.drive(t, changes)
            for sink in self._sinks:
                sink.drive(t, changes)
            course.begin(t, changes)
            yield changes
            moved = False
            for monitor, source in inputs:
                if monitor.sample(t):
                    source.taken()
                    moved = True
            for monitor in self._out:
                if monitor.sample(t):
                    moved = True
                    if end is not None:
                        monitor.after_done(t)
            if end is None:
                done = course.end(t, moved)
                if done is not None:
                    end, self._cycles = t, done
                    self._final = {name: int(read()) for name, read in self._status.items()}
                elif t == reset_at:
                    return False
                elif t - course.moved >= limit:
                    raise self._stuck(t, limit)
            elif t == end + TAIL_CYCLES:
                break
            if progress and not t % PROGRESS_CYCLES:
                progress(t, sum(monitor.count for monitor in self._out))
            changes = {} if t else {"start": 0}
            t += 1
        self._moved = [name for name, value in self._final.items() if self._status[name]() != value]
        return True

    def outcome(self, resets: int, seconds: float) -> Outcome:
        """Collect the observations of the monitors."""
        monitors = self._in + self._out
        for monitor in monitors:
            monitor.finish()
        faults = [fault for monitor in monitors for fault in monitor.faults]
        faults += [f"{name} changed after done" for name in self._moved]
        return Outcome(
            words={monitor.name: monitor.words for monitor in self._out},
            transfers={monitor.name: monitor.count for monitor in monitors},
            first={monitor.name: monitor.first for monitor in monitors},
            last={monitor.name: monitor.last for monitor in monitors},
            status=self._final,
            cycles=self._cycles,
            resets=resets,
            faults=tuple(faults),
            seconds=seconds,
        )

    def _stuck(self, t: int, limit: int) -> Stuck:
        streams = ", ".join(
            f"{monitor.name} {monitor.count} words (valid {monitor.valid}, ready {monitor.ready})"
            for monitor in self._in + self._out
        )
        status = {name: int(read()) for name, read in self._status.items()}
        told = ", ".join(f"{name} {value}" for name, value in status.items())
        return Stuck(f"no word moved for {limit} cycles (cycle {t}): {streams}; {told}", status)
