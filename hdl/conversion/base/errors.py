"""What the converter says when a design, or the MyHDL that is installed, has no export."""

from __future__ import annotations


class ExportError(ValueError):
    """A design that has no hierarchical VHDL or Verilog; the message says which part and why."""
