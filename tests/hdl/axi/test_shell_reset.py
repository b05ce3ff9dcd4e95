"""The resets of an AXI shell: the block against its page, and runs that software aborts."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.hdl.axi.shell_reset import shell_reset
from merp.models.base.formats import BINARY32
from merp.models.base.register_map import ABORT_CYCLES, STATUS
from merp.models.base.shape import Shape
from merp.models.golden.super_layer import super_layer
from merp.testbenches.axi.axi_model import ABORT, ABORTING, BUSY, START
from merp.testbenches.axi.axi_protocol import RESET_CYCLES
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.axi.shell_session import ShellSession, Software
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS

DESIGN = ELABORATIONS[4]  # one CU of 3 x 3
SHAPE = Shape(n=2, m=2, k=3, rows=5, columns=5)
DONE = 1 << STATUS.index("done")


BENCH = BlockBench(shell_reset, "clk aresetn abort rst engine_rst aborting")


def resets_trace() -> Recorded:
    rng = Random(0)

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return {
            "aresetn": int(cycle >= RESET_CYCLES and rng.random() > 0.02),
            "abort": int(rng.random() < (0.3 if cycle // 200 % 2 else 0.02)),
        }

    return BENCH.run(drive, 2000)


def test_every_cycle_is_that_of_the_page() -> None:
    trace = resets_trace()
    rows = [dict(zip((port.name for port in trace.ports), row, strict=True)) for row in trace.rows]
    left = 0  # cycles of aborting, this one included
    for before, now in pairwise(rows[1:]):
        left = 0 if before["rst"] else ABORT_CYCLES if before["abort"] else max(left - 1, 0)
        assert now["rst"] == 1 - before["aresetn"]
        assert now["aborting"] == int(left > 0)
        assert now["engine_rst"] == int(before["rst"] or before["aborting"])
    assert {row["aborting"] for row in rows[1:]} == {0, 1}


@pytest.mark.ghdl
def test_the_resets_in_vhdl_are_those_of_myhdl(replays: Replays) -> None:
    replays(resets_trace())


def test_a_reset_ends_an_abort() -> None:
    """And nothing comes of one that is asked for in the reset."""

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return {"aresetn": int(not 8 <= cycle < 11), "abort": int(cycle in (4, 11))}

    trace = BENCH.run(drive, 40)
    assert [cycle for cycle, high in enumerate(trace.column("aborting")) if high] == [5, 6, 7, 8, 9]
    assert [cycle for cycle, high in enumerate(trace.column("engine_rst")) if high] == [
        *range(6, 13)
    ]


def test_a_run_that_software_aborts_is_right_the_next_time() -> None:
    """In MyHDL, to the cycle: while kernels are loaded, while maps come, while results leave."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (1, 5, 5, 2)).astype(np.float32).view(np.uint32)
    kernels = rng.uniform(-2, 2, (2, 2, 3, 3)).astype(np.float32).view(np.uint32)
    bias = rng.uniform(-2, 2, 2).astype(np.float32).view(np.uint32)
    top = forward_top(DESIGN)
    run = forward_run(SHAPE, DESIGN, x, kernels, bias)
    golden = super_layer(x, kernels, bias, SHAPE, BINARY32, DESIGN.summation)
    shell = axi_top(top)
    offsets = {each.name: each.offset for each in shell.args["registers"].registers}
    session = ShellSession(top.ports, offsets, RESET_CYCLES)

    def software() -> Software:
        for name, value in {**run.config, "interrupt_enable": 1}.items():
            yield name, value
        for moment in (1, 20, 90, 150, None):
            session.give(run.words)
            yield "control", START
            if moment is not None:
                yield moment
                assert (yield "status") == BUSY, moment
                yield "control", ABORT
                assert (yield "status") & ~BUSY == ABORTING
                while (yield "status") & ABORTING:
                    pass
                session.give({})
            else:
                while not (yield "status") & DONE:
                    pass
            if moment == 150:
                for name in ("error", *(name for name in offsets if name.startswith("status"))):
                    assert (yield name) == 0, name
                for name, value in run.config.items():
                    assert (yield name) == value, name

    session.software = software()
    function = shell.function
    BlockBench(
        lambda clk, **rest: function(aclk=clk, **rest),
        **{"clk" if name == "aclk" else name: value for name, value in shell.args.items()},
    ).run(session, 1200)
    assert session.ended
    assert session.words == {"m_axis_map": golden.reshape(-1).tolist()}
