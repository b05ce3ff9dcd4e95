"""Every name of converted files is declared where it is used.

The files are read as text, by readers that share nothing with the printers. What they do not
understand they refuse. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Mapping

from merp.hdl.conversion._declared_verilog import check_verilog
from merp.hdl.conversion._declared_vhdl import check_vhdl


def check_names(texts: Mapping[str, str]) -> None:
    """Check the names in files of one language, the support package among them.

    Each file has the unit that it is named after. Each name is declared once in its scope, and
    before its use. Each formal of a map is one of the entity that is instantiated. Each port
    without a default is connected. No input is assigned.

    Args:
        texts: contents by file name, in the order of compilation.

    Raises:
        ExportError: a name is not as it should be; the message says the file and the line.
    """
    check_vhdl({name: text for name, text in texts.items() if name.endswith(".vhd")})
    check_verilog({name: text for name, text in texts.items() if name.endswith(".v")})
