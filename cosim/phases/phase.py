"""A phase as an object, for engines, audits and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top


@runtime_checkable
class OwnResults(Protocol):
    """A phase whose words need an order of its own to be arrays."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the output arrays by name, of the groups of ``layer`` in ``records``."""


class HardwarePhase(Protocol):
    """A phase of the layers that share a design."""

    @property
    def name(self) -> str:
        """One of ``models.network.phases.NAMED``."""

    @property
    def network(self) -> Network:
        """Network of the layers."""

    def on(self, network: Network) -> HardwarePhase:
        """Return the same elaboration for layers of another network."""

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for a run of one group of ``layer``."""

    def words(self, layer: Layer, images: int) -> Mapping[str, int]:
        """Return the words (for masks: bytes) on each port in a run of one group, by formula."""

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the pass of one group of ``layer``, with golden operands and golden outputs.

        Args:
            step: the golden step, in the type of the architecture.
        """

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return the next layer's input from the groups in ``records``; None if there is none.

        In delta propagation it is the delta of the layer in front, if ``InPhases`` trains on it.
        """
