"""Windows lie where their definition says after any sequence of moves, in FP, DP and KU."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pytest

from block_bench import BlockBench, Recorded, Sample
from merp.hdl.base.signals import flag
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import (
    ColumnsConfig,
    RegionColumnsConfig,
    RegionRowsConfig,
    RowsConfig,
)
from merp.hdl.mac_array.sequencer.region_axis import region_axis
from merp.hdl.mac_array.sequencer.window_axis import window_axis
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.gradient_registers import REGION_COLUMNS, REGION_ROWS
from merp.models.machines.mac_array.params.gradient_run import GradientRun
from merp.models.machines.mac_array.params.input_registers import COLUMNS, ROWS
from merp.models.machines.mac_array.params.pass_run import PassRun
from merp.testbenches.mac_array.designs import small_design

DESIGN = small_design(
    4, 8, max_kernel=9, max_stride=4, kernel_words=512, map_words=1024, delta_words=128
)
MOVES = ("rewind", "advance", "restart", "step")

fp = partial(ArrayPass, phase="fp", inputs=2, outputs=1)
dp = partial(ArrayPass, phase="dp", inputs=1, outputs=2)
ku = partial(ArrayPass, phase="ku", inputs=5, outputs=1)
WINDOWS = (
    fp(rows=23, columns=18, kernel=3, pad=1),
    fp(rows=9, columns=5, kernel=5, pad=4),
    fp(rows=3, columns=3, kernel=3),
    fp(rows=29, columns=23, kernel=5, stride=2, pad=1),
    fp(rows=45, columns=38, kernel=7, stride=4, pad=3),
    dp(rows=21, columns=18, kernel=5, pad=2),
    dp(rows=23, columns=19, kernel=3, stride=2),
    dp(rows=37, columns=35, kernel=9, stride=4, pad=4),
)
REGIONS = (
    ku(rows=11, columns=10, kernel=1),
    ku(rows=13, columns=10, kernel=2, pad=1),
    ku(rows=17, columns=18, kernel=3, stride=2, pad=1),
    ku(rows=19, columns=18, kernel=9, pad=4),
    ku(rows=13, columns=17, kernel=5),
    ku(rows=29, columns=25, kernel=6, stride=4, pad=3),
)


class Axis(NamedTuple):
    """Rows or columns of a pass.

    Attributes:
        tile: MACs and banks. side: banks of a region; all of them in FP and DP.
        size: elements of a map. tiles: of MACs, or of taps in KU.
        steps: windows of a tile. aheads: 1 if phases begin an element further on, else 0.
        begin: the first element of a window, by its tile, ``ahead`` and step.
        place: of an element, its bank in its region and its word.
    """

    tile: int
    side: int
    size: int
    tiles: int
    steps: int
    aheads: int
    begin: Callable[[int, int, int], int]
    place: Callable[[int], tuple[int, int]]


def window(work: ArrayPass, rows: bool) -> Axis:
    run = PassRun(work, DESIGN)
    side = run.vertical if rows else run.horizontal
    values = (ROWS if rows else COLUMNS).values(run)
    prefix = f"supply_config_{'rows' if rows else 'columns'}"
    words, to_phase = values[f"{prefix}_step"], values[f"{prefix}_phase_step"]
    blocks = run.ring if rows else side.blocks

    def place(element: int) -> tuple[int, int]:
        beside, phase = divmod(element, side.stride)
        return beside % side.tile, beside // side.tile % blocks * words + phase * to_phase

    return Axis(
        side.tile, side.tile, side.size, side.tiles, work.kernel if side.phases == 1 else 4,
        int(side.phases > 1),
        lambda tile, ahead, step: tile * side.tile * side.stride + ahead + step - side.pad, place,
    )  # fmt: skip


def region(work: ArrayPass, rows: bool) -> Axis:
    run = GradientRun(work, DESIGN)
    side = run.vertical if rows else run.horizontal
    words = run.row_words if rows else 1
    return Axis(
        DESIGN.poy if rows else DESIGN.pox, side.side, side.size, side.tiles, side.out, 0,
        lambda tile, _, step: tile * side.taps + step * side.stride - side.pad,
        lambda element: (element % side.side, element // side.side * words),
    )  # fmt: skip


def check(function: Any, config: Any, registers: dict[str, int], axis: Axis, number: int) -> None:
    """Move at random, but no further than a pass does, and compare all that is read."""
    rng = Random(number)
    moves = (*MOVES, *["ahead"] * axis.aheads)
    steps: list[dict[str, int]] = [registers | dict.fromkeys(moves, 0) | {"rewind": 1}]
    seen = [(0, 0, 0)]
    for _ in range(400):
        tile, ahead, step = seen[-1]
        values = {name: int(rng.random() < odds) for name, odds in
                  zip(moves, (0.03, 0.1, 0.15, 0.7, 0.5), strict=False)}  # fmt: skip
        fresh = steps[-1]["rewind"] or steps[-1]["advance"]
        if tile + 1 == axis.tiles or (fresh and function is region_axis):
            values["advance"] = 0
        if step + 1 == axis.steps:
            values["step"] = 0
        if values["rewind"]:
            tile, ahead, step = 0, 0, 0
        elif values["advance"]:
            tile, ahead, step = tile + 1, 0, 0
        elif values["restart"]:
            ahead, step = values.get("ahead", 0), 0
        else:
            step += values["step"]
        steps.append(values)
        seen.append((tile, ahead, step))
    trace = moved(function, config, registers, steps, axis.tile)
    columns = {name: trace.column(f"read_{name}") for name in vars(AxisRead(DESIGN, axis.tile))}
    for t, at in enumerate(seen[:-1], 1):
        read = {name: column[t] for name, column in columns.items()}
        first = axis.begin(*at)
        for mac in range(axis.tile):
            corner = mac // axis.side * axis.side  # a region's first bank
            bank = corner + (mac + read["shift"]) % axis.side
            element = first + (mac - corner) * registers.get("config_stride", 1)
            inside = 0 <= element < axis.size
            assert read["on"] >> bank & 1 == inside, (t, at, mac)
            if inside:
                word = read["beyond" if read["following"] >> bank & 1 else "here"]
                assert (bank - corner, word) == axis.place(element), (t, at, mac)


def moved(
    function: Any, config: Any, registers: dict[str, int], steps: list[dict[str, int]], tile: int
) -> Recorded:
    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return steps[cycle]

    names = [*MOVES, *["ahead"] * (function is window_axis)]
    bench = BlockBench(
        function, config=config, read=AxisRead(DESIGN, tile), design=DESIGN, tile=tile,
        **{name: flag() for name in ("clk", *names)},
    )  # fmt: skip
    return bench.run(drive, len(steps))


@pytest.mark.parametrize("number", range(len(WINDOWS)))
@pytest.mark.parametrize("rows", [False, True])
def test_windows_of_fp_and_dp(number: int, rows: bool) -> None:
    work = WINDOWS[number]
    table, bundle = (ROWS, RowsConfig) if rows else (COLUMNS, ColumnsConfig)
    check(window_axis, bundle(DESIGN), registers_of(table, PassRun(work, DESIGN)),
          window(work, rows), number)  # fmt: skip


@pytest.mark.parametrize("number", range(len(REGIONS)))
@pytest.mark.parametrize("rows", [False, True])
def test_windows_of_all_regions_in_ku(number: int, rows: bool) -> None:
    work = REGIONS[number]
    table = REGION_ROWS if rows else REGION_COLUMNS
    bundle = RegionRowsConfig if rows else RegionColumnsConfig
    check(region_axis, bundle(DESIGN), registers_of(table, GradientRun(work, DESIGN)),
          region(work, rows), number)  # fmt: skip


def registers_of(table: Any, run: Any) -> dict[str, int]:
    return {f"config_{register.name}": value for register, value in
            zip(table.registers, table.values(run).values(), strict=True)}  # fmt: skip
