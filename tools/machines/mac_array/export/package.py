"""The export of a MAC array: one bitstream of all layers and phases behind an AXI shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from merp.cosim.machines.mac_array.phases.array_phase import ports_of
from merp.cosim.machines.mac_array.phases.built import check_array
from merp.cosim.phases.audit.vectors import write_vectors
from merp.hdl.conversion.convert import convert
from merp.models.base.fixed import FIXED16
from merp.models.base.names import folder_name, identifier
from merp.models.base.register_map import RegisterMap
from merp.models.fpga.order_codes import FlowTarget
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import MAX_PASSES, schedule_layout
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Layer, Network
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.mac_array.trainer_bench import trainer_top
from merp.testbenches.top.top import Top, TopPorts
from merp.tools.common.time_spent import TimeSpent
from merp.tools.fpga.export.languages import Dialect
from merp.tools.fpga.export.package import Frame, write_header, write_software
from merp.tools.machines.mac_array.export.schedule import (
    ScheduledPass,
    kind_of,
    schedule_header,
    schedule_json,
    scheduled,
)
from merp.tools.machines.mac_array.export.vectors import SmallPass, small_passes

WORDS: Final[Mapping[str, str]] = {
    "s_axis_map": "FP: atoms of input maps in the order load band, map, row, block of columns. DP: "
    "atoms of deltas in the same order. KU: atoms of input maps in the order group of maps, row, "
    "map in the group, block of columns. Un-pooling: atoms of pooled deltas in the order map, row, "
    "block of columns",
    "s_axis_delta": "KU: atoms of deltas in the order tile of maps, row, lane, block of columns",
    "s_axis_kernel": "FP: beats in the order tile of output maps, input map, tap, and a beat of "
    "biases after each tile. DP: beats in the order tile of input maps, tile of output maps, input "
    "map in its tile, tap, without biases. KU of the last image: old ones in KU order",
    "s_axis_gradient": "KU of all images but the first: beats in KU order",
    "s_axis_velocity": "KU of the last image: old ones in KU order",
    "s_axis_target": "FP with a loss: the number of the correct class, a single word",
    "m_axis_map": "FP: atoms of outputs in the order band, tile of maps, tile of columns, lane, "
    "row. With a loss their deltas follow, in the same order. DP: atoms of deltas in the order "
    "band, row within the stride, tile of maps, tile of columns, lane, row. Un-pooling: in the "
    "order map, pooled row, pooled block, row and block of the expanded deltas",
    "m_axis_kernel": "KU of the last image: new ones in KU order",
    "m_axis_gradient": "KU of all images but the last: beats in KU order",
    "m_axis_velocity": "KU of the last image: new ones in KU order",
}
"""Contents of a stream, pass by pass (``models/machines/mac_array/orders.py``)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayPackage:
    """A network's array for the export.

    Attributes:
        network: network with its design.
        fused: whether the schedule's deltas are stored at pooled resolution.
        images: number of images of a batch, for the schedule.
        target: the FPGA.
        clock_mhz: clock of the constraint.
        dialect: the language.

    Raises:
        BadInput: the network is not on one array that supports all layers and phases.
    """

    network: Network
    fused: bool
    images: int
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect

    def __post_init__(self) -> None:
        """Check that one bitstream runs all layers and phases."""
        check_array(self.network)

    @property
    def layer(self) -> Layer:
        """A layer. All layers have the same design."""
        return self.network.layers[0]

    @property
    def design(self) -> ArrayDesign:
        """The array."""
        return design_of(self.network, self.layer)

    @cached_property
    def small(self) -> tuple[SmallPass, ...]:
        """The passes whose vectors are written."""
        return tuple(small_passes(self.network))

    @property
    def name(self) -> str:
        """Name of the folder."""
        return folder_name(self.network.name, str(self.layer.design))

    @property
    def frame(self) -> Frame:
        """The values of the package that all packages have."""
        network, design = self.network.name, str(self.layer.design)
        of = self.design
        return Frame(
            name=self.name,
            entity=identifier("merp", network, design),
            title=f"{network} {design}, all layers and phases, {of.pox} x {of.poy} pixels of "
            f"{of.pof} maps",
            core=(identifier(network), identifier(design)),
            target=self.target,
            clock_mhz=self.clock_mhz,
            dialect=self.dialect,
            passes=len(self.small),
        )

    def write(self, spent: TimeSpent, directory: Path) -> dict[str, Any]:
        """Write every file except the manifest; return the manifest's contents except the hashes.

        Raises:
            RuntimeError: GHDL or Verilator is installed and rejects the exported files.
        """
        with spent.on("golden"):
            frame = self.frame
            passes = tuple(scheduled(self.network, self.images, fused=self.fused))
        engine = trainer_top(self.design, "rtl")
        shell = axi_top(engine)
        registers: RegisterMap = shell.args["registers"]
        hdl, prefix = directory / "hdl", f"{frame.entity}_"
        export = convert(shell.function, shell.args, self.dialect.name, hdl, prefix=prefix)
        vectors = self._write_vectors(directory / "vectors" / "small", engine.ports, registers)
        self._write_software(directory / "software", registers, passes)
        facts = frame.facts(engine, export, registers) | {
            "design": str(self.layer.design),
            "phase": "all",
            "format": self._format(),
            "images": self.images,
            "layers": [{"layer": layer.name} for layer in self.network.layers],
            "streams": _streams(self.design, engine),
            "vectors": {"small": vectors},
        }
        values = facts | {
            "stream_words": {pin.name: WORDS[pin.name] for pin in engine.ports.streams},
            "command": None,
            "stored": {},
            "scheduled": passes,
            "max_passes": MAX_PASSES,
            "schedule_words": schedule_layout(self.design).words,
            "unrolled": self.design,
        }
        frame.write(engine, export, registers, values, spent, directory)
        return facts

    def _write_vectors(
        self, directory: Path, ports: TopPorts, registers: RegisterMap
    ) -> dict[str, Any]:
        """Write the small passes, a folder each; return their part of the manifest."""
        rows = []
        for number, each in enumerate(self.small, 1):
            compared = write_vectors(directory / str(number), each.given, ports, registers)
            rows.append(
                {
                    "layer": each.layer.name, "image": each.image + 1, "kind": said(each.work),
                    "words_compared": compared,
                }
            )  # fmt: skip
        return {"words_compared": sum(row["words_compared"] for row in rows), "passes": rows}

    def _write_software(
        self, directory: Path, registers: RegisterMap, passes: tuple[ScheduledPass, ...]
    ) -> None:
        top, images = self.frame.entity, self.images
        write_header(directory, top, registers, {}, self.network.name)
        header = schedule_header(replace(registers, top=top), images, passes, self.design)
        write_software(directory, f"{top}_schedule.h", header)
        text = schedule_json(self.network.name, images, passes, self.design)
        write_software(directory, "schedule.json", text)

    def _format(self) -> dict[str, Any]:
        numbers = self.network.fixed
        return {
            "name": FIXED16,
            "rounding": numbers.rounding,
            "input": numbers.input,
            "layers": {each.name: asdict(numbers.of(each.name)) for each in self.network.layers},
        }


def said(work: ArrayPass) -> str:
    """Return the kind of a pass, and the image of its batch if that matters."""
    if work.phase != "ku":
        return kind_of(work)
    place = {(True, True): "only", (True, False): "first", (False, True): "last"}
    return f"{kind_of(work)}, {place.get((work.first, work.last), 'further')} image"


def _streams(design: ArrayDesign, engine: Top) -> dict[str, dict[str, Any]]:
    """Return each stream's word width in bits, words per beat, and counter."""
    ports = {stream: port for port, stream in ports_of(design).items()}
    return {
        pin.name: {"port": ports[pin.name], "width": pin.element}
        | ({"lanes": pin.lanes} if pin.lanes > 1 else {})
        for pin in engine.ports.streams
    }
