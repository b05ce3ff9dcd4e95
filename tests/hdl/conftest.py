"""What tests of blocks share."""

from pathlib import Path

import pytest

from block_bench import Replays
from merp.cosim.block.replay import lint_verilog, replay
from merp.testbenches.block.trace import Trace


@pytest.fixture
def replays(tmp_path: Path) -> Replays:
    """Repeat a run on the exported hardware: every output is equal in every cycle.

    It takes the trace, the engine (``ghdl`` or ``verilator``) and whether Verilator checks the
    exported Verilog, too. It gives the number of cycles.
    """

    def repeat(trace: Trace, engine: str = "ghdl", *, lint: bool = False) -> int:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        cycles = replay(trace, folder / engine, engine)
        if lint:
            lint_verilog(trace.block, trace.args, folder / "lint")
        return cycles

    return repeat
