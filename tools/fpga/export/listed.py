"""Write and list packages of ``merp export``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.table import console, table
from merp.tools.fpga.export.languages import DIALECTS

if TYPE_CHECKING:
    from merp.tools.fpga.export.request import ExportOptions
    from merp.tools.fpga.export.run import WholePackage

OF_DESIGNS = ("layer", "all", "phase", "state", "weights")
"""Options that select designs and phases, or inputs of one of them."""


def refuse(asked: ExportOptions, *options: str, by: str) -> None:
    """Refuse options that have no effect on an export of all layers and phases.

    Raises:
        BadInput: such an option is given.
    """
    for option in options:
        if getattr(asked, option) not in (None, False):
            raise BadInput(f"{name_of(option)}: {by} has all layers and phases: omit it")


def write_package(asked: ExportOptions, network: Network, package: WholePackage, what: str) -> int:
    """Write the single package of a network, and list it."""
    from merp.tools.fpga.export.run import write_whole

    with (
        Output.of_folder("-o", asked.output) as output,
        ProgressBar("export", f"{what}: {DIALECTS[asked.language].title}, vectors, scripts") as bar,
    ):
        written = write_whole(package, output, asked.output, bar)
    return show(asked, network, [written])


def show(asked: ExportOptions, network: Network, written: Sequence[Mapping[str, Any]]) -> int:
    """List the written packages."""
    if asked.json:
        print(json.dumps({"network": network.name, "exports": written}, indent=2))
        return 0
    rows = [
        (each["directory"], each["top"], ", ".join(each["layers"]), str(len(each["files"])))
        for each in written
    ]
    heads = ("directory", "top", "layers", "files")
    console().print(table(f"Exports of {network.name}", heads, rows, text_columns=3))
    return 0
