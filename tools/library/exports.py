"""What was exported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merp.tools.common.output import Output
from merp.tools.common.owned import MANIFEST
from merp.tools.common.progress import Progress
from merp.tools.export.run import Exporting
from merp.tools.export.schedule import PAGE, SCHEDULE
from merp.tools.export.selection import Selection
from merp.tools.library.rows import Rows


class Exports(Rows):
    """A row per package that was written, a design in a phase.

    Keys of a row: ``design``, ``phase``, ``layers`` that run on it, ``directory``, ``top`` entity,
    ``files`` by their paths in the directory.

    Attributes:
        network: its name. paths: every file that was written.
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


def export(selection: Selection, output: Path, progress: Progress) -> Exports:
    """Write the packages of what was selected into a folder.

    Raises:
        BadInput: delta propagation of the first layer, or the folder cannot be written.
        RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
    """
    with Output.of_folder("output", output) as folder:
        written = Exporting.of(selection).write(folder, output, progress)
    name = selection.network.name
    return Exports(name, output, written, (PAGE, SCHEDULE) if selection.layer is None else ())
