"""A step on the array from one start: all passes of all images as one run of its schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.delta import ArrayDeltaPhase
from merp.cosim.machines.mac_array.phases.forward import ArrayForwardPhase
from merp.cosim.machines.mac_array.phases.step_order import step_order
from merp.cosim.machines.mac_array.phases.update import Update
from merp.cosim.phases.expectation import Expectation, ReportedPort, UnitWork
from merp.hdl.mac_array.phases.pass_counters import SETTLED
from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.mac_array.params.array_counters import ARRAY_COUNTERS
from merp.models.machines.mac_array.passes import design_of
from merp.models.machines.mac_array.schedule_cycles import schedule_cycles
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.testbenches.mac_array.scheduled_bench import scheduled_run
from merp.testbenches.top.run import Run

PARTS = tuple(each.name for each in ARRAY_COUNTERS if each.part)
"""Counters that a pass's cycles are the sum of."""

DONE = SETTLED + 1
"""Cycles from a pass's end, with which its counter of them stops, to its done."""


class ScheduledStep(NamedTuple):
    """A run and what must come of it.

    Attributes:
        passes: of an image. cycles: of the run, by the cycles of its passes as the flow model has
            them. of_passes: those of the passes alone, from start to done of each.
    """

    run: Run
    expected: Expectation
    passes: int
    cycles: int
    of_passes: int


def phases_at(network: Network, loss: str | None, *, fused: bool) -> dict[str, ArrayPhase]:
    """The phases of a step by name. loss: whose deltas the array forms; None: a host does."""
    design = design_of(network, network.layers[0])
    forward = ArrayForwardPhase(network, design, fused, loss)
    back = (kind(network, design, fused) for kind in (ArrayDeltaPhase, Update))
    return {each.name: each for each in (forward, *back)}


def scheduled_step(step: ArrayStep, loss: str, *, fused: bool) -> ScheduledStep:
    """Every pass of every image of ``step``, fed from its golden.

    Args:
        loss: one of ``LOSSES`` of the design. fused: deltas lie in memory at pooled resolution.

    Raises:
        ValueError: there are more passes than the schedule holds.
    """
    network = step.golden.network
    phases = phases_at(network, loss, fused=fused)
    design = phases["fp"].design
    passes = [
        each
        for image in range(step.images)
        for name, layer, _ in step_order(network, network.layers, PHASES)
        for each in phases[name].golden_passes(layer, image, step)
    ]
    expected = joined([each.expected for each in passes])
    leaving = [
        {
            port.stream: port.golden.size
            for port in each.expected.ports.values()
            if port.golden is not None
        }
        for each in passes
    ]
    run = scheduled_run([each.run for each in passes], leaving, step.images, design)
    own = [sum(each.expected.known[part] for part in PARTS) + DONE for each in passes]
    of_image = len(passes) // step.images
    cycles = schedule_cycles(own, of_image, design)
    return ScheduledStep(run, expected, of_image, cycles, sum(own))


def joined(each: Sequence[Expectation]) -> Expectation:
    """What passes must do one behind the other: words, slots and known counters are summed."""
    first = each[0]
    known: Counter[str] = Counter()
    for of in each:
        known.update(of.known)
    return replace(
        first,
        ports={name: _port([of.ports[name] for of in each]) for name in first.ports},
        last=tuple(dict.fromkeys(name for of in each for name in of.last)),
        work=_work([of.work for of in each]),
        known=dict(known),
    )


def _port(each: Sequence[ReportedPort]) -> ReportedPort:
    own = replace(
        each[0],
        closed_form=sum(port.closed_form for port in each),
        counter=sum(port.counter for port in each),
    )
    if own.golden is None:
        return own
    golden = [port.golden.reshape(-1) for port in each if port.golden is not None]
    meant = [port.meant.reshape(-1) for port in each if port.meant is not None]
    return replace(own, golden=np.concatenate(golden), meant=np.concatenate(meant))


def _work(each: Sequence[UnitWork]) -> UnitWork:
    return UnitWork(
        n_cu=each[0].n_cu,
        issue=sum(work.issue for work in each),
        useful=sum(work.useful for work in each),
        operations=sum(work.operations for work in each),
        ideal=ordered_sum(work.ideal for work in each),
    )
