"""A phase as an object: what an engine, an audit and an export need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top


class HardwarePhase(Protocol):
    """A phase of the layers that share a design."""

    @property
    def name(self) -> str:
        """One of ``models.network.phases.NAMED``."""

    @property
    def network(self) -> Network:
        """Whose layers run."""

    def on(self, network: Network) -> HardwarePhase:
        """The same elaboration, for layers of another network."""

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every configuration port for a run of one group of ``layer``."""

    def words(self, layer: Layer, images: int) -> Mapping[str, int]:
        """Words (of state: bytes) on each port in a run of one group, by formula."""

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """One group of ``layer``, fed from the golden step and compared with it.

        step: of the architecture's own kind.
        """

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """What the next layer takes of the groups that ``records`` are of; None if nothing."""
