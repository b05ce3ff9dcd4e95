"""Compute slow parts that write nothing only once: drawings, and the VHDL of a design.

A trial's process is forked from a process that has these results. Therefore it spends most of its
life in the writer. Trials that start the command line itself have no such results, and must write
the same bytes.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import merp.tools.common.progress_bar as progress_bar
import merp.tools.fpga.export.package as package
import merp.tools.fpga.system.system_package as system_package
import merp.tools.report.page as page
import merp.tools.simulate.map_picture as map_picture
import merp.tools.train.loss_chart as loss_chart
import merp.tools.train.report as train_report
from merp.hdl.conversion.convert import Export, convert


def remember() -> None:
    """Make this process, and all processes forked from it, remember these results."""
    drawn = _remembered(loss_chart.draw)
    for module in (loss_chart, train_report):
        module.draw = drawn  # type: ignore[attr-defined]
    map_picture.draw = _remembered(map_picture.draw)  # type: ignore[attr-defined]
    page.charts = _remembered(page.charts)  # type: ignore[attr-defined]
    package.convert = _converted()  # type: ignore[attr-defined]
    system_package.convert = _converted()  # type: ignore[attr-defined]
    system_package.analyse = lambda *_: None  # type: ignore[attr-defined]
    progress_bar.PATIENCE = 1e6  # the first run of a verb is slow, and must say nothing


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def call(*args: Any) -> Any:
        key = json.dumps(args, default=_plain)
        if key not in known:
            known[key] = function(*args)
        return known[key]

    return call


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)


def _converted() -> Callable[..., Export]:
    """Return a ``convert`` that writes the same files again if it has made them before."""
    known: dict[tuple[str, str], tuple[Export, Mapping[str, bytes]]] = {}

    def call(function: Any, args: Any, hdl: Any, directory: Path, prefix: str = "") -> Export:
        key = hdl, prefix  # of the one design of the tiny network
        if key not in known:
            made = convert(function, args, hdl, directory, prefix=prefix)
            known[key] = made, {path.name: path.read_bytes() for path in made.files}
        export, texts = known[key]
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_bytes(text)
        return dataclasses.replace(export, files=tuple(directory / name for name in texts))

    return call
