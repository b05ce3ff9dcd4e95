"""Meanings of the registers and counters of the MAC array's tops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.machines.mac_array.params.array_counters import MEANINGS
from merp.models.machines.mac_array.params.pass_registers import array_settings
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE
from merp.testbenches.top.described import Description


def described(parameters: Mapping[str, Any]) -> Description:
    """Describe a top by its design."""
    design = parameters["design"]
    return Description({**array_settings(design), **SCHEDULE.settings(design)}, MEANINGS)
