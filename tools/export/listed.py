"""Packages of ``merp export``: written, and listed."""

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
from merp.tools.export.languages import DIALECTS

if TYPE_CHECKING:
    from merp.tools.export.request import ExportOptions
    from merp.tools.export.run import WholePackage

OF_DESIGNS = ("layer", "all", "phase", "state", "weights")
"""Options that choose among designs and phases, or say what one of them is fed with."""


def refuse(asked: ExportOptions, *options: str, by: str) -> None:
    """Refuse options that say nothing to what has all layers and phases.

    Raises:
        BadInput: one of them is given.
    """
    for option in options:
        if getattr(asked, option) not in (None, False):
            raise BadInput(f"{name_of(option)}: {by} has all layers and phases: allowed without")


def write_package(asked: ExportOptions, network: Network, package: WholePackage, what: str) -> int:
    """Write the one package of a network, and list it."""
    from merp.tools.export.run import write_whole

    with (
        Output.of_folder("-o", asked.output) as output,
        ProgressBar("export", f"{what}: {DIALECTS[asked.language].title}, vectors, scripts") as bar,
    ):
        written = write_whole(package, output, asked.output, bar)
    return show(asked, network, [written])


def show(asked: ExportOptions, network: Network, written: Sequence[Mapping[str, Any]]) -> int:
    """List what was written."""
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
