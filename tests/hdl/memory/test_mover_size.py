"""The size of movers after synthesis for ECP5 is what their page says, and within its limits."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from movers import mover_commands, mover_state

from checkout import BLOCK_PAGES
from merp.cosim.synthesis.synthesis import synthesise_ecp5
from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.convert import convert
from merp.hdl.memory.mover_ports import ReadChannels, WriteChannels
from merp.hdl.memory.read_mover import read_mover
from merp.hdl.memory.requests import WalkConfig
from merp.hdl.memory.write_mover import write_mover
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from needed_tools import needs

PAGE = BLOCK_PAGES / "memory" / "memory_interface.md"
PORT = MemoryPort(data_bits=128)
LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4}
"""Four-input LUTs of a cell; a carry cell has two, a memory of 16 x 4 bits takes four."""

MOST = {"read_mover": 900, "write_mover": 1300}


def arguments(mover: Mover, *, writes: bool) -> dict[str, Any]:
    """A mover with all of its ports."""
    args: dict[str, Any] = {"clk": flag(), "rst": flag(), "mover": mover}
    args |= {"commands": mover_commands(), "config": WalkConfig(mover), "state": mover_state(PORT)}
    if writes:
        return args | {"sink": Stream(mover.word_bits), "channels": WriteChannels(PORT)}
    return args | {"source": Stream(mover.word_bits), "channels": ReadChannels(PORT)}


@pytest.mark.full
@needs("yosys")
@pytest.mark.parametrize("word_bits", [8, 32, 128])
@pytest.mark.parametrize("block", [read_mover, write_mover])
def test_size(block: Any, word_bits: int, tmp_path: Path) -> None:
    mover = Mover(port=PORT, word_bits=word_bits)
    export = convert(block, arguments(mover, writes=block is write_mover), "verilog", tmp_path)
    cells = synthesise_ecp5(export.files, export.top)["modules"][export.top]["cells"].values()
    kinds = Counter(cell["type"] for cell in cells)
    luts = sum(number * kinds[kind] for kind, number in LUTS.items())
    row = (
        f"| `{export.top}`, words of {word_bits} bits | {luts:,} | {kinds['TRELLIS_FF']:,} "
        f"| {kinds['DP16KD']} |"
    )
    assert luts <= MOST[export.top], row
    assert row in PAGE.read_text(), row
