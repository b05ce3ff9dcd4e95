"""Registers of a run of the schedule."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE


class ScheduleConfig(RegisterBundle):
    """Run-time registers of the schedule, from the table ``SCHEDULE``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(SCHEDULE, design)
