"""Exports what was selected: a package per bitstream, and the schedule of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from merp.tools.bitstream.bitstream import Bitstream, bitstream_of, schedule
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.time_spent import TimeSpent
from merp.tools.export import package
from merp.tools.export.schedule import schedule_files
from merp.tools.export.selection import Selection


@dataclass(frozen=True, eq=False)
class Exporting:
    """An export that is ready to be written.

    Attributes:
        selection: what was selected. bitstreams: each once.
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
        """Write the packages as one set; what was written, a row per package.

        Args:
            output: where to, held. directory: the same as it was given, for the rows.

        Raises:
            BadInput: it cannot be written.
            RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
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
    """What was written of a package."""
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
        """As a folder."""

    def write(self, spent: TimeSpent, directory: Path) -> dict[str, Any]:
        """Write every file but the manifest; return what the manifest says beside the hashes."""


def write_whole(
    package: WholePackage, output: Output, directory: Path, progress: Progress
) -> dict[str, Any]:
    """Write a network as one package; what was written, as a row of ``Exporting.write``.

    Raises:
        BadInput: it cannot be written.
        RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
    """
    with progress.spent.on("converting and writing"):
        manifest = output.add_folder(package.name, partial(package.write, progress.spent))
        output.commit()
    return row(directory, package.name, manifest)


def _choice(selection: Selection) -> dict[str, bool]:
    return {"state": selection.state, "before": selection.before}
