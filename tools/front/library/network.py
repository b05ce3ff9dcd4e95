"""A network of the library, and all that it can be asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merp.library.layer import Layer
from merp.models.base.errors import NoSuchKey, shown
from merp.models.network import network as description
from merp.models.network.phases import pair_named
from merp.tools.common.request import asks
from merp.tools.common.rows import Rows, layer_row
from merp.tools.fpga.export.request import ExportKeywords
from merp.tools.fpga.layout.request import LayoutFields
from merp.tools.fpga.system.request import SystemKeywords
from merp.tools.plan.request import PlanKeywords
from merp.tools.simulate.request import SimulateKeywords
from merp.tools.traffic import request
from merp.tools.traffic.traffic import Traffic, traffic_of
from merp.tools.train.evaluate_request import EvaluateKeywords
from merp.tools.train.predict.request import PredictKeywords
from merp.tools.train.request import TrainKeywords

if TYPE_CHECKING:
    from merp.tools.fpga.export.exports import Exports
    from merp.tools.fpga.layout.memory_layout import MemoryLayout
    from merp.tools.fpga.system.system_package import SystemPackage
    from merp.tools.plan.rows import Plan
    from merp.tools.simulate.simulation import Simulation
    from merp.tools.train.predict.evaluation import Evaluation
    from merp.tools.train.predict.prediction import Prediction
    from merp.tools.train.training import Training


class Network(Mapping[str, Layer]):
    """Layers by name, in the order of forward propagation.

    Attributes:
        description: the layers, their designs and the number format, for the tools.
    """

    def __init__(self, network: description.Network) -> None:
        self.description = network

    @property
    def name(self) -> str:
        """The name in the network file."""
        return self.description.name

    def __getitem__(self, name: str) -> Layer:
        """Return the layer of this name.

        Raises:
            NoSuchKey: there is none; the message lists the layers. It is a ``BadInput`` and a
                ``KeyError``, so that ``get`` returns its default.
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
        """Yield the names of the layers."""
        return (layer.name for layer in self.description.layers)

    def __len__(self) -> int:
        """The number of layers."""
        return len(self.description.layers)

    def __eq__(self, other: object) -> bool:
        """Return whether layers, designs and numbers are equal; weights do not count."""
        if not isinstance(other, Network):
            return NotImplemented
        return self.description == other.description

    def __repr__(self) -> str:
        """Return name and layers."""
        return f"<network {self.name}: {', '.join(self)}>"

    @property
    def layers(self) -> Rows:
        """A row per layer: sizes of one group, operations of a phase, words of kernels."""
        return Rows(f"Layers of {self.name}", map(layer_row, self.description.layers))

    def _repr_html_(self) -> str:
        """Return the table of layers, for notebooks."""
        return self.layers._repr_html_()

    @asks(request.TrafficFields)
    def traffic(self, asked: request.TrafficFields) -> Traffic:
        """Return the memory traffic of a training step, per layer and phase, by the closed form.

        Raises:
            BadInput: an argument is not allowed, or a layer cannot have a combined backward pass.
        """
        return traffic_of(self.description, asked)

    @asks(PlanKeywords)
    def plan(self, asked: PlanKeywords) -> Plan:
        """Return the passes of each layer and phase on a board, and the time of a training step.

        Raises:
            BadInput: an argument is not allowed, or the board's part is too small.
        """
        from merp.tools.plan.rows import Plan  # import only if needed: slow, as the imports below

        return Plan(self.description, asked)

    @asks(LayoutFields)
    def layout(self, asked: LayoutFields) -> MemoryLayout:
        """Return the arrays of a training step in the memory of an accelerator, with addresses.

        Raises:
            BadInput: an argument is not allowed, or a layer has no design. Or its machine has no
                arrays in memory, or they do not fit the memory.
        """
        from merp.tools.fpga.layout.memory_layout import layout_of

        return layout_of(self.description, asked)

    @asks(SimulateKeywords)
    def simulate(self, asked: SimulateKeywords) -> Simulation:
        """Run layers and phases in the hardware; each layer gets the hardware's output as its
        input.

        Every word is compared with the golden training step. Its labels are arbitrary: image i has
        class i. Floating-point numbers are rounded to the network's format. Integers must be exact
        in this format. ``uint32`` arrays are words of the format (IEEE 754 encodings). On a MAC
        array all layers run on one design, ``x`` takes numbers only, and the mask stays on chip.

        Raises:
            BadInput: an argument is not allowed, a layer has no design, the machine has too little
                memory, or the engine's simulator is not installed.
            Stuck: no word moved for too long.
        """
        from merp.tools.simulate.simulation import simulate

        return simulate(self.description, asked)

    @asks(TrainKeywords)
    def train(self, asked: TrainKeywords) -> Training:
        """Train in the hardware's arithmetic, or in simulated hardware (F-CNN section II.B).

        Raises:
            BadInput: an argument or the data is not allowed, or scikit-learn is missing. Or a layer
                has no design (without a board), the board's part is too small, or the loss is not
                finite.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong, or a process
                has ended or makes no progress.
            Stuck: no word moved for too long.
        """
        from merp.tools.train.training import train

        return train(self.description, asked)

    @asks(PredictKeywords)
    def predict(self, asked: PredictKeywords) -> Prediction:
        """Return the outputs for images, with the bits of the forward propagation of training.

        Raises:
            BadInput: an argument or a file is not allowed, a layer has no weights, or it has no
                design for the engine.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        from merp.tools.train.predict.predict import predict

        return predict(self.description, asked)

    @asks(EvaluateKeywords)
    def evaluate(self, asked: EvaluateKeywords) -> Evaluation:
        """Return accuracy, loss and confusion matrix for labelled images.

        Raises:
            BadInput: an argument or the data is not allowed, a layer has no weights, or it has no
                design for the engine.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        from merp.tools.train.evaluate import evaluate

        return evaluate(self.description, asked)

    @asks(ExportKeywords)
    def export(self, asked: ExportKeywords) -> Exports:
        """Write hardware with AXI, testbench, vectors and scripts: a package per design and phase.

        Raises:
            BadInput: an argument is not allowed, a layer has no design, or the folder cannot be
                written. Existing files are then kept.
            RuntimeError: GHDL or Verilator, if installed, refuses the exported files.
        """
        from merp.tools.fpga.export.exports import export

        return export(self.description, asked)

    @asks(SystemKeywords)
    def system(self, asked: SystemKeywords) -> SystemPackage:
        """Write the accelerator that runs a training step from memory, with its lists.

        Raises:
            BadInput: an argument is not allowed, a layer has no design, or the machine cannot run a
                step from memory. Or the memory is too small, or the folder cannot be written.
                Existing files are then kept.
            RuntimeError: GHDL or Verilator, if installed, refuses the hardware.
        """
        from merp.tools.fpga.system.system_package import system

        return system(self.description, asked)
