"""Names of the engines, in a module of their own, because the engines take long to import."""

from __future__ import annotations

ENGINES = ("myhdl", "verilator", "ghdl")

USUAL_ARRAYS = {"myhdl": "behavioural", "verilator": "rtl", "ghdl": "rtl"}
"""The default array implementation of an engine."""
