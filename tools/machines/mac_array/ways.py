"""Kinds of simulation of the MAC array besides undivided layers."""

from __future__ import annotations

from merp.tools.machines.mac_array.scheduled import one_start

WAYS = {"schedule": one_start}
"""The kinds, by the request field that selects them."""
