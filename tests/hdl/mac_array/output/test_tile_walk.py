"""Every tile of a pass: what of it lies in the map, and where its outputs go."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from block_bench import BlockBench, Sample
from merp.hdl.mac_array.output.tile_walk import tile_walk
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, Tile
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import over
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_run import PassRun
from merp.testbenches.mac_array.designs import small_design

DESIGN = small_design(
    pool_window=4, max_stride=4, mask_words=2048, index_words=1024, map_words=4096
)
LATENCY = 4

fp = partial(ArrayPass, phase="fp", inputs=1, kernel=1)
dp = partial(ArrayPass, phase="dp", outputs=1)
PASSES = (
    fp(outputs=9, rows=9, columns=11),
    fp(outputs=5, rows=9, columns=11, pool=2),
    fp(outputs=2, rows=11, columns=17, pool=2),
    fp(outputs=6, rows=8, columns=35, pool=4),
    fp(outputs=4, rows=4, columns=4, pool=4),
    fp(outputs=8, rows=8, columns=8),
    dp(inputs=9, rows=9, columns=17, kernel=3, stride=2),
    dp(inputs=4, rows=16, columns=16, kernel=2, stride=2),
    dp(inputs=6, rows=19, columns=18, kernel=5, stride=4, pad=2),
    dp(inputs=2, rows=17, columns=35, kernel=4, stride=4),
    dp(inputs=2, rows=2, columns=3, kernel=4, stride=4, pad=1),
    dp(inputs=5, rows=5, columns=5, kernel=1),
)


def tiles(work: ArrayPass) -> Iterator[dict[str, int]]:
    """By definition: bands, phases of rows, tiles of maps and of columns, phases of columns."""
    d, stride = DESIGN, work.stride if work.phase == "dp" else 1
    g = work.pool if work.phase == "fp" else 1
    forward = work.phase == "fp"
    maps = work.outputs if forward else work.inputs
    rows, columns = (work.out_rows, work.out_columns) if forward else (work.rows, work.columns)
    row_atoms = d.column_blocks(columns // g)
    map_atoms = rows // g * row_atoms
    bands, across = (
        over(over(size, stride), tile) for size, tile in ((rows, d.poy), (columns, d.pox))
    )
    loops = (bands, stride, over(maps, d.pof), across, stride)
    for band, down, each, column, right in product(*map(range, loops)):
        high = len(range(band * d.poy * stride + down, rows, stride))
        wide = len(range(column * d.pox * stride + right, columns, stride))
        part, group = (right, column) if stride > 1 else (column % g, column // g)
        beside = columns - group * g * d.pox * stride
        shown = {
            "rows": min(high, d.poy), "columns": min(wide, d.pox), "maps": each, "part": part,
            "lanes": min(d.pof, maps - each * d.pof), "begins": part == 0,
            "ends": part == stride - 1 if stride > 1 else part == g - 1 or column == across - 1,
            "empty": not high or not wide, "out_rows": min(high, d.poy) // g,
            "atoms": min(stride, row_atoms - group * stride) if stride > 1 else 1,
            "leaves": min(high, d.poy) >= g and beside >= g,
            "number": each * d.pof * map_atoms
            + (band * d.poy * stride + down) // g * row_atoms + group * stride,
        }  # fmt: skip
        yield {name: int(value) for name, value in shown.items()}


def test_tiles_of_passes_behind_each_other() -> None:
    rng = Random(1)
    steps: list[dict[str, int]] = [{}]
    shown: list[tuple[int, int, dict[str, int]]] = []  # from a cycle to another one, a tile
    for work in PASSES:
        table = output_table(DESIGN).values(PassRun(work, DESIGN))
        registers = {name.replace("output_config", "config"): v for name, v in table.items()}
        for number, tile in enumerate(tiles(work)):
            begin, stays = len(steps), LATENCY + rng.randrange(4)
            steps.append(registers | {"start": 1} if number == 0 else {"advance": 1})
            steps += [{}] * (stays - 1)
            shown.append((begin + LATENCY, begin + stays, tile))
        steps.append({})  # before other registers come

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        return {"start": 0, "advance": 0} | steps[cycle]

    bench = BlockBench(
        tile_walk, "clk start advance", config=ArrayOutputConfig(DESIGN), tile=Tile(DESIGN),
        design=DESIGN,
    )  # fmt: skip
    trace = bench.run(drive, len(steps))
    columns = {name: trace.column(f"tile_{name}") for name in vars(Tile(DESIGN))}
    for first, last, tile in shown:
        for t in range(first, last + 1):
            assert {name: columns[name][t] for name in columns} == tile, t
