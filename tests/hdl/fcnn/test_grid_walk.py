"""The walk of a window: against plain loops over blocks, maps, rows, columns and beats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.fcnn.grid_walk import GridConfig, GridPlace, grid_walk
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.grid_registers import walk_values
from merp.models.machines.fcnn.params.stream_design import StreamDesign

OF_INPUT = ("takes", "last_input")
OF_CENTRE = (
    "counts", "begins", "ends", "opens", "closes", "last_block", "final", "rows", "columns",
)  # fmt: skip


def small(k: int, lanes: int = 1, maps: int = 2) -> StreamDesign:
    return StreamDesign(
        k=k, lanes=lanes, maps_at_once=maps, max_rows=12, max_columns=12, max_maps=7, max_step=3,
        max_stride=3, mul_latency=1, add_latency=1,
    )  # fmt: skip


def random_grid(k: int, rng: Random) -> Grid:
    """A run that fits ``small(k)``: forward, or delta propagation of a layer."""
    design = small(k, rng.choice((1, 2)), rng.randint(1, 3))
    while True:
        pads = tuple(rng.randrange(k) for _ in range(4))
        try:
            shape = Shape(
                n=rng.randint(1, 3), m=rng.randint(1, 5), k=k, rows=rng.randint(1, 6),
                columns=rng.randint(1, 6), stride=rng.randint(1, 3),
                pad=(pads[0], pads[1], pads[2], pads[3]),
            )  # fmt: skip
            images = design.lanes * rng.randint(1, 3)
            if rng.random() < 0.4:
                return Grid.of_deltas(shape, images, design)
            return Grid(shape, images, design)
        except ValueError:
            continue


@dataclass(frozen=True)
class Beat:
    """What the walk says of a beat."""

    takes: bool
    last_input: bool
    centre: tuple[int, ...] | None


def walked(grid: Grid) -> Iterator[Beat]:
    """Every beat of the run, by plain loops."""
    shape, k = grid.shape, grid.design.k
    passes = [(b, n) for b in range(grid.blocks) for n in range(shape.n)]
    at = [
        (b, n, r, c, s)
        for b, n in passes
        for r in range(grid.rows)
        for c in range(grid.columns)
        for s in range(grid.step)
    ]

    def has(r: int, c: int) -> bool:
        return (
            r < shape.rows and c < shape.columns
            and r % grid.dilation == 0 == c % grid.dilation
        )  # fmt: skip

    inputs = [has(r, c) for _, _, r, c, _ in at]
    last_input = max(i for i, takes in enumerate(inputs) if takes)
    centres: list[tuple[int, ...]] = []
    for b, n, r, c, s in at:
        inside_row, inside_column = r // shape.stride, c // shape.stride
        counts = (
            r % shape.stride == 0 == c % shape.stride
            and inside_row < shape.out_rows and inside_column < shape.out_columns
        )  # fmt: skip
        ends = (
            counts and inside_row == shape.out_rows - 1
            and inside_column == shape.out_columns - 1 and s == grid.step - 1
        )  # fmt: skip
        rows = sum(1 << j for j in range(k) if 0 <= r - shape.top + j < shape.rows)
        columns = sum(1 << j for j in range(k) if 0 <= c - shape.left + j < shape.columns)
        last_block = b == grid.blocks - 1
        centres.append((
            counts, r == c == s == 0, ends, n == 0, n == shape.n - 1, last_block,
            ends and n == shape.n - 1 and last_block, rows, columns,
        ))  # fmt: skip
    last_centre = max(i for i, centre in enumerate(centres) if centre[0])
    for i in range(max(last_input, last_centre + grid.lead) + 1):
        place = i - grid.lead
        yield Beat(
            i <= last_input and inputs[i],
            i == last_input,
            centres[place] if 0 <= place <= last_centre else None,
        )


def player(grids: Sequence[Grid], rate: float, seed: int):  # type: ignore[no-untyped-def]
    rng, left = Random(seed), list(grids)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        begins = cycle > 0 and bool(left) and not seen.get("place_walking") and cycle % 3 == 0
        values = {"rst": int(cycle == 0), "start": int(begins), "advance": 0}
        if begins:
            return values | walk_values(left.pop(0))
        return values | {"advance": int(rng.random() < rate)}

    return drive


def bench(design: StreamDesign) -> BlockBench:
    return BlockBench(
        grid_walk, "clk rst start advance", config=GridConfig(design), place=GridPlace(design),
        design=design,
    )  # fmt: skip


def play(grids: Sequence[Grid], rate: float = 1.0, seed: int = 0) -> Recorded:
    cycles = int(sum(grid.beats + 12 for grid in grids) / rate * (1 if rate == 1 else 1.4)) + 8
    drive = player(grids, rate, seed)

    def only_walking(cycle: int, seen: Sample) -> dict[str, int]:
        # What advances has to know that beats are left, as the module around it does.
        values = drive(cycle, seen)
        if not (seen.get("place_walking") or seen.get("start")):
            values["advance"] = 0
        return values

    return bench(grids[0].design).run(only_walking, cycles)


def check(grids: Sequence[Grid], trace: Recorded) -> None:
    names = [f"place_{name}" for name in (*OF_INPUT, *OF_CENTRE)]
    beats = [
        row
        for on, walking, row in zip(
            trace.column("advance"), trace.column("place_walking"), trace.columns(*names),
            strict=True,
        )
        if on and walking
    ]  # fmt: skip
    wanted = [beat for grid in grids for beat in walked(grid)]
    assert len(wanted) == sum(grid.beats for grid in grids)
    assert len(beats) == len(wanted)
    for i, (found, beat) in enumerate(zip(beats, wanted, strict=True)):
        assert found[:2] == (beat.takes, beat.last_input), i
        if beat.centre is None or not beat.centre[0]:
            assert not found[2], i
        else:
            assert found[2:] == beat.centre, (i, dict(zip(names, found, strict=True)))
    events = ("takes", "last_input", "counts", "begins", "ends", "final")
    quiet = trace.columns("place_walking", *(f"place_{name}" for name in events))
    assert not any(any(flags) for walking, *flags in quiet if not walking)
    assert not trace.column("place_walking")[-1]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_every_beat_is_that_of_the_loops(k: int) -> None:
    for seed in range(6):
        rng = Random(f"{k} {seed}")
        grid = random_grid(k, rng)
        design = grid.design
        others = [g for g in (random_grid(k, rng) for _ in range(40)) if g.design == design][:2]
        grids = [grid, *others]
        check(grids, play(grids))


def test_pauses_change_nothing() -> None:
    grids = [
        Grid(Shape(n=2, m=3, k=3, rows=4, columns=3, pad=1, stride=2), 2, small(3)),
        Grid.of_deltas(Shape(n=1, m=2, k=3, rows=5, columns=4, pad=1, stride=2), 1, small(3)),
    ]
    check(grids, play(grids, rate=0.6, seed=1))


def test_a_reset_ends_the_walk() -> None:
    grid = Grid(Shape(n=2, m=3, k=2, rows=3, columns=3), 2, small(2))

    def session(number: int):  # type: ignore[no-untyped-def]
        def drive(cycle: int, seen: Sample) -> dict[str, int]:
            started = cycle > 1
            return {
                "rst": int(cycle == 0), "start": int(cycle == 1),
                "advance": int(started and (cycle + number) % 4 != 0), **walk_values(grid),
            }  # fmt: skip

        return drive

    shown = " ".join(f"place_{name}" for name in (*OF_INPUT, *OF_CENTRE))
    bench(grid.design).as_new_after_reset(
        session, range(3, 60, 11), 60, payload={"place_walking": shown}
    )


@pytest.mark.parametrize(
    ("shape", "images", "named"),
    [
        ({"k": 2}, 1, "k must be 3"),
        ({}, 3, "images must be a multiple of 2, not 3"),
        ({}, 8, "images must be 1 to 6"),
        ({"rows": 13}, 2, "rows of the map and of its output must be 1 to 12"),
        ({"columns": 11, "pad": 2}, 2, "columns of the map and of its output must be 1 to 12"),
        ({"n": 8}, 2, "input maps must be 1 to 7"),
        ({"m": 8}, 2, "output maps must be 1 to 7"),
        ({"stride": 4, "rows": 8, "columns": 8}, 2, "stride must be 1 to 3"),
    ],
)
def test_what_does_not_fit_is_refused(shape: dict[str, int], images: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Grid(
            Shape(**{"n": 1, "m": 1, "k": 3, "rows": 4, "columns": 4} | shape), images, small(3, 2)
        )


@pytest.mark.ghdl
def test_grid_walk_vhdl(replays: Replays) -> None:
    grids = [
        Grid(Shape(n=2, m=3, k=3, rows=4, columns=3, pad=1, stride=2), 2, small(3)),
        Grid.of_deltas(Shape(n=1, m=2, k=3, rows=5, columns=4, pad=1, stride=2), 1, small(3)),
    ]
    trace = play(grids, rate=0.8)
    check(grids, trace)
    replays(trace, lint=True)
