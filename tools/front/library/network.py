"""A network, to be asked: what it moves, what it computes, what it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merp.library.layer import Layer
from merp.models.base.errors import NoSuchKey, shown
from merp.models.network import network as description
from merp.models.network.phases import pair_named
from merp.tools.common.request import asks
from merp.tools.common.rows import Rows, layer_row
from merp.tools.export.request import ExportKeywords
from merp.tools.plan.request import PlanKeywords
from merp.tools.simulate.request import SimulateKeywords
from merp.tools.traffic import request
from merp.tools.traffic.traffic import Traffic, traffic_of
from merp.tools.train.request import TrainKeywords

if TYPE_CHECKING:
    from merp.tools.export.exports import Exports
    from merp.tools.plan.rows import Plan
    from merp.tools.simulate.simulation import Simulation
    from merp.tools.train.training import Training


class Network(Mapping[str, Layer]):
    """Layers by name, in the order of forward propagation.

    Attributes:
        description: the layers, their designs and the number format as the tools see them.
    """

    def __init__(self, network: description.Network) -> None:
        self.description = network

    @property
    def name(self) -> str:
        """As in the network file."""
        return self.description.name

    def __getitem__(self, name: str) -> Layer:
        """The layer of that name.

        Raises:
            NoSuchKey: there is none; the message lists those that there are. It is a ``BadInput``
                and a ``KeyError``, so that ``get`` has its default.
        """
        if not isinstance(name, str):
            raise NoSuchKey(f"layer = {shown(name)}: allowed is text")
        if pair_named(self.description, name):
            raise NoSuchKey(
                f"{self.name}: {name!r} names two layers: allowed is one of them, or both fused by "
                f"simulate(layer={name!r})"
            )
        return Layer(self.description, self.description.layer(name))

    def __iter__(self) -> Iterator[str]:
        """Names of the layers."""
        return (layer.name for layer in self.description.layers)

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self.description.layers)

    def __eq__(self, other: object) -> bool:
        """Whether layers, designs and numbers are equal; weights do not count."""
        if not isinstance(other, Network):
            return NotImplemented
        return self.description == other.description

    def __repr__(self) -> str:
        """Name and layers."""
        return f"<network {self.name}: {', '.join(self)}>"

    @property
    def layers(self) -> Rows:
        """A row per layer: sizes of one group, operations of a phase, words of kernels."""
        return Rows(f"Layers of {self.name}", map(layer_row, self.description.layers))

    def _repr_html_(self) -> str:
        """The table of layers, as notebooks show it."""
        return self.layers._repr_html_()

    @asks(request.TrafficFields)
    def traffic(self, asked: request.TrafficFields) -> Traffic:
        """Memory traffic of a training step, per layer and phase, by the closed form.

        Raises:
            BadInput: an argument is not what is allowed, or a layer cannot go back in one pass.
        """
        return traffic_of(self.description, asked)

    @asks(PlanKeywords)
    def plan(self, asked: PlanKeywords) -> Plan:
        """The passes of each layer and phase on a board, and what a training step takes there.

        Raises:
            BadInput: an argument is not what is allowed, or the board's part is too small.
        """
        from merp.tools.plan.rows import Plan  # slow imports wait, here and below

        return Plan(self.description, asked)

    @asks(SimulateKeywords)
    def simulate(self, asked: SimulateKeywords) -> Simulation:
        """Run layers and phases in the hardware, each on what the hardware made of those in front.

        Every word is compared with the golden training step, whose labels are arbitrary (image i is
        of class i). Floating-point numbers are rounded into the network's format, integers must be
        held by it, and ``uint32`` arrays are words of it (IEEE 754 encodings). On a MAC array all
        layers run on one design, ``x`` takes numbers alone, and state stays on the chip.

        Raises:
            BadInput: an argument is not what is allowed, a layer has no design, the machine has too
                little memory, or the engine's simulator is not installed.
            Stuck: no word moved for too long.
        """
        from merp.tools.simulate.simulation import simulate

        return simulate(self.description, asked)

    @asks(TrainKeywords)
    def train(self, asked: TrainKeywords) -> Training:
        """Train in the hardware's own arithmetic, or in the hardware itself (F-CNN section II.B).

        Raises:
            BadInput: an argument or the data is not what is allowed, scikit-learn is missing, a
                layer has no design (without a board), the board's part is too small, or the loss is
                no longer finite.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong, or a process
                has ended or stands still.
            Stuck: no word moved for too long.
        """
        from merp.tools.train.training import train

        return train(self.description, asked)

    @asks(ExportKeywords)
    def export(self, asked: ExportKeywords) -> Exports:
        """Write hardware behind AXI, bench, vectors and scripts: a package per design and phase.

        Raises:
            BadInput: an argument is not what is allowed, a layer has no design, or the folder
                cannot be written: what was there is still.
            RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
        """
        from merp.tools.export.exports import export

        return export(self.description, asked)
