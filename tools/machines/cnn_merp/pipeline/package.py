"""The export of a network as a pipeline: all its engines behind one AXI shell, and a step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.pipeline.batch import batch
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.models.base.errors import BadInput
from merp.models.base.names import folder_name, identifier
from merp.models.base.rates import PLAIN
from merp.models.fpga.order_codes import FlowTarget
from merp.models.machines.cnn_merp.at_once.places import check_depth
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.pipeline.cycles import pipeline_cycles
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.network.network import Network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.top.top import Top
from merp.tools.common.time_spent import TimeSpent
from merp.tools.fpga.export.languages import Dialect
from merp.tools.fpga.export.package import Frame
from merp.tools.machines.cnn_merp.at_once.package import PARAMETERS, random_step, when, write_step

KIND = "pipeline"
WORDS = PARAMETERS | {
    "map": "map words in the order image, row, column, map: images in, scores out",
    "delta": "deltas of the scores in the order image, map; of each image after its scores",
}
"""Contents of a stream, by the end of its name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PipelinePackage:
    """A network for the export as a pipeline.

    Attributes:
        network: network with its designs.
        depth: maximum number of images in flight.
        images: number of images of a run.
        target: the FPGA.
        clock_mhz: clock of the constraint.
        dialect: the language.

    Raises:
        BadInput: a pipeline does not support the network, ``depth`` would deadlock, or there are
            more registers than the addresses of the shell.
    """

    network: Network
    depth: int
    images: int
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect

    def __post_init__(self) -> None:
        """Check that the network is a pipeline."""
        check_depth(self.network, self.images, self.depth)
        try:
            axi_registers_of(self.pipeline.top())
        except ValueError as error:
            layers = f"{len(self.network.layers)} layers in one AXI shell"
            raise BadInput(f"{self.network.name}: {layers}: {error}") from error

    @cached_property
    def pipeline(self) -> HardwarePipeline:
        """The engines of the pipeline."""
        return HardwarePipeline(self.network, pipeline_design(self.network, self.depth), PLAIN)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return folder_name(self.network.name, KIND)

    @property
    def frame(self) -> Frame:
        """The values of the package that all packages have."""
        units = sum(design_of(self.network, layer).n_cu for layer in self.network.layers)
        return Frame(
            name=self.name,
            entity=identifier("merp", self.network.name, KIND),
            title=f"{self.network.name}, a training pipeline of {len(self.network.layers)} layers, "
            f"{units} CUs in each phase",
            core=(identifier(self.network.name), KIND),
            target=self.target,
            clock_mhz=self.clock_mhz,
            dialect=self.dialect,
        )

    def batch(self) -> ConcurrentBatch:
        """A step on random images."""
        model, step, rates = random_step(self.network, self.images)
        return batch(self.pipeline, model, step, rates, self.depth)

    def write(self, spent: TimeSpent, directory: Path) -> dict[str, Any]:
        """Write every file except the manifest; return the manifest's contents except the hashes.

        Raises:
            RuntimeError: GHDL or Verilator is installed and rejects the exported files.
        """
        network = self.network
        cycles = pipeline_cycles(network, self.images, self.depth).total
        facts = {
            "design": KIND,
            "depth": self.depth,
            "images": self.images,
            "modelled_cycles": cycles,
            "layers": [
                {"layer": layer.name, "name": f"layer{place}"}
                for place, layer in enumerate(network.layers, 1)
            ],
        }
        said = {
            "step": "kernels in, images in, scores out, deltas of the scores in, new kernels out",
            "run": "The deltas of an image can arrive at any time after its scores have left. The "
            f"bench knows them and sends them immediately. A run of {self.images} image(s) "
            f"with at most {self.depth} of them in flight takes {cycles:,} cycles by the "
            "model.",
            "stream_words": _stream_words(self.pipeline.top(), self.pipeline),
        }
        with spent.on("golden"):
            made = self.batch()
        return write_step(self.frame, made, facts, said, spent, directory)


def _stream_words(engine: Top, pipeline: HardwarePipeline) -> dict[str, str]:
    """Return contents and order of words by stream."""
    names = {f"layer{each.place}": each.layer.name for each in pipeline.engines}
    said = {}
    for pin in engine.ports.streams:
        layer = next((name for place, name in names.items() if f"_{place}_" in pin.name), "")
        kind = WORDS[pin.name.rpartition("_")[2]]
        said[pin.name] = f"{kind} of {layer}, {when(pin.name)}" if layer else kind
    return said
