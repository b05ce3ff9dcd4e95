"""The work on the LiteX target of a package: write it, simulate it, build its bitstream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.cosim.engines.simulators import find_verilator
from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.models.network.registry import machine_that_runs
from merp.tools.common.progress import Progress
from merp.tools.fpga.litex.bitstream import Bitstream, build
from merp.tools.fpga.litex.examples import examples_on
from merp.tools.fpga.litex.programs import (
    BITSTREAM_PACKAGES,
    PACKAGES,
    beside,
    check_programs,
    yosys,
)
from merp.tools.fpga.litex.simulate import Trained, simulate
from merp.tools.fpga.system.litex_target import reason_against, write_target
from merp.tools.fpga.system.planned_system import PlannedStep
from merp.tools.fpga.system.request import SystemFields


@dataclass(frozen=True)
class Made:
    """A LiteX target.

    Attributes:
        trained: training in the simulated system, if it was requested.
        bitstream: the routed system, if it was requested.
    """

    trained: Trained | None
    bitstream: Bitstream | None

    def json(self) -> dict[str, Any]:
        """Return the results for programs."""
        return {
            "simulated": self.trained and self.trained.json(),
            "routed": self.bitstream and self.bitstream.json(),
        }


def check_target(step: PlannedStep, asked: SystemFields) -> None:
    """Check that a requested simulation or bitstream is possible, before any work.

    Raises:
        BadInput: the step has no LiteX target, or a package or a program is missing.
    """
    for option in ("simulate", "build"):
        if not getattr(asked, option):
            continue
        if against := reason_against(step):
            raise BadInput(f"{name_of(option)}: {against}")
        check_programs(option)
    if asked.simulate:
        find_verilator()
    if asked.build:
        check_programs("build", (*PACKAGES, *BITSTREAM_PACKAGES))
        yosys()
        beside("yowasp-ecppack")


def make_target(
    folder: Path,
    step: PlannedStep,
    facts: Mapping[str, Any],
    title: str,
    asked: SystemFields,
    progress: Progress,
) -> Made | None:
    """Write the LiteX target of a package, if it has one; simulate it and build it as requested.

    Args:
        folder: the folder of the package.
        step: the step of its only bitstream.
        facts: the contents of the manifest.
        title: title of the package.
        asked: the request.
        progress: called with the progress.

    Raises:
        BadInput: as in ``check_target``, or scikit-learn is not installed.
        CheckFailed: the training differs from the golden model, or the build failed.
        RuntimeError: a program rejects the system.
    """
    examples_of = examples_on(machine_that_runs(step.network))
    if reason_against(step) or examples_of is None:
        return None
    examples = examples_of(step.network, int(step.memory.json()["images"]))
    write_target(folder, step, examples, facts, title)
    clock = step.board.clock_mhz
    trained = simulate(folder, examples, clock, progress) if asked.simulate else None
    return Made(trained, build(folder, clock, progress) if asked.build else None)
