"""The backward phases of layers on an engine, fed from the golden step pass by pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from merp.cosim.audit.audit import audit, combine
from merp.cosim.audit.waveform import transfers
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.phases.delta import delta_pass
from merp.cosim.phases.expectation import Pass
from merp.cosim.phases.kernel_update import Updated, update_pass
from merp.models.cnn_merp.phases import (
    DeltaDesign,
    delta_design,
    update_design,
    update_unpool_design,
)
from merp.models.golden.kernel_update import gradients, update
from merp.models.golden.training import RATE, Rates
from merp.models.network.network import Layer
from merp.models.network.phases import has_phase, previous
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.delta_top import delta_top
from merp.testbenches.cnn_merp.kernel_update_top import kernel_update_top
from merp.testbenches.top.top import Top
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.simulate.choice import Choice, Result
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.golden_step import GoldenStep


def simulate_backward(
    choice: Choice, phase: str, golden: GoldenStep, finished: Finished
) -> list[Result]:
    """Run ``dp`` or ``ku`` of the chosen layers, all groups of a layer on one elaboration.

    The first layer of a network has no delta propagation and is left out of it.
    """
    results = []
    for layer in choice.layers:
        if not has_phase(choice.network, layer, phase):
            continue
        result = finished.load(layer, phase)
        if result is None:
            top, passes = (_delta if phase == "dp" else _update)(choice, layer, golden)
            result = _run(choice, layer, phase, top, passes)
            finished.save(result)
        results.append(result)
    return results


def _run(choice: Choice, layer: Layer, phase: str, top: Top, passes: Sequence[Pass]) -> Result:
    job = Job(top, [each.run for each in passes], vcd=choice.vcd)
    with ProgressBar([f"{layer.name} {phase} group {g}" for g in choice.groups(layer)]) as bar:
        records = run_job(job, choice.engine, bar.update)
    waves: Sequence[Mapping[str, int] | None] = [None] * len(passes)
    if choice.vcd is not None:
        waves = transfers(choice.vcd, [pin.name for pin in top.ports.streams])
    audits = [
        audit(record, each.expected, wave)
        for record, each, wave in zip(records, passes, waves, strict=True)
    ]
    last = records[-1]
    return Result(layer, phase, combine(audits), last.elaboration_sha, last.build_seconds)


def _delta(choice: Choice, layer: Layer, golden: GoldenStep) -> tuple[Top, list[Pass]]:
    design = delta_design(choice.network, layer, choice.before)
    return delta_top(design, choice.array), delta_passes(choice, layer, golden, design)


def _update(choice: Choice, layer: Layer, golden: GoldenStep) -> tuple[Top, list[Pass]]:
    design = update_design(choice.network, layer)
    undone = update_unpool_design(choice.network, layer) if choice.before else None
    top = kernel_update_top(design, choice.array, undone=undone)
    return top, update_passes(choice, layer, golden, design, undone)


def delta_passes(
    choice: Choice, layer: Layer, golden: GoldenStep, design: DeltaDesign
) -> list[Pass]:
    """Delta propagation of each chosen group, on ``design``."""
    earlier = previous(choice.network, layer)
    assert earlier is not None
    here, behind = golden.passed[layer.name], golden.passed[earlier.name]
    deltas, state, wanted = (
        (here.delta, here.state, behind.delta)
        if design.before
        else (here.sums, behind.state, behind.sums)
    )
    kernels, _ = golden.parameters[layer.name]
    return [
        delta_pass(layer, earlier, group, design, deltas, state, kernels, wanted)
        for group in choice.groups(layer)
    ]


def update_passes(
    choice: Choice,
    layer: Layer,
    golden: GoldenStep,
    design: Design,
    undone: UnpoolDesign | None,
) -> list[Pass]:
    """Kernel update of each chosen group on ``design``, without momentum."""
    fmt = choice.network.fmt
    rates = Rates.of(RATE, 0.0, choice.images, fmt)
    here = golden.passed[layer.name]
    found = gradients(layer, here.x, here.sums, fmt, design.summation)
    parameters = golden.parameters[layer.name]
    rest = np.zeros_like(parameters[0]), np.zeros_like(parameters[1])
    kernels, biases = (
        update(w, v, g, rates.rate, rates.momentum, fmt)[0]
        for w, v, g in zip(parameters, rest, found, strict=True)
    )
    old, new = Updated(parameters, rest), Updated((kernels, biases), rest)
    deltas, state = (here.delta, here.state) if choice.before else (here.sums, None)
    return [
        update_pass(layer, group, design, here.x, deltas, old, rates, new, undone, state)
        for group in choice.groups(layer)
    ]
