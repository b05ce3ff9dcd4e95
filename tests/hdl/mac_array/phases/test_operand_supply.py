"""Every slot of a pass brings the pixels and weights of the layer's definition, in every cycle."""

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from block_bench import Replays
from marks import few, in_full
from merp.hdl.mac_array.phases.operand_supply import OPERANDS
from merp.models.machines.mac_array.flow_cycles import Latency
from merp.models.machines.mac_array.orders import BIAS, delta_kernels, forward_kernels
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import supply_registers
from merp.testbenches.block.trace import Trace
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.supply_bench import (
    CAUSES,
    Pressure,
    SuppliedPass,
    check_slots,
    make_layer,
    run_supply,
    slots,
)

FREE = Pressure()


def design_of(pox: int = 4, poy: int = 4, pof: int = 4, **choices: Any) -> ArrayDesign:
    return small_design(
        pox, poy, pof, **{"kernel_words": 512, "map_words": 1024, "max_stride": 4} | choices
    )


def cycles_of(layer: SuppliedPass, design: ArrayDesign, pressure: Pressure) -> int:
    """Cycles that certainly suffice."""
    rate = min(np.mean(pressure.maps), np.mean(pressure.parameters), np.mean(pressure.deltas))
    beats = {name: len(words) for name, words in layer.streams(design).items()}
    parts = design.pox if layer.work.phase == "ku" else layer.work.stride
    words = beats.pop("maps") * parts + sum(beats.values())
    ends = [each.last for each in slots(layer, design)]
    return int(words / rate) + len(ends) + sum(ends) * (pressure.drain + 8) + 100


def play(
    design: ArrayDesign, *passes: tuple[SuppliedPass, Pressure], reset_at: int | None = None
) -> Trace:
    cycles = sum(cycles_of(layer, design, pressure) for layer, pressure in passes)
    if reset_at is not None:
        cycles += reset_at
    return run_supply(design, passes, cycles, reset_at)


def check(design: ArrayDesign, *passes: tuple[SuppliedPass, Pressure]) -> Trace:
    trace = play(design, *passes)
    assert check_slots(trace, design, [layer for layer, _ in passes])
    assert not any(trace.column("framing_error"))
    assert trace.column("complete")[-1]
    check_verdicts(trace, design, [layer for layer, _ in passes])
    check_biases(trace, design, [layer for layer, _ in passes])
    check_complete(trace, design, [layer for layer, _ in passes])
    return trace


def check_verdicts(trace: Trace, design: ArrayDesign, layers: list[SuppliedPass]) -> None:
    """One cause in each cycle of a pass; operands three cycles after; useful MACs are those that
    count.
    """
    causes = [trace.column(f"verdict_{name}") for name in CAUSES]
    named = [sum(each) for each in zip(*causes, strict=True)]
    starts = [t for t, start in enumerate(trace.column("start")) if start]
    finals = [t for t, final in enumerate(trace.column("verdict_final_issue")) if final]
    within = {
        t for span in zip(starts, finals, strict=True) for t in range(span[0] + 1, span[1] + 1)
    }
    assert named == [int(t in within) for t in range(len(named))]
    issued = causes[0]
    later = OPERANDS + 1
    assert trace.column("operands_valid")[later:] == issued[:-later]
    assert sum(trace.column("verdict_final_issue")) == len(layers)
    names = ("issue", "rows", "columns", "maps", "lanes")
    counts = zip(*(trace.column(f"verdict_{name}") for name in names), strict=True)
    useful = sum(prod(each) for each in counts)
    assert useful == sum(
        each.pixels.size * each.weights.size for layer in layers for each in slots(layer, design)
    )


def check_biases(trace: Trace, design: ArrayDesign, layers: list[SuppliedPass]) -> None:
    """Each tile of output maps has its biases written once, and before its sums are finished."""
    names = ("bias_enable", "bias_addr", "bias_data")
    seen = [
        (addr, [data >> 16 * c & 0xFFFF for c in range(design.pof)])
        for enable, addr, data in zip(*(trace.column(name) for name in names), strict=True)
        if enable
    ]
    written = iter(seen)
    for layer in layers:
        if layer.work.phase == "fp":
            for tile in range(design.map_tiles(layer.work.outputs)):
                biases = layer.biases[tile * design.pof : (tile + 1) * design.pof] & 0xFFFF
                addr, words = next(written)
                assert (addr, words[: len(biases)]) == (tile, biases.tolist())
    assert next(written, None) is None


def check_complete(trace: Trace, design: ArrayDesign, layers: list[SuppliedPass]) -> None:
    """No pass is complete before its last beat and its last atom were taken."""
    starts = [t for t, start in enumerate(trace.column("start")) if start]
    complete = trace.column("complete")
    moves = {name: transfers(trace, name) for name in ("maps", "parameters", "deltas")}
    for layer, begin, end in zip(layers, starts, [*starts[1:], len(complete)], strict=True):
        for name, words in layer.streams(design).items():
            taken = [t for t in range(begin + 1, end) if moves[name][t]]
            if len(words):
                last = taken[len(words) - 1] if len(taken) == len(words) else end - 1
                assert not any(complete[begin + 1 : last + 1]), name


def fp(seed: int = 1, **sizes: int) -> SuppliedPass:
    return make_layer(seed, phase="fp", **sizes)


def dp(seed: int = 1, **sizes: int) -> SuppliedPass:
    return make_layer(seed, phase="dp", **sizes)


def ku(seed: int = 1, **sizes: int) -> SuppliedPass:
    return make_layer(seed, phase="ku", **sizes)


DIRECTED = {
    "one pixel, fewer maps than lanes": fp(inputs=3, outputs=2, rows=1, columns=1, kernel=1),
    "classifier": fp(inputs=6, outputs=10, rows=4, columns=4, kernel=4),
    "several of everything": fp(inputs=3, outputs=6, rows=9, columns=10, kernel=3, pad=1),
    "asymmetric reach": fp(inputs=2, outputs=5, rows=9, columns=7, kernel=4, pad=1),
    "a ring of rows": fp(inputs=2, outputs=2, rows=23, columns=3, kernel=3, pad=1),
    "a ring of two blocks": fp(inputs=3, outputs=2, rows=21, columns=5, kernel=1),
    "no pad": fp(inputs=2, outputs=4, rows=11, columns=6, kernel=3),
    "stride 2": fp(inputs=2, outputs=4, rows=13, columns=14, kernel=3, stride=2, pad=1),
    "stride 2, rows that no window needs": fp(
        inputs=2, outputs=4, rows=16, columns=16, kernel=2, stride=2
    ),
    "stride 4": fp(inputs=2, outputs=3, rows=23, columns=18, kernel=5, stride=4, pad=2),
    "stride 2, windows begin behind the last rows": fp(
        inputs=1, outputs=1, rows=7, columns=9, kernel=5, stride=2, pad=4
    ),
    "reach of a whole block": fp(inputs=1, outputs=4, rows=10, columns=9, kernel=5, pad=4),
    "all rows in the first band": fp(inputs=2, outputs=4, rows=5, columns=5, kernel=5, pad=2),
    "dp": dp(inputs=6, outputs=5, rows=9, columns=7, kernel=3, pad=1),
    "dp, no pad": dp(inputs=9, outputs=3, rows=8, columns=6, kernel=3),
    "dp, fewer maps than lanes": dp(inputs=3, outputs=9, rows=6, columns=6, kernel=2, pad=1),
    "dp of a classifier": dp(inputs=6, outputs=10, rows=4, columns=4, kernel=4),
    "dp, stride 2": dp(inputs=6, outputs=5, rows=9, columns=11, kernel=3, stride=2, pad=1),
    "dp, stride 2, an empty tile": dp(inputs=5, outputs=2, rows=9, columns=17, kernel=3, stride=2),
    "dp, stride 4": dp(inputs=3, outputs=3, rows=23, columns=18, kernel=5, stride=4, pad=2),
    "dp, stride 4, windows begin behind": dp(
        inputs=2, outputs=3, rows=19, columns=7, kernel=4, stride=4, pad=3
    ),
    "dp, phases without a row": dp(
        inputs=2, outputs=2, rows=2, columns=3, kernel=4, stride=4, pad=1
    ),
    "ku": ku(inputs=3, outputs=6, rows=6, columns=7, kernel=3, pad=1),
    "ku, four regions": ku(inputs=6, outputs=3, rows=6, columns=7, kernel=2, pad=1),
    "ku, a region of each pixel": ku(inputs=18, outputs=3, rows=4, columns=3, kernel=1),
    "ku, four sweeps": ku(inputs=2, outputs=5, rows=6, columns=5, kernel=5, pad=2),
    "ku, three tiles of lanes": ku(inputs=2, outputs=9, rows=3, columns=3, kernel=5, pad=2),
    "ku, stride 2": ku(inputs=3, outputs=5, rows=9, columns=8, kernel=3, stride=2, pad=1),
    "ku, stride of two regions": ku(inputs=5, outputs=3, rows=9, columns=9, kernel=4, stride=4),
    "ku of a classifier": ku(inputs=6, outputs=10, rows=4, columns=4, kernel=4),
}  # fmt: skip


QUICK = (
    "one pixel, fewer maps than lanes", "asymmetric reach", "a ring of rows",
    "stride 2, windows begin behind the last rows",
    "stride 4", "dp, fewer maps than lanes",
    "dp, stride 2", "dp, stride 4, windows begin behind", "ku, a region of each pixel",
    "ku, stride 2", "ku, three tiles of lanes",
)  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    few(DIRECTED, *QUICK[::3]),
)
def test_slots_are_those_of_the_layer(name: str) -> None:
    check(design_of(), (DIRECTED[name], FREE))


def random_layer(rng: np.random.Generator, design: ArrayDesign, most: int) -> SuppliedPass:
    """A layer that the design takes, of fewer cycles than most."""
    while True:
        sizes = {
            "phase": str(rng.choice(["fp", "dp", "ku"])),
            "inputs": int(rng.integers(1, 2 * design.pof)),
            "outputs": int(rng.integers(1, 2 * design.pof)),
            "rows": int(rng.integers(1, 14)),
            "columns": int(rng.integers(1, 14)),
            "kernel": int(rng.integers(1, 6)),
            "stride": int(rng.choice([1, 1, 2, 4])),
        }
        sizes["pad"] = int(rng.integers(0, sizes["kernel"]))
        try:
            layer = make_layer(int(rng.integers(1 << 30)), **sizes)
            supply_registers(layer.work, design)
        except ValueError:
            continue
        if cycles_of(layer, design, FREE) < most:
            return layer


def random_pressure(rng: np.random.Generator) -> Pressure:
    def pattern() -> tuple[int, ...]:
        if rng.random() < 0.4:
            return (1,)
        return (*(int(b) for b in rng.random(37) < rng.choice([0.2, 0.5, 0.9])), 1)

    return Pressure(pattern(), pattern(), pattern(), int(rng.choice([5, 9, 40])))


def check_random(array: tuple[int, int, int], seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    design = design_of(*array, kernel_words=1024, map_words=4096)
    check(design, *[(random_layer(rng, design, most), random_pressure(rng)) for _ in range(2)])


@pytest.mark.parametrize(("array", "seed"), [((4, 8, 4), 3)])
def test_random_passes_behind_each_other(array: tuple[int, int, int], seed: int) -> None:
    check_random(array, seed, most=250)


@pytest.mark.full
@pytest.mark.parametrize("array", [(4, 4, 4), (8, 8, 4), (4, 8, 8), (8, 4, 4), (8, 8, 16)])
@pytest.mark.parametrize("seed", range(10, 18))
def test_long_random_passes_behind_each_other(array: tuple[int, int, int], seed: int) -> None:
    check_random(array, seed, most=3000)


@pytest.mark.parametrize("name", ["ku, four sweeps", *in_full("ku, four regions")])
def test_one_region_brings_the_same_in_more_slots(name: str) -> None:
    check(design_of(balance=False), (DIRECTED[name], FREE))


def test_idle_lanes_stay_within_the_memory() -> None:
    layer = dp(inputs=5, outputs=4, rows=4, columns=4, kernel=2)
    check(design_of(kernel_words=layer.work.inputs * layer.work.taps), (layer, FREE))


def test_a_reset_in_mid_stream_leaves_nothing() -> None:
    design = design_of()
    layer = DIRECTED["stride 2"]
    reset_at = 61
    trace = play(design, (layer, FREE), reset_at=reset_at)
    begun = trace.column("start").index(1, reset_at)
    rows = Trace(trace.block, trace.args, trace.ports, trace.rows[begun:])
    assert check_slots(rows, design, [layer])
    assert not any(trace.column("operands_valid")[reset_at + 1 : begun])


def test_kernels_first_waits_for_all_of_them() -> None:
    layer = fp(inputs=3, outputs=6, rows=4, columns=4, kernel=3, pad=1)
    trace = check(design_of(kernel_first=True), (layer, FREE))
    beats = len(layer.beats(design_of()))
    assert taken_before_the_first_slot(trace) == beats
    assert taken_before_the_first_slot(check(design_of(), (layer, FREE))) < beats


def taken_before_the_first_slot(trace: Trace) -> int:
    return sum(trace.column("parameters_ready")[: trace.column("verdict_issue").index(1)])


WIDE = {"inputs": 9, "outputs": 9, "rows": 4, "columns": 8, "kernel": 1}
"""Sizes of a layer of three tiles of lanes and two of columns, a slot for each map of a tile."""


def transfers(trace: Trace, name: str) -> list[bool]:
    pins = zip(trace.column(f"{name}_valid"), trace.column(f"{name}_ready"), strict=True)
    return [bool(valid and ready) for valid, ready in pins]


@pytest.mark.parametrize("kind", [fp, dp])
def test_a_slot_waits_for_its_own_kernels_and_no_longer(kind: Any) -> None:
    """FP: up to its map's beat, at a tile's end up to the biases. DP: up to its run's last one."""
    design, work = design_of(), kind(**WIDE).work
    order = [*(delta_kernels if work.phase == "dp" else forward_kernels)(work, design)]
    trace = check(design, (kind(**WIDE), Pressure(parameters=(1, *[0] * 11))))
    taken = [t for t, ready in enumerate(transfers(trace, "parameters")) if ready]
    issued = [t for t, issue in enumerate(trace.column("verdict_issue")) if issue]
    for t, (group, _, each) in zip(issued, product(*map(range, (3, 2, 9))), strict=True):
        if work.phase == "dp":
            lanes = range(group * design.pof, min((group + 1) * design.pof, 9))
            last = max(order.index((each // design.pof, i, 0)) for i in lanes)
        else:
            last = order.index((group, BIAS if each == 8 else each, 0))
        there = taken[last] + Latency().kernel_there
        assert t == there if trace.column("verdict_stall_kernel")[t - 1] else t >= there


def test_a_slot_that_waits_for_maps_or_for_sums_says_so() -> None:
    layer = fp(inputs=1, outputs=12, rows=4, columns=4, kernel=1)
    pressures = {"stall_input": Pressure(maps=(1, *[0] * 30)), "stall_output": Pressure(drain=60)}
    for cause, pressure in pressures.items():
        trace = check(design_of(), (layer, pressure))
        waits = {name: sum(trace.column(f"verdict_{name}")) for name in CAUSES if name != "issue"}
        assert max(waits, key=waits.__getitem__) == cause


def test_no_tile_is_finished_without_its_biases() -> None:
    layer = fp(inputs=2, outputs=3, rows=4, columns=4, kernel=2)
    late = Pressure(parameters=(*[1] * 9, *[0] * 60))
    trace = check(design_of(), (layer, late))
    assert trace.column("bias_enable").index(1) < trace.column("operands_last").index(1)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    "name", ["stride 2", "ku, four sweeps", *in_full("dp", "ku, four regions")]
)
def test_vhdl_replays(name: str, replays: Replays) -> None:
    replays(check(design_of(), (DIRECTED[name], random_pressure(np.random.default_rng(1)))))
