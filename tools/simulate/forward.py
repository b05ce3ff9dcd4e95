"""Forward propagation of layers on an engine: gather and scatter, one elaboration per design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from merp.cosim.audit.audit import audit, combine
from merp.cosim.audit.waveform import transfers
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.cosim.phases.expectation import Expectation, Pass
from merp.cosim.phases.forward import forward_pass
from merp.models.arithmetic.compiled import Bits
from merp.models.golden.inference import as_input
from merp.models.network.network import Layer
from merp.testbenches.cnn_merp.forward_top import PORTS, forward_top
from merp.testbenches.top.run import Run
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.simulate.choice import Choice, Result
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.golden_step import GoldenStep


def simulate_forward(choice: Choice, golden: GoldenStep, finished: Finished) -> list[Result]:
    """Run the chosen layers; with several, each takes the hardware's output of the one before."""
    chain = _Chain(choice, golden, finished)
    for _, layers in groupby(choice.layers, key=lambda layer: layer.design):
        chain.run(list(layers))
    return chain.results


@dataclass
class _Chain:
    """The layers that have run, and what came out of each of their groups."""

    choice: Choice
    golden: GoldenStep
    finished: Finished
    results: list[Result] = field(default_factory=list)
    _groups: dict[str, list[Bits]] = field(default_factory=dict)
    _expected: list[Expectation] = field(default_factory=list)  # of the passes of a job

    def run(self, layers: Sequence[Layer]) -> None:
        """Run layers that share a design back to back on one elaboration."""
        choice = self.choice
        for layer in layers:
            result = self.finished.load(layer, "fp")
            if result is None or result.outputs is None:
                break
            self._groups[layer.name] = np.split(result.outputs, len(choice.groups(layer)), axis=-1)
            self.results.append(result)
        done = {result.layer.name for result in self.results}
        passes = [
            (layer, group)
            for layer in layers
            if layer.name not in done
            for group in choice.groups(layer)
        ]
        if not passes:
            return
        self._expected.clear()
        job = Job(
            forward_top(choice.forward_design(layers[0]), choice.array),
            [self._next_run(passes, index) for index in range(len(passes))],
            vcd=choice.vcd,
        )
        with ProgressBar([f"{layer.name} fp group {group}" for layer, group in passes]) as bar:
            records = run_job(job, choice.engine, bar.update)
        waves: Sequence[dict[str, int]] = ()
        if choice.vcd is not None:
            waves = transfers(choice.vcd, [pin.name for pin in job.top.ports.streams])
        self._collect(passes, records, waves)

    def _collect(
        self,
        passes: Sequence[tuple[Layer, int]],
        records: Sequence[Record],
        waves: Sequence[dict[str, int]] = (),
    ) -> None:
        """Put the words of each finished pass where they belong, and audit each finished layer."""
        done = {result.layer.name for result in self.results}
        for layer in {layer.name: layer for layer, _ in passes}.values():
            if layer.name in done:
                continue
            shape = layer.shape
            size = (self.choice.images, shape.pooled_rows, shape.pooled_columns, shape.m)
            own = [i for i, (of, _) in enumerate(passes) if of is layer and i < len(records)]
            self._groups[layer.name] = [
                _as_maps(records[i].words(PORTS["map_out"]), size) for i in own
            ]
            complete = len(own) == len(self.choice.groups(layer))
            if not complete or (self.choice.vcd is not None and not waves):
                continue
            audits = [
                audit(records[i], self._expected[i], waves[i] if waves else None) for i in own
            ]
            last = records[own[-1]]
            outputs = np.concatenate(self._groups[layer.name], axis=-1)
            result = Result(
                layer, "fp", combine(audits), last.elaboration_sha, last.build_seconds, outputs
            )
            self.finished.save(result)
            self.results.append(result)

    def _next_run(
        self, passes: Sequence[tuple[Layer, int]], index: int
    ) -> Callable[[Sequence[Record]], Run]:
        def make(records: Sequence[Record]) -> Run:
            self._collect(passes, records)
            made = self._pass(*passes[index])
            self._expected.append(made.expected)
            return made.run

        return make

    def _pass(self, layer: Layer, group: int) -> Pass:
        golden, design = self.golden, self.choice.forward_design(layer)
        state = golden.state(layer) if self.choice.state else None
        return forward_pass(
            layer, group, design, self._input(layer), golden.parameters[layer.name],
            golden.maps[layer.name].y, state,
        )  # fmt: skip

    def _input(self, layer: Layer) -> Bits:
        """Golden for the first layer that runs, the hardware's own output for those behind it."""
        index = self.choice.layers.index(layer)
        if index == 0:
            return self.golden.maps[layer.name].x
        before = self.choice.layers[index - 1].name
        return as_input(np.concatenate(self._groups[before], axis=-1), layer)


def _as_maps(words: np.ndarray, size: tuple[int, ...]) -> Bits:
    """Words in stream order as maps; what is missing is zero, and what is too much is dropped.

    The audit reports either; the layers behind can still run.
    """
    maps = np.zeros(size, np.uint32)
    fits = min(words.size, maps.size)
    maps.reshape(-1)[:fits] = words[:fits]
    return maps
