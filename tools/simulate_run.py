"""Run layers of a network on an engine: gather and scatter, one elaboration per design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from merp.cosim.audit import Audit, audit, combine
from merp.cosim.engine import run_job
from merp.cosim.expectation import expect_forward
from merp.cosim.job import Job
from merp.cosim.record import Record
from merp.cosim.waveform import transfers
from merp.models.compiled import Bits
from merp.models.inference import LayerMaps, as_input, group_maps, group_parameters, inference
from merp.models.initial import Parameters
from merp.models.initial import parameters as initial_parameters
from merp.models.network import Layer, Network
from merp.testbenches.forward_run import PORTS, forward_run, forward_top
from merp.testbenches.run import Run
from merp.tools import photograph
from merp.tools.kernel_file import read_kernels
from merp.tools.progress_bar import ProgressBar


@dataclass(frozen=True)
class Choice:
    """What is to be simulated.

    Attributes:
        network: with its designs. layers: those to run, in order.
        group: the group to run, or None for all.
        images: in a run. engine, array: what runs it. vcd: waveform file, or None.
        before: deltas are stored at pooled resolution, and expanded before the engine.
    """

    network: Network
    layers: tuple[Layer, ...]
    group: int | None
    images: int
    engine: str
    array: str
    vcd: Path | None
    before: bool = False

    def groups(self, layer: Layer) -> Sequence[int]:
        """The groups of a layer that are run."""
        return range(layer.groups) if self.group is None else (self.group,)


@dataclass(frozen=True)
class Result:
    """One phase of one layer: what the hardware made of it, and the audit of its groups.

    Attributes:
        audit: all groups that were run. record: of the last of them.
        maps: in forward propagation, golden input and output, all groups.
        outputs: then (images, pooled_rows, pooled_columns, maps of the groups run) from the
            hardware.
    """

    layer: Layer
    phase: str
    audit: Audit
    record: Record
    maps: LayerMaps | None = None
    outputs: Bits | None = None


def inputs(
    network: Network, image: Path | None, images: int, seed: int, kernels: Path | None
) -> tuple[Bits, Parameters]:
    """Input maps of the first layer, and kernels and biases of every layer.

    Image i of a batch is the photograph moved 7*i columns to the left, and mirrored if i is odd:
    images that are alike would hide a mix-up between them.
    """
    rows, columns, channels = network.input
    photo = photograph.load(image, rows, columns, channels, network.fmt)[0]
    batch = [np.roll(photo, -7 * i, axis=1)[:, :: -1 if i % 2 else 1] for i in range(images)]
    initial = initial_parameters(network, seed)
    parameters = read_kernels(kernels, network, initial) if kernels else initial
    return np.ascontiguousarray(np.stack(batch)), parameters


def simulate(choice: Choice, image: Bits, parameters: Parameters) -> list[Result]:
    """Run the chosen layers; with several, each takes the hardware's output of the one before."""
    names = [layer.name for layer in choice.layers]
    golden: dict[str, LayerMaps] = {}
    for maps in inference(choice.network, image, parameters):
        if maps.layer.name in names:
            golden[maps.layer.name] = maps
        if maps.layer.name == names[-1]:
            break
    chain = _Chain(choice, golden, parameters)
    for _, layers in groupby(choice.layers, key=lambda layer: layer.design):
        chain.run(list(layers))
    return chain.results


@dataclass
class _Chain:
    """The layers that have run, and what came out of each of their groups."""

    choice: Choice
    golden: Mapping[str, LayerMaps]
    parameters: Parameters
    results: list[Result] = field(default_factory=list)
    _groups: dict[str, list[Bits]] = field(default_factory=dict)

    def run(self, layers: Sequence[Layer]) -> None:
        """Run layers that share a design back to back on one elaboration."""
        choice = self.choice
        design = choice.network.design(layers[0])
        passes = [(layer, group) for layer in layers for group in choice.groups(layer)]
        job = Job(
            forward_top(design, choice.array),
            [self._next_run(passes, index) for index in range(len(passes))],
            vcd=choice.vcd,
        )
        with ProgressBar([f"{layer.name} group {group}" for layer, group in passes]) as bar:
            records = run_job(job, choice.engine, bar.update)
        self._scatter(passes, records)
        waves: Sequence[dict[str, int] | None] = [None] * len(passes)
        if choice.vcd is not None:
            waves = transfers(choice.vcd, list(PORTS.values()))
        for layer in layers:
            maps = self.golden[layer.name]
            chosen = [
                (record, group, wave)
                for record, (of, group), wave in zip(records, passes, waves, strict=True)
                if of is layer
            ]
            m = layer.shape.m
            found = [
                audit(
                    record,
                    expect_forward(
                        layer.shape,
                        choice.images,
                        design,
                        maps.y[..., group * m : (group + 1) * m],
                    ),
                    wave,
                )
                for record, group, wave in chosen
            ]
            outputs = np.concatenate(self._groups[layer.name], axis=-1)
            self.results.append(Result(layer, "fp", combine(found), chosen[-1][0], maps, outputs))

    def _next_run(
        self, passes: Sequence[tuple[Layer, int]], index: int
    ) -> Callable[[Sequence[Record]], Run]:
        def make(records: Sequence[Record]) -> Run:
            self._scatter(passes, records)
            layer, group = passes[index]
            kernels, bias = group_parameters(layer, group, *self.parameters[layer.name])
            x = group_maps(self._input(layer), layer, group)
            design = self.choice.network.design(layer)
            return forward_run(layer.shape, design, x, kernels, bias)

        return make

    def _input(self, layer: Layer) -> Bits:
        """Golden for the first layer that runs, the hardware's own output for those behind it."""
        index = self.choice.layers.index(layer)
        if index == 0:
            return self.golden[layer.name].x
        before = self.choice.layers[index - 1].name
        return as_input(np.concatenate(self._groups[before], axis=-1), layer)

    def _scatter(self, passes: Sequence[tuple[Layer, int]], records: Sequence[Record]) -> None:
        """Put the words of each finished pass where the maps of its group belong."""
        for layer in {layer.name: layer for layer, _ in passes}.values():
            shape = layer.shape
            size = (self.choice.images, shape.pooled_rows, shape.pooled_columns, shape.m)
            self._groups[layer.name] = [
                _as_maps(record.words[PORTS["map_out"]], size)
                for record, (of, _) in zip(records, passes, strict=False)
                if of is layer
            ]


def _as_maps(words: np.ndarray, size: tuple[int, ...]) -> Bits:
    """Words in stream order as maps; what is missing is zero, and what is too much is dropped.

    The audit reports either; the layers behind can still run.
    """
    maps = np.zeros(size, np.uint32)
    fits = min(words.size, maps.size)
    maps.reshape(-1)[:fits] = words[:fits]
    return maps
