"""Define the error of the converter, if a design or the installed MyHDL cannot be exported."""

from __future__ import annotations


class ExportError(ValueError):
    """A design without hierarchical VHDL or Verilog; the message gives the part and the reason."""
