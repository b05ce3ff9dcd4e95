"""Where a layer is cut: maps are dealt out and deltas put together, position by position."""

from itertools import islice
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.cnn_merp.chain.keep_share import keep_share
from merp.hdl.cnn_merp.chain.ports import ShareConfig
from merp.hdl.cnn_merp.chain.put_together import put_together
from merp.models.machines.cnn_merp.params.cluster_design import ShareDesign
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.tools.common.shipped import open_network

WIDTH = 7
CONFIG = ("own", "maps", "positions")
BLOCKS = {
    keep_share: {"sinks": ("sink",), "sources": ("mine", "on")},
    put_together: {"sinks": ("first", "second"), "sources": ("source",)},
}


def bench_for(block: Any) -> BlockBench:
    engines = pipeline_design(open_network("tiny3"), 1).slices[0]
    design = ShareDesign(engines=engines, first=True, last=False, max_maps=6, max_positions=40)
    names = sum(BLOCKS[block].values(), ())
    return BlockBench(
        block, "clk rst start", config=ShareConfig(design),
        **{name: Stream(WIDTH) for name in names},
    )  # fmt: skip


def play(block: Any, own: int, maps: int, rates: float, runs: int = 2) -> Recorded:
    """Runs of 6 positions; the words of each are its number among all."""
    positions, cycles = 6, 160 * runs
    rng = Random(f"{own} {maps} {rates}")
    sinks, sources = BLOCKS[block].values()
    words = (
        {sinks[0]: maps} if len(sinks) == 1 else dict(zip(sinks, (own, maps - own), strict=True))
    )
    at, valid = dict.fromkeys(sinks, 0), dict.fromkeys(sinks, 0)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {
            "rst": int(cycle == 0), "start": int(cycle % 160 == 1), "config_own": own,
            "config_maps": maps, "config_positions": positions,
        }  # fmt: skip
        for name in sinks:
            if valid[name] and seen[f"{name}_ready"]:
                at[name], valid[name] = at[name] + 1, 0
            whole = words[name] * positions
            if cycle % 160 == 1:
                at[name] = 0
            if cycle % 160 > 1 and not valid[name] and at[name] < whole:
                valid[name] = int(rng.random() < rates)
            values |= {
                f"{name}_data": at[name] % (1 << WIDTH), f"{name}_valid": valid[name],
                f"{name}_last": int(at[name] == whole - 1),
            }  # fmt: skip
        return values | {f"{name}_ready": int(rng.random() < rates) for name in sources}

    return bench_for(block).run(drive, cycles)


CUTS = [(2, 4, 1.0), (1, 2, 0.8), (1, 6, 0.9), (5, 6, 0.7)]


@pytest.mark.parametrize("cut", CUTS)
def test_each_position_is_dealt_out(cut: tuple[int, int, float]) -> None:
    own, maps, _ = cut
    trace = play(keep_share, *cut)
    whole = range(6 * maps)
    mine = [word for word in whole if word % maps < own]
    on = [word for word in whole if word % maps >= own]
    for name, wanted in (("mine", mine), ("on", on)):
        assert trace.words(name) == 2 * [(word, int(word == wanted[-1])) for word in wanted]


@pytest.mark.parametrize("cut", CUTS)
def test_each_position_is_put_together(cut: tuple[int, int, float]) -> None:
    own, maps, _ = cut
    trace = play(put_together, *cut)
    first, second = iter(range(99)), iter(range(99))
    wanted: list[int] = []
    for _ in range(6):
        wanted += [*islice(first, own), *islice(second, maps - own)]
    lasts = [0] * (6 * maps - 1) + [1]
    assert trace.words("source") == 2 * list(zip(wanted, lasts, strict=True))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_reset_leaves_nothing_behind(block: Any) -> None:
    sinks, sources = BLOCKS[block].values()
    rates = [f"{name}_{field}" for name in sinks for field in ("valid", "last")]
    session = at_random(
        dict.fromkeys([*rates, *(f"{name}_ready" for name in sources)], 0.7),
        {f"{name}_data": WIDTH for name in sinks},
        {"config_own": 2, "config_maps": 5, "config_positions": 3},
    )
    bench_for(block).as_new_after_reset(session, range(3, 30, 3), 40)


@pytest.mark.ghdl
@pytest.mark.parametrize("block", BLOCKS)
def test_shares_vhdl(block: Any, replays: Replays) -> None:
    replays(play(block, *CUTS[3], runs=1))
