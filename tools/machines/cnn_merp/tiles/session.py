"""Run the passes of a plan. Passes with the same bitstream run back to back on one elaboration."""

from __future__ import annotations

from collections.abc import Generator
from itertools import groupby

from merp.cosim.machines.cnn_merp.passes.cut import Tiles
from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.machines.cnn_merp.passes.unit import PassUnit, run_unit
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, given, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice
from merp.tools.machines.cnn_merp.tiles.draw import drawn
from merp.tools.machines.cnn_merp.tiles.finished import FinishedUnits
from merp.tools.machines.cnn_merp.tiles.result import RanUnit, TilesResult


def simulate_plan(
    choice: TilesChoice,
    image: Bits,
    parameters: Parameters,
    finished: FinishedUnits | None,
    progress: Progress,
) -> list[TilesResult]:
    """Simulate the selected passes. Layers and phases without hardware are listed, but not run.

    The operands of a pass are golden, except the sums of earlier parts of its unit. Therefore each
    unit can be saved and run by itself.

    Args:
        choice: the selected passes.
        image: (images, rows, columns, channels) input words of the network.
        parameters: kernels and biases of its layers.
        finished: storage of finished units, or None.
        progress: called with the progress of the run.

    Raises:
        BadInput: an engine's simulator is not installed.
        Stuck: no word moved for too long.
    """
    step = GoldenStep(choice.plan.network, choice.layers, image, parameters, pooled=True)
    results: list[TilesResult] = []
    for _, sharing in groupby(choice.planned, key=lambda each: (each.engine.name, each.work.phase)):
        listed = list(sharing)
        built = [OfPlan(each) for each in listed if each.work.built]
        ran: dict[str, list[RanUnit]] = {each.work.layer.name: [] for each in listed}
        if built:
            passes = _passes(choice, built, step, finished, progress, ran)
            with progress.spent.on("simulating"):
                done = run_and_audit(
                    built[0].top(choice.array), passes, choice.engine, progress=progress.update,
                    memory=choice.memory,
                )  # fmt: skip
            if done:
                progress.spent.recount("simulating", "building", done[-1].record.build_seconds)
        results += [TilesResult(each, ran[each.work.layer.name]) for each in listed]
    return results


def _passes(
    choice: TilesChoice,
    built: list[OfPlan],
    step: GoldenStep,
    finished: FinishedUnits | None,
    progress: Progress,
    ran: dict[str, list[RanUnit]],
) -> Passes:
    """Yield the passes of each unfinished unit; add every unit to ``ran``."""
    for of in built:
        name, phase = of.planned.work.layer.name, of.planned.work.phase
        said = f"{of.planned.work.name} {phase}"
        total = of.planned.passes
        units = drawn(of.planned, choice.sample, choice.seed)
        for group, some in groupby(units, key=lambda unit: unit.group):
            tiles: Tiles | None = None
            for unit in some:
                found = finished.load(of.planned, unit) if finished is not None else None
                if found is None:
                    if tiles is None:
                        with progress.spent.on("golden"):
                            tiles = of.tiles(group, step)
                    progress.begin(f"{said} {unit} ({total:,} passes in all)")
                    found = yield from _unit(of, unit, tiles, step, progress)
                    if finished is not None:
                        finished.save(of.planned, found)
                else:
                    progress.kept(found.audit.whole)
                ran[name].append(found)


def _unit(
    of: OfPlan, unit: PassUnit, tiles: Tiles, step: GoldenStep, progress: Progress
) -> Generator[GroupPass, Audited | None, RanUnit]:
    """Run a unit. The computations between its passes count as time of the golden model."""
    source = run_unit(of, unit, tiles, step)
    answer: Audited | None = None
    while True:
        try:
            with progress.spent.on("golden"):
                each = source.send(answer)
        except StopIteration as end:
            ran = end.value
            record = ran.last.record
            return RanUnit(unit, ran.audit, record.elaboration_sha, record.build_seconds)
        answer = given((yield each))
        progress.passed(answer.record.outcome.cycles)
