"""FPGA resources of the paper's engines."""

from __future__ import annotations

from typing import Final

from merp.models.base.formats import BINARY32
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.papers.lists import paper


def _of_paper(phase: str) -> Resources:
    cells = {
        each.unit: int(each.printed)
        for each in paper("cnn-merp").numbers
        if (each.place, each.what) == ("table 2", f"Kintex-7, {phase.upper()}")
    }
    return Resources(
        logic=cells["LUT"], ff=cells["FF"], bram=cells["BRAM"], dsp=cells["DSP"]
    )  # fmt: skip


PAPER: Final = {phase: _of_paper(phase) for phase in ("fp", "dp", "ku")}
"""By phase: layer 2 of AlexNet, 16 units of 5 x 5 on XC7K325T. source: CNN-MERP table 2"""


def published(phase: str, design: EngineDesign) -> Resources | None:
    """Return the resources of the paper's engine, if ``design`` has its size and the phase
    exists.
    """
    alike = (design.k, design.n_cu, design.fmt) == (5, 16, BINARY32)
    return PAPER.get(phase) if alike else None
