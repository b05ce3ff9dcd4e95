"""A step on the array with one start: the schedule runs all passes of all images."""

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
"""Counters whose sum is the number of cycles of a pass."""

DONE = SETTLED + 1
"""Cycles from the end of a pass, at which its cycle counter stops, to its done flag."""


class ScheduledStep(NamedTuple):
    """A run and its expectation.

    Attributes:
        passes: number of passes of an image.
        cycles: cycles of the run, from the flow model's cycles of its passes.
        of_passes: cycles of the passes alone, each from its start to its done flag.
    """

    run: Run
    expected: Expectation
    passes: int
    cycles: int
    of_passes: int


def phases_at(network: Network, loss: str | None, *, fused: bool) -> dict[str, ArrayPhase]:
    """Return the phases of a step by name.

    ``loss`` is the loss whose deltas the array computes. None: a host computes them.
    """
    design = design_of(network, network.layers[0])
    forward = ArrayForwardPhase(network, design, fused, loss)
    back = (kind(network, design, fused) for kind in (ArrayDeltaPhase, Update))
    return {each.name: each for each in (forward, *back)}


def scheduled_step(step: ArrayStep, loss: str, *, fused: bool) -> ScheduledStep:
    """Return every pass of every image of ``step``, with golden operands.

    Args:
        step: the step.
        loss: one of ``LOSSES`` of the design.
        fused: whether deltas are stored at pooled resolution.

    Raises:
        ValueError: the schedule cannot hold all passes.
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
    """Combine the expectations of consecutive passes: sum words, slots and known counters."""
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
