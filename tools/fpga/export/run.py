"""Export a selection: a package per bitstream, and the schedule of all bitstreams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.time_spent import TimeSpent
from merp.tools.fpga.bitstream.bitstream import Bitstream, bitstream_of, schedule
from merp.tools.fpga.export import package
from merp.tools.fpga.export.schedule import schedule_files
from merp.tools.fpga.export.selection import Selection


@dataclass(frozen=True, eq=False)
class Exporting:
    """An export that is ready to be written.

    Attributes:
        selection: the selection.
        bitstreams: its bitstreams, each once.
    """

    selection: Selection
    bitstreams: tuple[Bitstream, ...]

    @classmethod
    def of(cls, selection: Selection) -> Exporting:
        """Find the bitstreams.

        Raises:
            BadInput: delta propagation of the first layer.
        """
        network, choice = selection.network, _choice(selection)
        if selection.layer is None:
            found = [bitstream for bitstream, _ in schedule(network, **choice)]
        else:
            found = [bitstream_of(network, selection.layer, selection.phase, **choice)]
        return cls(selection, tuple({each.name: each for each in found}.values()))

    @property
    def plan(self) -> str:
        """A line that describes the work."""
        count = len(self.bitstreams)
        what = "1 design in a phase" if count == 1 else f"{count} designs, each in a phase"
        return f"{what}: {self.selection.dialect.title}, vectors, scripts"

    def write(self, output: Output, directory: Path, progress: Progress) -> list[dict[str, Any]]:
        """Write the packages as one set; return a row per package.

        Args:
            output: the locked output folder.
            directory: the same folder as the user gave it, for the rows.
            progress: called with the progress.

        Raises:
            BadInput: the packages cannot be written.
            RuntimeError: GHDL or Verilator is installed and rejects the exported files.
        """
        selected, exported = self.selection, {}
        with progress.spent.on("converting and writing"):
            for done, bitstream in enumerate(self.bitstreams):
                total = len(self.bitstreams)
                progress.count(done, total, f"{bitstream.name}, {done} of {total} done")
                wanted = package.PackageRequest(
                    bitstream=bitstream, layer=selected.layer, images=selected.images,
                    target=selected.target, clock_mhz=selected.clock_mhz, dialect=selected.dialect,
                )  # fmt: skip
                filled = output.add_folder(
                    bitstream.name, partial(package.write_package, wanted, progress.spent)
                )
                exported[bitstream.name] = filled
            if selected.layer is None:
                choice = _choice(selected)
                network, target = selected.network, selected.target
                output.add(schedule_files(network, target, exported, **choice))
            output.commit()
        return [row(directory, name, manifest) for name, manifest in exported.items()]


def row(directory: Path, name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a package."""
    return {
        "design": manifest["design"],
        "phase": manifest["phase"],
        "layers": [each["layer"] for each in manifest["layers"]],
        "directory": str(directory / name),
        "top": manifest["top"],
        "files": list(manifest["files"]),
    }


class WholePackage(Protocol):
    """A network in one package."""

    @property
    def name(self) -> str:
        """Name of the folder."""

    def write(self, spent: TimeSpent, directory: Path) -> dict[str, Any]:
        """Write every file except the manifest.

        Return the manifest's contents except the hashes.
        """


def write_whole(
    package: WholePackage, output: Output, directory: Path, progress: Progress
) -> dict[str, Any]:
    """Write a network as one package, and return its row for the list of packages.

    Raises:
        BadInput: the package cannot be written.
        RuntimeError: GHDL or Verilator is installed and rejects the exported files.
    """
    with progress.spent.on("converting and writing"):
        manifest = output.add_folder(package.name, partial(package.write, progress.spent))
        output.commit()
    return row(directory, package.name, manifest)


def _choice(selection: Selection) -> dict[str, bool]:
    return {"state": selection.state, "before": selection.before}
