"""Run a sitting on an engine, and keep what is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from merp.cosim.engines.job import Wanted
from merp.cosim.phases.audit.audit import combine
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, given, run_and_audit
from merp.cosim.phases.expectation import GroupPass
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
    """What came of turns so far.

    Attributes:
        asked: the layer and phase of each pass that ran, or None if it only went before.
        results: by layer and phase. faults: of passes that only went before.
    """

    asked: list[Key | None] = field(default_factory=list)
    results: dict[Key, PassResult] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def of(self, key: Key, every: Sequence[Audited]) -> list[Audited]:
        """Those of ``every`` pass that are of a layer and phase."""
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
    """Run turns back to back on one elaboration; a result of each layer and phase.

    Args:
        joint: axis of a layer's output maps along which its turns follow each other.
        images: of a run. finished: where finished work is kept, and taken from.
        engine: what runs it. wave: the waveform, or None. bar: is told how far it is.
        wanted: the top of this sitting, and those of the sittings that follow.
    """
    found = _Found()
    passes = _passes(sitting, joint, images, finished, bar, found)
    with bar.spent.on("simulating"):
        audited = run_and_audit(sitting.top, passes, engine, wave, bar.update, wanted)
    if audited:
        bar.spent.recount("simulating", "building", audited[-1].record.build_seconds)
    results = found.results
    if wave is not None:  # nothing is resumed beside a waveform: every layer has run
        results = {
            key: replace(each, audit=combine([one.audit for one in found.of(key, audited)]))
            for key, each in results.items()
        }
    asked = dict.fromkeys(_key(turn) for turn in sitting.turns if turn.asked)
    return [_blamed(results[key], found.faults) for key in asked]


def _blamed(result: PassResult, faults: Sequence[str]) -> PassResult:
    """A result that passes in front of it leave no trust in."""
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
    """The passes of each span that is not finished; adds every layer's result."""
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
            # Behind a span that is taken from its files others are fed from the golden's words, so
            # that the hardware's must be equal.
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
    """Add the results of layers and phases that an equal run has kept."""
    for key, turn in {_key(turn): turn for turn in sitting.turns if turn.asked}.items():
        result = finished.load(turn.layer, turn.phase.name)
        if result is not None:
            bar.kept(result.audit.whole)
            found.results[key] = result
            _tell(turn, result)


def _kept(
    turns: Sequence[Turn], numbers: Sequence[int], finished: Finished | None
) -> list[PassResult] | None:
    """The results of turns of a span, if an equal run has kept all of them."""
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
    """Run the turns of a span; the results of those that are wanted."""
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
    """Gather the passes of a turn."""
    records = [each.record for each in audited]
    return PassResult(
        turn.layer,
        turn.phase.name,
        combine([each.audit for each in audited]),
        records[-1].elaboration_sha,
        records[-1].build_seconds,
        turn.phase.outputs(turn.layer, images, records),
    )
