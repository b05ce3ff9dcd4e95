"""Check that every name of converted files is declared before its use.

Separate readers, which share no code with the printers, read the files as text. They refuse text
that they do not understand. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Mapping

from merp.hdl.conversion._declared_verilog import check_verilog
from merp.hdl.conversion._declared_vhdl import check_vhdl


def check_names(texts: Mapping[str, str]) -> None:
    """Check the names in files of one language, including the support package.

    Each file has the unit with its name. Each name is declared once in its scope, and before its
    use. Each formal of a map belongs to the instantiated entity. Each port without a default is
    connected. No input is assigned.

    Args:
        texts: contents by file name, in the order of compilation.

    Raises:
        ExportError: a name breaks one of these rules; the message gives the file and the line.
    """
    check_vhdl({name: text for name, text in texts.items() if name.endswith(".vhd")})
    check_verilog({name: text for name, text in texts.items() if name.endswith(".v")})
