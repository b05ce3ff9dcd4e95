"""Run a sitting on an engine, and keep what is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from merp.cosim.audit.audit import combine
from merp.cosim.audit.run_and_audit import Audited, Passes, run_and_audit
from merp.testbenches.top.wave import Wave
from merp.tools.common.progress import Progress
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.machine import Sitting, Turn
from merp.tools.simulate.result import Result

Key = tuple[str, str]
"""Layer and phase."""


def _key(turn: Turn) -> Key:
    return turn.layer.name, turn.phase.name


@dataclass
class _Found:
    """What came of turns so far.

    Attributes:
        audited: of each pass. asked: the layer and phase of it, or None if it only went before.
        results: by layer and phase. faults: of passes that only went before.
    """

    audited: list[Audited] = field(default_factory=list)
    asked: list[Key | None] = field(default_factory=list)
    results: dict[Key, Result] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def of(self, key: Key, every: Sequence[Audited]) -> list[Audited]:
        """Those of ``every`` pass that are of a layer and phase."""
        return [each for each, asked in zip(every, self.asked, strict=True) if asked == key]


def simulate(
    sitting: Sitting,
    images: int,
    finished: Finished | None,
    engine: str,
    wave: Wave | None,
    bar: Progress,
) -> list[Result]:
    """Run turns back to back on one elaboration; a result of each layer and phase.

    Args:
        images: of a run. finished: where finished layers are kept, and taken from.
        engine: what runs it. wave: the waveform, or None. bar: is told how far it is.
    """
    found = _Found()
    passes = _passes(sitting, images, finished, bar, found)
    with bar.spent.on("simulating"):
        audited = run_and_audit(sitting.top, passes, engine, wave, bar.update)
    if audited:
        bar.spent.recount("simulating", "building", audited[-1].record.build_seconds)
    results = found.results
    if wave is not None:  # nothing is resumed beside a waveform: every layer has run
        results = {
            key: replace(each, audit=combine([one.audit for one in found.of(key, audited)]))
            for key, each in results.items()
        }
    return [_blamed(each, found.faults) for each in results.values()]


def _blamed(result: Result, faults: Sequence[str]) -> Result:
    """A result that passes in front of it leave no trust in."""
    if not faults:
        return result
    audit = result.audit
    return replace(result, audit=replace(audit, failures=(*faults, *audit.failures)))


def _passes(
    sitting: Sitting, images: int, finished: Finished | None, bar: Progress, found: _Found
) -> Passes:
    """The passes of each layer that is not finished; adds every layer's result."""
    kept: dict[Key, Result] = {}
    for turn in sitting.turns:
        if finished is not None and turn.asked and _key(turn) not in kept:
            loaded = finished.load(turn.layer, turn.phase.name)
            if loaded is not None:
                kept[_key(turn)] = loaded
    wanted = {_key(turn) for turn in sitting.turns if turn.asked}
    if sitting.whole and wanted - kept.keys():
        kept = {}
    left = Counter(_key(turn) for turn in sitting.turns if turn.asked)
    for turn in sitting.turns:
        key = _key(turn)
        if key in kept or wanted <= kept.keys():
            if key in wanted and key not in found.results:
                found.results[key] = kept[key]
                _tell(turn, kept[key])
            continue
        yield from _turn(turn, bar, found)
        left[key] -= turn.asked
        if turn.asked and not left[key]:
            found.results[key] = _result(turn, images, found.of(key, found.audited))
            if finished is not None and not found.faults:
                finished.save(found.results[key])
            _tell(turn, found.results[key])


def _turn(turn: Turn, bar: Progress, found: _Found) -> Passes:
    bar.begin(turn.said)
    passes = turn.passes()
    with bar.spent.on("golden"):
        each = next(passes)
    while True:
        done = yield each
        assert done is not None
        found.audited.append(done)
        found.asked.append(_key(turn) if turn.asked else None)
        if not turn.asked:
            found.faults += [f"before it, {turn.said}: {text}" for text in done.audit.failures]
        try:
            with bar.spent.on("golden"):
                each = passes.send(done.record)
        except StopIteration:
            return


def _tell(turn: Turn, result: Result) -> None:
    if result.outputs is not None:
        turn.made(result.outputs)


def _result(turn: Turn, images: int, audited: Sequence[Audited]) -> Result:
    """Gather the passes of a layer."""
    records = [each.record for each in audited]
    return Result(
        turn.layer,
        turn.phase.name,
        combine([each.audit for each in audited]),
        records[-1].elaboration_sha,
        records[-1].build_seconds,
        turn.phase.outputs(turn.layer, images, records),
    )
