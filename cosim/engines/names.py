"""Names of the engines, in a module of their own, because the engines take long to import."""

from __future__ import annotations

ENGINES = ("myhdl", "verilator", "ghdl", "system")

RTL_ONLY = ("ghdl", "system")
"""Engines that run the hardware itself, without models in place of arrays."""

FREE_RUNNING = ("system",)
"""Engines with a memory, which decides when words arrive."""

USUAL_ARRAYS = {"myhdl": "behavioural", "verilator": "rtl", "ghdl": "rtl", "system": "rtl"}
"""The default array implementation of an engine."""
