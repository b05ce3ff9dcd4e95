"""The backward phases of layers on an engine, fed from the golden step pass by pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from merp.cosim.audit import audit, combine
from merp.cosim.engine import run_job
from merp.cosim.expectation import Expectation, expect_delta, expect_update
from merp.cosim.job import Job
from merp.cosim.waveform import transfers
from merp.models.inference import group_maps, group_parameters
from merp.models.kernel_update import gradients, update
from merp.models.network import Layer
from merp.models.phases import delta_design, previous, update_design, update_unpool_design
from merp.models.state import of_maps, packed
from merp.models.training import Rates
from merp.testbenches.delta_run import delta_run, delta_top
from merp.testbenches.kernel_update_run import kernel_update_run, kernel_update_top
from merp.testbenches.run import Run
from merp.testbenches.top import Top
from merp.tools.finished import Finished
from merp.tools.golden_step import GoldenStep
from merp.tools.progress_bar import ProgressBar
from merp.tools.simulate_choice import Choice, Result

RATE = 0.01  # learning rate of the step, of the mean loss

Pass = tuple[Run, Expectation]


def simulate_backward(
    choice: Choice, phase: str, golden: GoldenStep, finished: Finished
) -> list[Result]:
    """Run ``dp`` or ``ku`` of the chosen layers, all groups of a layer on one elaboration.

    The first layer of a network has no delta propagation and is left out of it.
    """
    results = []
    for layer in choice.layers:
        if phase == "dp" and previous(choice.network, layer) is None:
            continue
        result = finished.load(layer, phase)
        if result is None:
            top, passes = (_delta if phase == "dp" else _update)(choice, layer, golden)
            result = _run(choice, layer, phase, top, passes)
            finished.save(result)
        results.append(result)
    return results


def _run(choice: Choice, layer: Layer, phase: str, top: Top, passes: Sequence[Pass]) -> Result:
    job = Job(top, [run for run, _ in passes], vcd=choice.vcd)
    with ProgressBar([f"{layer.name} {phase} group {g}" for g in choice.groups(layer)]) as bar:
        records = run_job(job, choice.engine, bar.update)
    waves: Sequence[Mapping[str, int] | None] = [None] * len(passes)
    if choice.vcd is not None:
        waves = transfers(choice.vcd, [pin.name for pin in top.ports.streams])
    audits = [
        audit(record, expected, wave)
        for record, (_, expected), wave in zip(records, passes, waves, strict=True)
    ]
    last = records[-1]
    return Result(layer, phase, combine(audits), last.elaboration_sha, last.build_seconds)


def _delta(choice: Choice, layer: Layer, golden: GoldenStep) -> tuple[Top, list[Pass]]:
    """Delta propagation of each group."""
    network, shape = choice.network, layer.shape
    earlier = previous(network, layer)
    assert earlier is not None
    design = delta_design(network, layer, choice.before)
    here, behind = golden.passed[layer.name], golden.passed[earlier.name]
    passes = []
    for group in choice.groups(layer):
        own = group * shape.m, (group + 1) * shape.m
        # The maps in front: all of them where a fully connected layer flattens them.
        maps = earlier.biases if layer.groups == 1 else shape.n
        front = group * maps, (group + 1) * maps
        if design.before:
            undone, state = shape, of_maps(here.state, *own)
            deltas, wanted = here.delta, behind.delta
        else:
            undone, state = earlier.shape, of_maps(behind.state, *front)
            deltas, wanted = here.sums, behind.sums
        run = delta_run(
            shape,
            undone,
            design,
            np.ascontiguousarray(deltas[..., slice(*own)]),
            group_parameters(layer, group, *golden.parameters[layer.name])[0],
            packed(state, undone, network.fmt),
        )
        expected = expect_delta(
            shape, undone, choice.images, design, np.ascontiguousarray(wanted[..., slice(*front)])
        )
        passes.append((run, expected))
    return delta_top(design, choice.array), passes


def _update(choice: Choice, layer: Layer, golden: GoldenStep) -> tuple[Top, list[Pass]]:
    """Kernel update of each group, without momentum."""
    network, shape = choice.network, layer.shape
    fmt = network.fmt
    design = update_design(network, layer)
    undone = update_unpool_design(network, layer) if choice.before else None
    rate = Rates.of(RATE, 0.0, choice.images, fmt).rate
    here = golden.passed[layer.name]
    found = gradients(layer, here.x, here.sums, fmt)
    passes = []
    for group in choice.groups(layer):
        own = slice(group * shape.m, (group + 1) * shape.m)
        kernels, bias = group_parameters(layer, group, *golden.parameters[layer.name])
        new_kernels, new_bias = (
            update(w, np.zeros_like(w), g[own], rate, 0, fmt)[0]
            for w, g in zip((kernels, bias), found, strict=True)
        )
        x = group_maps(here.x, layer, group)
        deltas = np.ascontiguousarray((here.delta if choice.before else here.sums)[..., own])
        state = packed(of_maps(here.state, own.start, own.stop), shape, fmt)
        run = kernel_update_run(
            shape, design, x, deltas, kernels, bias, rate, undone=undone, state=state
        )
        expected = expect_update(shape, choice.images, design, new_kernels, new_bias, choice.before)
        passes.append((run, expected))
    return kernel_update_top(design, choice.array, undone=undone), passes
