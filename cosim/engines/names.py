"""Names of the engines, apart from what runs them, which takes long to import."""

from __future__ import annotations

ENGINES = ("myhdl", "verilator", "ghdl")

USUAL_ARRAYS = {"myhdl": "behavioural", "verilator": "rtl", "ghdl": "rtl"}
"""The kind of array that an engine simulates unless somebody asks for another one."""
