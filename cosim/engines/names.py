"""Names of the engines, in a module of their own, because the engines take long to import."""

from __future__ import annotations

ENGINES = ("myhdl", "verilator", "ghdl", "system")

USUAL_ARRAYS = {"myhdl": "behavioural", "verilator": "rtl", "ghdl": "rtl", "system": "rtl"}
"""The default array implementation of an engine."""
