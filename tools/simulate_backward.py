"""Run the backward phases of layers on an engine, on the golden deltas of a training step.

A step's labels are arbitrary (image i is of class i), its deltas are real: those of the softmax
cross-entropy of the whole network. Each pass is fed from the golden and compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from merp.cosim.audit import audit, combine
from merp.cosim.engine import run_job
from merp.cosim.expectation import Expectation, expect_delta, expect_update
from merp.cosim.job import Job
from merp.cosim.waveform import transfers
from merp.models import training
from merp.models.compiled import Bits
from merp.models.inference import group_maps, group_parameters
from merp.models.initial import Parameters
from merp.models.kernel_update import gradients, update
from merp.models.loss import loss
from merp.models.network import Layer
from merp.models.phases import delta_design, previous, update_design
from merp.models.state import of_maps, packed
from merp.testbenches.delta_run import delta_run, delta_top
from merp.testbenches.kernel_update_run import kernel_update_run, kernel_update_top
from merp.testbenches.run import Run
from merp.testbenches.top import Top
from merp.tools.progress_bar import ProgressBar
from merp.tools.simulate_run import Choice, Result

RATE = 0.01  # learning rate of the step, of the mean loss

Pass = tuple[Layer, int, Run, Expectation]


def simulate_backward(
    choice: Choice, phase: str, image: Bits, parameters: Parameters
) -> list[Result]:
    """Run ``dp`` or ``ku`` of the chosen layers, group by group, on one elaboration per design.

    The first layer of a network has no delta propagation and is left out of it.
    """
    step = _Step(choice, image, parameters)
    layers = [each for each in choice.layers if phase == "ku" or previous(choice.network, each)]
    results = []
    for _, sharing in groupby(layers, key=lambda layer: layer.design):
        group = list(sharing)
        top, passes = (step.delta if phase == "dp" else step.update)(group)
        results += _run(choice, phase, top, list(passes))
    return results


def _run(choice: Choice, phase: str, top: Top, passes: Sequence[Pass]) -> list[Result]:
    names = [f"{layer.name} {phase} group {group}" for layer, group, _, _ in passes]
    job = Job(top, [run for _, _, run, _ in passes], vcd=choice.vcd)
    with ProgressBar(names) as bar:
        records = run_job(job, choice.engine, bar.update)
    waves: Sequence[Mapping[str, int] | None] = [None] * len(passes)
    if choice.vcd is not None:
        waves = transfers(choice.vcd, [pin.name for pin in top.ports.streams])
    results = []
    found = zip(passes, records, waves, strict=True)
    for _, of_layer in groupby(found, key=lambda each: each[0][0].name):
        done = list(of_layer)
        audits = [audit(record, expected, wave) for (*_, expected), record, wave in done]
        (layer, *_), record, _ = done[-1]
        results.append(Result(layer, phase, combine(audits), record))
    return results


class _Step:
    """The golden training step that every pass is fed from."""

    def __init__(self, choice: Choice, image: Bits, parameters: Parameters) -> None:
        self._choice = choice
        self._parameters = parameters
        network = choice.network
        kept, output = training.forward(network, image, parameters, "pooled")
        classes = output[0].size
        labels = np.arange(len(image), dtype=np.int64) % classes
        _, delta = loss("cross-entropy", output, labels, network.fmt)
        self._passed: dict[str, training.Passed] = {}
        first = choice.layers[0]
        wanted = {first.name, *(each.name for each in choice.layers)}
        earlier = previous(network, first)
        wanted |= {earlier.name} if earlier else set()
        for passed in training.propagate(network, kept, delta, parameters):
            if passed.layer.name in wanted:
                self._passed[passed.layer.name] = passed
                wanted.remove(passed.layer.name)
            if not wanted:
                break

    def delta(self, layers: Sequence[Layer]) -> tuple[Top, Iterator[Pass]]:
        """Passes of delta propagation."""
        choice = self._choice
        design = delta_design(choice.network, layers[0], choice.before)

        def passes() -> Iterator[Pass]:
            for layer in layers:
                earlier = previous(choice.network, layer)
                assert earlier is not None
                here, behind = self._passed[layer.name], self._passed[earlier.name]
                undone = layer.shape if design.before else earlier.shape
                for group in choice.groups(layer):
                    shape = layer.shape
                    own = slice(group * shape.m, (group + 1) * shape.m)
                    # The maps in front: all of them where a fully connected layer flattens them.
                    flat = layer.groups == 1
                    maps = earlier.biases if flat else shape.n
                    front = slice(group * maps, (group + 1) * maps)
                    if design.before:
                        state = of_maps(here.state, own.start, own.stop)
                        deltas, golden = here.delta[..., own], behind.delta[..., front]
                    else:
                        state = of_maps(behind.state, front.start, front.stop)
                        deltas, golden = here.sums[..., own], behind.sums[..., front]
                    kernels, _ = group_parameters(layer, group, *self._parameters[layer.name])
                    run = delta_run(
                        shape, undone, design, np.ascontiguousarray(deltas), kernels,
                        packed(state, undone, choice.network.fmt),
                    )  # fmt: skip
                    golden = np.ascontiguousarray(golden)
                    expected = expect_delta(shape, undone, choice.images, design, golden)
                    yield layer, group, run, expected

        return delta_top(design, choice.array), passes()

    def update(self, layers: Sequence[Layer]) -> tuple[Top, Iterator[Pass]]:
        """Passes of the kernel update, without momentum."""
        choice = self._choice
        fmt = choice.network.fmt
        design = update_design(choice.network, layers[0])
        rate = training.Rates.of(RATE, 0.0, choice.images, fmt).rate

        def passes() -> Iterator[Pass]:
            for layer in layers:
                here = self._passed[layer.name]
                found = gradients(layer, here.x, here.sums, fmt)
                for group in choice.groups(layer):
                    shape = layer.shape
                    own = slice(group * shape.m, (group + 1) * shape.m)
                    kernels, bias = group_parameters(layer, group, *self._parameters[layer.name])
                    new = [
                        update(w, np.zeros_like(w), g[own], rate, 0, fmt)[0]
                        for w, g in zip((kernels, bias), found, strict=True)
                    ]
                    run = kernel_update_run(
                        shape, design, group_maps(here.x, layer, group),
                        np.ascontiguousarray(here.sums[..., own]), kernels, bias, rate,
                    )  # fmt: skip
                    yield layer, group, run, expect_update(shape, choice.images, design, *new)

        return kernel_update_top(design, choice.array), passes()
