"""A phase as an object: what an engine, an audit and an export need of it, and who makes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.delta import Delta
from merp.cosim.phases.cnn_merp.forward import Forward
from merp.cosim.phases.cnn_merp.kernel_update import KernelUpdate
from merp.cosim.phases.expectation import Pass
from merp.models.golden.golden_step import GoldenStep
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.testbenches.top.top import Top


class Phase(Protocol):
    """A phase of the layers that share a design.

    Attributes:
        name: one of ``models.network.phases.PHASES``.
    """

    @property
    def name(self) -> str:
        """One of ``models.network.phases.PHASES``."""

    def on(self, network: Network) -> Phase:
        """The same elaboration, for layers of another network."""

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every configuration port for a run of one group of ``layer``."""

    def words(self, layer: Layer, images: int) -> Mapping[str, int]:
        """Words (of state: bytes) on each port in a run of one group, by formula."""

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> Pass:
        """One group of ``layer``, fed from the golden step and compared with it."""

    def outputs(self, layer: Layer, images: int, records: Sequence[Record]) -> Bits | None:
        """What the next layer takes of the groups that ``records`` are of; None if nothing."""


ARCHITECTURES: Mapping[type[Any], Mapping[str, Any]] = {
    Design: {phase.name: phase for phase in (Forward, Delta, KernelUpdate)}
}
"""Phases by name, by the type of design."""


def phase_of(
    network: Network, layer: Layer, name: str, *, state: bool = False, before: bool = False
) -> Phase:
    """The phase ``name`` on the design of ``layer``.

    Args:
        network: with its designs. layer: one that has the phase.
        name: one of ``models.network.phases.PHASES``.
        state: forward propagation also writes the state for the way back.
        before: deltas are stored at pooled resolution, and expanded before the engine.

    Raises:
        BadInput: the layer has no design.
    """
    design = network.design(layer)
    phase: Phase = ARCHITECTURES[type(design)][name].of(network, layer, state=state, before=before)
    return phase


def phases_of(
    network: Network,
    layers: Sequence[Layer],
    names: Sequence[str],
    *,
    state: bool = False,
    before: bool = False,
) -> Iterator[tuple[Phase, Sequence[Layer]]]:
    """Yield each phase with the layers in a row that share its design, as ``phase_of``."""
    for name in names:
        having = [layer for layer in layers if has_phase(network, layer, name)]
        for _, sharing in groupby(having, key=lambda layer: layer.design):
            run = list(sharing)
            yield phase_of(network, run[0], name, state=state, before=before), run
