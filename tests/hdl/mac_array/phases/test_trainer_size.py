"""DSP blocks of the array are its lanes': reckoning with numbers of taps and lanes takes none."""

from collections import Counter
from pathlib import Path

import pytest

from merp.cosim.synthesis.resources import inside
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import convert
from merp.models.fpga.resources import count_cells
from merp.models.machines.mac_array.passes import design_of
from merp.testbenches.mac_array.trainer_bench import trainer_top
from merp.tools.common.shipped import open_network
from needed_tools import needs


@pytest.mark.full
@needs("yosys")
def test_addresses_and_counters_take_no_dsp(tmp_path: Path) -> None:
    network = open_network("cifar10-1x-fixed")
    top = trainer_top(design_of(network, network.layers[0]))
    export = convert(top.function, top.args, "verilog", tmp_path)
    files = {file.stem: file for file in export.files}
    found = {}
    for name, block in export.blocks.items():
        if block in ("transposable_buffer", "pass_counters"):
            within = inside(export, name, set())
            cells = synthesise([files[each] for each in (name, *within)], name)["cells"].values()
            found[block] = count_cells(Counter(cell["type"] for cell in cells)).dsp
    assert found == {"transposable_buffer": 0, "pass_counters": 0}
