"""The decorator of every block that becomes a VHDL entity of its own."""

from __future__ import annotations

from myhdl import block as entity

__all__ = ["entity"]
