"""Words that a standard reserves name nothing in exported files."""

import pytest

from merp.hdl.conversion._names import Names, flaw

ADDED = {
    "VHDL-93": "group impure inertial literal postponed pure reject rol ror shared sla sll sra srl "
    "unaffected xnor",
    "VHDL-2002": "protected",
    "VHDL-2008": "assume assume_guarantee context cover default fairness force parameter property "
    "release restrict restrict_guarantee sequence strong vmode vprop vunit",
    "VHDL-2019": "private view",
    "VHDL-AMS": "across break limit nature noise procedural quantity reference spectrum subnature "
    "terminal through tolerance",
    "Verilog-2005": "cell config design endconfig incdir include instance liblist library "
    "localparam noshowcancelled pulsestyle_ondetect pulsestyle_onevent showcancelled uwire use",
    "SystemVerilog-2009": "accept_on checker endchecker eventually global implies let nexttime "
    "reject_on restrict s_always s_eventually s_nexttime s_until s_until_with strong "
    "sync_accept_on sync_reject_on unique0 until until_with untyped weak",
    "SystemVerilog-2012": "implements interconnect nettype soft",
}
"""Words that each edition added, of its list of reserved words."""


@pytest.mark.parametrize("edition", ADDED)
def test_a_reserved_word_is_refused_as_a_port_and_replaced_inside(edition: str) -> None:
    for word in ADDED[edition].split():
        for spelled in (word, word.upper()):
            assert flaw(spelled) == "is a keyword of VHDL or Verilog"
            assert Names().unique(spelled) == f"{spelled}_1"
