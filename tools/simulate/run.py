"""Run a phase of layers on an engine, and keep what is finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.cosim.audit.audit import combine
from merp.cosim.audit.run_and_audit import Audited, Passes, run_and_audit
from merp.cosim.phases.phase import Phase
from merp.models.golden.golden_step import GoldenStep
from merp.models.network.network import Layer
from merp.models.network.phases import called, made_by
from merp.testbenches.top.wave import Wave
from merp.tools.common.progress import Progress
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.result import Result


def simulate(
    phase: Phase,
    layers: Sequence[Layer],
    group: int | None,
    step: GoldenStep,
    finished: Finished | None,
    engine: str,
    array: str,
    wave: Wave | None,
    bar: Progress,
) -> list[Result]:
    """Run layers that share a design back to back on one elaboration.

    Args:
        phase: of ``layers``. group: the group to run, or None for all.
        step: where passes come from; it is told what each layer made.
        finished: where finished layers are kept, and taken from.
        engine, array: what runs it. wave: the waveform, or None.
        bar: is told how far it is.
    """
    results: list[Result] = []
    passes = _passes(phase, layers, group, step, finished, bar, results)
    with bar.spent.on("simulating"):
        audited = run_and_audit(phase.top(array), passes, engine, wave, bar.update)
    if audited:
        bar.spent.recount("simulating", "building", audited[-1].record.build_seconds)
    if wave is None:
        return results
    waves = iter(audited)  # nothing is resumed beside a waveform: every layer has run
    return [
        replace(each, audit=combine([next(waves).audit for _ in groups_of(each.layer, group)]))
        for each in results
    ]


def groups_of(layer: Layer, group: int | None) -> Sequence[int]:
    """The groups of a layer that are run."""
    return range(layer.groups) if group is None else (group,)


def _passes(
    phase: Phase,
    layers: Sequence[Layer],
    group: int | None,
    step: GoldenStep,
    finished: Finished | None,
    bar: Progress,
    results: list[Result],
) -> Passes:
    """The passes of each layer that is not finished; adds every layer to ``results``."""
    for layer in layers:
        result = finished.load(layer, phase.name) if finished is not None else None
        if result is None:
            audited: list[Audited] = []
            for each in groups_of(layer, group):
                bar.begin(f"{called(phase.network, layer, phase.name)} {phase.name} group {each}")
                with bar.spent.on("golden"):
                    given = phase.golden_pass(layer, each, step)
                done = yield given
                assert done is not None
                audited.append(done)
            result = _result(phase, layer, step.images, audited)
            if finished is not None:
                finished.save(result)
        results.append(result)
        if result.outputs is not None:
            step.made[made_by(phase.network, layer, phase.name).name] = result.outputs


def _result(phase: Phase, layer: Layer, images: int, audited: Sequence[Audited]) -> Result:
    """Gather the groups of a layer."""
    records = [each.record for each in audited]
    return Result(
        layer,
        phase.name,
        combine([each.audit for each in audited]),
        records[-1].elaboration_sha,
        records[-1].build_seconds,
        phase.outputs(layer, images, records),
    )
