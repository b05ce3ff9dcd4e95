"""Names of the engines, apart from what runs them, which takes long to import."""

from __future__ import annotations

ENGINES = ("myhdl", "verilator", "ghdl")
