"""Results of an export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.owned import MANIFEST
from merp.tools.common.progress import Progress
from merp.tools.common.rows import Rows
from merp.tools.fpga.export.request import ExportKeywords, selected
from merp.tools.fpga.export.run import Exporting
from merp.tools.fpga.export.schedule import PAGE, SCHEDULE


class Exports(Rows):
    """A row per written package, a design in a phase.

    Keys of a row: ``design``, ``phase``, ``layers`` that run on it, ``directory``, ``top`` entity,
    ``files`` by their paths in the directory.

    Attributes:
        network: name of the network.
        paths: every written file.
    """

    def __init__(
        self, network: str, output: Path, packages: Sequence[dict[str, Any]], beside: Sequence[str]
    ) -> None:
        self.network = network
        self.paths: tuple[Path, ...] = (
            *(output / name for name in beside),
            *(Path(p["directory"]) / name for p in packages for name in (*p["files"], MANIFEST)),
        )
        self._packages = packages
        super().__init__(f"Exports of {network}", packages)

    def json(self) -> dict[str, Any]:
        """The answer of ``merp export --json``."""
        return {"network": self.network, "exports": [dict(each) for each in self._packages]}


def export(network: Network, asked: ExportKeywords) -> Exports:
    """Write the requested packages into a folder.

    Raises:
        BadInput: as in ``select``, delta propagation of the first layer, or the folder cannot be
            written.
        RuntimeError: GHDL or Verilator is installed and rejects the exported files.
    """
    selection, output = selected(network, asked), Path(asked.output)
    with Output.of_folder("output", output) as folder:
        written = Exporting.of(selection).write(folder, output, Progress(asked.progress))
    beside = (PAGE, SCHEDULE) if selection.layer is None else ()
    return Exports(selection.network.name, output, written, beside)
