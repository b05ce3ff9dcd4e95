"""The results of a simulation of layers and phases of a network, for Python."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, shown
from merp.models.golden.initial import Parameters
from merp.models.golden.initial import parameters as initial
from merp.models.network.network import Network
from merp.models.network.phases import called, made_by
from merp.tools.common.checks import array_of, words
from merp.tools.common.progress import Progress
from merp.tools.common.rows import Row, Rows
from merp.tools.simulate import work
from merp.tools.simulate.pieces import pieces
from merp.tools.simulate.report import pictures
from merp.tools.simulate.request import SimulateKeywords
from merp.tools.simulate.session import SimulationOutcome
from merp.tools.simulate.simulated import Simulated as Machine
from merp.tools.simulate.simulated import Words, simulated_of
from merp.tools.simulate.work import Inputs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Simulation(Rows):
    """One row for each layer and phase that ran, with every word compared to the golden model.

    The keys of a row are:

    - ``layer``: name of the layer; for two fused layers ``conv1+conv2``
    - ``phase``, ``passed``, ``words_compared``, ``mismatches``
    - ``cycles``: from the first map word in to the last word out
    - ``kernel_load``: cycles before; None on an array, which loads kernels at the same time
    - ``efficiency``: useful cycles of the CUs or MACs over all cycles
    - ``mb_per_gflop``: 10^6 bytes on all ports per 10^9 operations

    Attributes:
        network: network with the designs that ran.
        x: (images, rows, columns, channels) words of the input.
        audits: words counted in four ways, bits, cycles by cause, by layer and phase, named as in a
            row.
        words: output maps of forward propagation, (images, pooled rows, pooled columns, maps of
            the groups that ran) words of the network's format. The key is the name of the layer;
            for two fused layers it is ``conv1+conv2``, because the map between them stays on chip.
        paths: the files that were written.
    """

    def __init__(self, found: SimulationOutcome, x: Bits, paths: tuple[Path, ...]) -> None:
        choice = found.choice
        self.network, self.x, self.paths = choice.network, x, paths
        named = {
            (called(choice.network, each.layer, each.phase), each.phase): each
            for each in found.results
        }
        self.audits: Mapping[tuple[str, str], Audit] = {
            key: each.audit for key, each in named.items()
        }
        self.words: Mapping[str, Bits] = {
            name: each.outputs for (name, _), each in named.items() if each.outputs is not None
        }
        self._found = found
        title = f"{choice.network.name} on {choice.engine}, {choice.images} image(s)"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        for (layer, phase), audit in self.audits.items():
            yield {
                "layer": layer,
                "phase": phase,
                "passed": audit.passed,
                "words_compared": audit.words_compared,
                "mismatches": audit.mismatches,
                "cycles": audit.cycles["total"],
                "kernel_load": audit.cycles.get("kernel_load"),
                "efficiency": audit.efficiency,
                "mb_per_gflop": audit.mb_per_gflop(tuple(audit.ports)),
            }

    @property
    def passed(self) -> bool:
        """Whether all bits, counts and cycles are as expected."""
        return self._found.passed

    @property
    def audit(self) -> Audit:
        """The audit of all passes together."""
        return combine(list(self.audits.values()))

    @property
    def arrays(self) -> Mapping[str, NDArray[np.float64]]:
        """``words`` as float64 numbers, exactly."""
        machine = simulated_of(self.network, self._found.choice.layers)
        return {
            called(self.network, each.layer, each.phase): machine.numbers(
                self.network, made_by(self.network, each.layer, each.phase), each.outputs
            )
            for each in self._found.results
            if each.outputs is not None
        }

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp simulate --layer all --json``: ``runs``, and their
        ``total``."""
        return self._found.answer(everything=True)

    def __repr__(self) -> str:
        """Return verdict and cycles."""
        return f"<{self._said()}>"

    def _said(self) -> str:
        audit = self.audit
        verdict = "passed" if self.passed else f"FAILED: {'; '.join(audit.failures)}"
        passes = f"{len(self)} {'pass' if len(self) == 1 else 'passes'}"
        return (
            f"{self.title}, {passes}: {verdict}; {audit.words_compared:,} words compared, "
            f"{audit.mismatches:,} differ; {audit.cycles['total']:,} cycles"
        )

    def _repr_html_(self) -> str:
        """Return verdict, passes and pictures of maps, for notebooks."""
        found = self._found
        drawn = pictures(found.choice, found.results, found.golden)
        images = (
            f'<img alt="input and output maps of {escape(name)}" '
            f'src="data:image/png;base64,{b64encode(picture).decode("ascii")}">'
            for name, picture in drawn.items()
        )
        return f"<p>{escape(self._said())}</p>{super()._repr_html_()}{''.join(images)}"


def simulate(network: Network, asked: SimulateKeywords) -> Simulation:
    """Run the requested simulation, and write its output.

    Raises:
        BadInput: options contradict each other, an output cannot be written, or a simulator is not
            installed.
        Stuck: no word moved for too long.
    """

    def read(_: Network, machine: Machine) -> Words | None:
        if asked.x is None:
            return None
        return machine.words_of("x", array_of("x", asked.x, (None, *network.input)), network)

    progress = Progress(asked.progress)
    ready, maps = pieces(network, asked, read)
    given = checked_parameters(network, asked.parameters)

    def inputs() -> Inputs:
        return Inputs(
            maps=maps,
            parameters=initial(ready.choice.network, asked.seed, given) if given else None,
            given={
                f"{name}.{part}": array.tobytes()
                for name, pair in sorted(given.items())
                for part, array in zip(("kernel", "bias"), pair, strict=True)
            },
        )

    done = work.simulate(
        ready, asked, inputs, lambda _: nullcontext(progress), progress.say, everything=True
    )
    return Simulation(done.found, done.maps, done.paths)


def checked_parameters(network: Network, given: object) -> Parameters:
    """Return the given kernels and biases as words, by layer name.

    Raises:
        BadInput: a layer does not exist, or an array has another size or type.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput(
            f"parameters = {shown(given)}: allowed is a mapping from layer names to "
            "(kernels, biases)"
        )
    for name in given:
        if not isinstance(name, str):
            raise BadInput(f"parameters: {shown(name)}: allowed are names of layers")
    return {network.layer(name).name: _pair(network, name, pair) for name, pair in given.items()}


def _pair(network: Network, name: str, pair: object) -> tuple[Bits, Bits]:
    where = f"parameters[{name!r}]"
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise BadInput(f"{where} = {shown(pair)}: allowed is (kernels, biases)")
    layer = network.layer(name)
    size = layer.biases, layer.shape.n, layer.shape.k, layer.shape.k
    kernels: ArrayLike = pair[0]
    biases: ArrayLike = pair[1]
    return (
        words(f"{where}: kernels", kernels, size, network.fmt),
        words(f"{where}: biases", biases, size[:1], network.fmt),
    )
