"""The MAC of the LiteX system for ECP5: Yosys proves that it equals the converted one."""

from pathlib import Path

import pytest
from yosys import yosys

from merp.hdl.base.signals import bits, flag, signed
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.array.mac import mac
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.tools.common.data import DATA
from needed_tools import needs

PROOF = """
read_verilog gold/mac.v
proc
rename mac gold
design -stash gold
read_verilog gate.v
read_verilog -DNO_INCLUDES +/ecp5/cells_sim.v
hierarchy -top mac
proc
flatten
opt_clean
rename mac gate
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate equal
hierarchy -top equal
opt_clean
equiv_simple
equiv_struct -icells
equiv_simple
equiv_induct
equiv_status -assert
"""


@needs("yosys")
@pytest.mark.full
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("1010_0110_1010_1010", "1010_0110_1010_1100"),  # generates the sum, not the addend
        ("1010_0110_1010_1010", "0110_0110_1010_1010"),  # never starts a new sum
        ("if (add)", "if (first)"),
        (".C1(first)", ".C1(1'b0)"),
    ],
)
def test_the_mac_for_ecp5_equals_the_converted_one(right: str, wrong: str, tmp_path: Path) -> None:
    args = {
        "clk": flag(), "pixel": bits(WORD_BITS), "weight": bits(WORD_BITS), "first": flag(),
        "add": flag(), "total": signed(SUM_BITS),
    }  # fmt: skip
    convert(mac, args, "verilog", tmp_path / "gold")
    text = (DATA / "export/litex/mac.v").read_text()
    assert right in text
    (tmp_path / "gate.v").write_text(text.replace(right, wrong, 1) if right else text)
    (tmp_path / "proof.ys").write_text(PROOF)
    status, messages = yosys("script proof.ys", tmp_path)
    assert (status == 0) == (right == ""), messages
    assert right == "" or "unproven $equiv cells" in messages
