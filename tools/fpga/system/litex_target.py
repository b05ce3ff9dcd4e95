"""The LiteX target of a package: the generator of its system, and its firmware."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from merp.models.network.registry import machine_that_runs
from merp.tools.common.data import DATA
from merp.tools.fpga.export.package import render
from merp.tools.fpga.litex.examples import (
    EXAMPLES,
    Examples,
    allowed_machines,
    examples_on,
    meant_of,
    words_of,
)
from merp.tools.fpga.litex.programs import FOLDER
from merp.tools.fpga.system.driver import constants
from merp.tools.fpga.system.planned_system import PlannedStep

SOURCES: Final = "soc.py", "firmware.c", "firmware.ld", "simulation.cpp", "multiply.v", "mac.v"
TABLES: Final = "examples.h"
SYSTEM: Final = "system.json"
BOARDS: Final = ("ulx3s-85f",)
"""Boards with a LiteX target."""


def reason_against(step: PlannedStep) -> str:
    """Return in words why a package has no LiteX target; empty if it has one."""
    machine = machine_that_runs(step.network)
    images = step.memory.json()["images"]
    if step.board.name not in BOARDS:
        return f"board {step.board.name}: allowed with a LiteX target is {', '.join(BOARDS)}"
    if examples_on(machine) is None:
        return (
            f"{step.network.name} runs on {machine.name}: allowed with a LiteX target is "
            f"{allowed_machines()}"
        )
    if step.memory.json()["momentum"]:
        return "momentum: the firmware of a LiteX target has none"
    if EXAMPLES % images:
        return f"{images} images of a step: allowed with a LiteX target are divisors of {EXAMPLES}"
    return ""


def write_target(
    folder: Path, step: PlannedStep, examples: Examples, facts: Mapping[str, Any], title: str
) -> None:
    """Write the target into a new folder in the package ``folder``.

    Args:
        folder: the folder of the package.
        step: the step of its only bitstream.
        examples: the training of the firmware.
        facts: the contents of the manifest.
        title: title of the package.

    Raises:
        BadInput: scikit-learn is not installed.
    """
    place = folder / FOLDER
    place.mkdir()
    for name in SOURCES:
        shutil.copyfile(DATA / "export" / FOLDER / name, place / name)
    system = {
        "top": facts["top"], "port": facts["port"], "verilog": facts["compile_order"]["verilog"],
        "clock_mhz": step.board.clock_mhz,
    }  # fmt: skip
    (place / SYSTEM).write_text(json.dumps(system, indent=2) + "\n", encoding="ascii")
    values = {"title": title, "version": version("merp"), **tables(step, examples)}
    (place / TABLES).write_text(render(f"{FOLDER}/{TABLES}", values), encoding="ascii")


def tables(step: PlannedStep, examples: Examples) -> dict[str, Any]:
    """Return the tables of the firmware, as the template of its header needs them."""
    network, layout = step.network, step.memory.layout
    batch, last = int(step.memory.json()["images"]), network.layers[-1]
    arrays = dict(zip(layout.arrays, constants(layout.arrays), strict=True))
    layers = dict(
        zip((each.name for each in network.layers), constants(each.name for each in network.layers),
            strict=True)
    )  # fmt: skip
    scores = f"{last.name}.maps"
    words = layout.arrays[scores].size // layout.arrays[scores].element_bytes
    return {
        "step_images": batch,
        "outputs": last.outputs,
        "one": 1 << network.fixed.of(last.name).map,
        "scores": arrays[scores],
        "image_scores": words // batch,
        "class_scores": examples.class_scores,
        "images": examples.images().tolist(),
        "classes": examples.classes.tolist(),
        "orders": [order.tolist() for order in examples.orders()],
        "parameters": [
            {
                "name": each.name,
                "array": arrays[each.name],
                "words": words_of(each).tolist(),
                "used": np.packbits(meant_of(each), bitorder="little").tolist(),
            }
            for each in examples.initial()
        ],
        "rates": [(layers[name], *values) for name, values in examples.rates().items()],
    }
