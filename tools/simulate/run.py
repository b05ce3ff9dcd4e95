"""Run a sitting on a simulator, and store finished results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from merp.cosim.engines.job import Wanted
from merp.cosim.phases.audit.audit import combine
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, given, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.network.phases import phase_on
from merp.testbenches.top.wave import Wave
from merp.tools.common.progress import Progress
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.result import PassResult, joined
from merp.tools.simulate.simulated import Sitting, Turn

Key = tuple[str, str]
"""Layer and phase."""


def _key(turn: Turn) -> Key:
    return turn.layer.name, turn.phase.name


@dataclass
class _Found:
    """The results of turns so far.

    Attributes:
        asked: layer and phase of each pass that ran, or None if it only prepared other passes.
        results: results by layer and phase.
        faults: failures of passes that only prepared others.
    """

    asked: list[Key | None] = field(default_factory=list)
    results: dict[Key, PassResult] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def of(self, key: Key, every: Sequence[Audited]) -> list[Audited]:
        """Return the elements of ``every`` pass that belong to a layer and phase."""
        return [each for each, asked in zip(every, self.asked, strict=True) if asked == key]


def simulate(
    sitting: Sitting,
    joint: int,
    images: int,
    finished: Finished | None,
    engine: str,
    wave: Wave | None,
    bar: Progress,
    wanted: Sequence[Wanted],
) -> list[PassResult]:
    """Run turns back to back on one elaboration; return a result for each layer and phase.

    Args:
        sitting: the turns.
        joint: axis of a layer's output maps along which its turns are joined.
        images: images of a run.
        finished: store of finished results, or None.
        engine: the simulator.
        wave: the waveform, or None.
        bar: receives the progress.
        wanted: the top of this sitting, and those of the following sittings.
    """
    found = _Found()
    passes = _passes(sitting, joint, images, finished, bar, found)
    with bar.spent.on("simulating"):
        audited = run_and_audit(sitting.top, passes, engine, wave, bar.update, wanted)
    if audited:
        bar.spent.recount("simulating", "building", audited[-1].record.build_seconds)
    results = found.results
    if wave is not None:  # a run with a waveform does not resume: every layer has run
        results = {
            key: replace(each, audit=combine([one.audit for one in found.of(key, audited)]))
            for key, each in results.items()
        }
    asked = dict.fromkeys(_key(turn) for turn in sitting.turns if turn.asked)
    return [_blamed(results[key], found.faults) for key in asked]


def _blamed(result: PassResult, faults: Sequence[str]) -> PassResult:
    """Return a result with the failures of earlier passes, which make it unreliable."""
    if not faults:
        return result
    audit = result.audit
    return replace(result, audit=replace(audit, failures=(*faults, *audit.failures)))


def _passes(
    sitting: Sitting,
    joint: int,
    images: int,
    finished: Finished | None,
    bar: Progress,
    found: _Found,
) -> Passes:
    """Yield the passes of each span that is not finished, and add every layer's result."""
    turns_of = Counter(_key(turn) for turn in sitting.turns if turn.asked)
    made: dict[Key, list[PassResult]] = {key: [] for key in turns_of}
    if finished is not None:
        _take(sitting, finished, bar, found)
    for span in sitting.spans:
        wanted = [turn for turn in span if turn.asked and _key(turn) not in found.results]
        if not wanted:
            continue
        numbers = [len(made[_key(turn)]) for turn in wanted]
        results = _kept(wanted, numbers, finished)
        if results is not None:
            bar.kept(sum(each.audit.whole for each in results))
        else:
            results = yield from _span(span, wanted, images, bar, found)
            # If a span is loaded from its files, later spans read the golden model's words. The
            # words of the hardware must therefore be equal.
            if finished is not None and not found.faults and all(r.audit.passed for r in results):
                for number, result in zip(numbers, results, strict=True):
                    finished.save_turn(result, number)
        for turn, result in zip(wanted, results, strict=True):
            key = _key(turn)
            made[key].append(result)
            if len(made[key]) == turns_of[key]:
                found.results[key] = joined(made.pop(key), joint)
                if finished is not None and not found.faults:
                    finished.save(found.results[key])
                _tell(turn, found.results[key])


def _take(sitting: Sitting, finished: Finished, bar: Progress, found: _Found) -> None:
    """Add the results of layers and phases that an identical run stored."""
    for key, turn in {_key(turn): turn for turn in sitting.turns if turn.asked}.items():
        result = finished.load(turn.layer, turn.phase.name)
        if result is not None:
            bar.kept(result.audit.whole)
            found.results[key] = result
            _tell(turn, result)


def _kept(
    turns: Sequence[Turn], numbers: Sequence[int], finished: Finished | None
) -> list[PassResult] | None:
    """Return the results of turns of a span, if an identical run stored all of them."""
    if finished is None:
        return None
    results = []
    for turn, number in zip(turns, numbers, strict=True):
        result = finished.load_turn(turn, number)
        if result is None:
            return None
        results.append(result)
    return results


def _span(
    span: Sequence[Turn], wanted: Sequence[Turn], images: int, bar: Progress, found: _Found
) -> Generator[GroupPass, Audited | None, list[PassResult]]:
    """Run the turns of a span; return the results of the wanted ones."""
    audited: dict[Key, list[Audited]] = {}
    for turn in span:
        audited[_key(turn)] = yield from _turn(turn, bar, found)
    return [_result(turn, images, audited[_key(turn)]) for turn in wanted]


def _turn(
    turn: Turn, bar: Progress, found: _Found
) -> Generator[GroupPass, Audited | None, list[Audited]]:
    bar.begin(turn.said)
    passes = turn.passes()
    ran: list[Audited] = []
    with bar.spent.on("golden"):
        each = next(passes)
    while True:
        done = given((yield each))
        bar.passed(done.record.outcome.cycles)
        ran.append(done)
        found.asked.append(_key(turn) if turn.asked else None)
        if not turn.asked:
            found.faults += [f"before it, {turn.said}: {text}" for text in done.audit.failures]
        try:
            with bar.spent.on("golden"):
                each = passes.send(done.record)
        except StopIteration:
            return ran


def _tell(turn: Turn, result: PassResult) -> None:
    if result.outputs is not None:
        turn.made(result.outputs)


def _result(turn: Turn, images: int, audited: Sequence[Audited]) -> PassResult:
    """Combine the passes of a turn. Deltas are no input of the next layer, unlike maps."""
    records = [each.record for each in audited]
    phase, layer = turn.phase, turn.layer
    forward = phase_on(phase.network, layer, phase.name).forward
    return PassResult(
        layer,
        phase.name,
        combine([each.audit for each in audited]),
        records[-1].elaboration_sha,
        records[-1].build_seconds,
        phase.outputs(layer, images, records) if forward else None,
    )
