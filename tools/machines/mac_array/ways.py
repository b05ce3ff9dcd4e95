"""Ways of simulating that the MAC array has beside layers in one piece."""

from __future__ import annotations

from merp.tools.machines.mac_array.scheduled import one_start

WAYS = {"schedule": one_start}
"""By the field of the request that asks for it."""
