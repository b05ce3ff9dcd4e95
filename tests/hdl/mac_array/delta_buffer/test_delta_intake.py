"""In a kernel update each atom of deltas goes to its lane, two tiles of lanes ahead at most."""

from functools import partial
from itertools import product
from random import Random
from typing import NamedTuple

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.mac_array.delta_buffer.delta_intake import TILES_AHEAD, delta_intake
from merp.hdl.mac_array.ports.arrivals import PacedArrivals
from merp.hdl.mac_array.ports.maps import DeltaWrite
from merp.hdl.mac_array.ports.registers import DeltaLoadConfig
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.gradient_registers import DELTA_LOAD
from merp.models.machines.mac_array.params.gradient_run import GradientRun
from merp.testbenches.mac_array.designs import small_design

DESIGN = small_design(4, 4, 4, pool_window=2, index_words=128)

ku = partial(ArrayPass, phase="ku", inputs=1, kernel=1)
PASSES = (
    ku(outputs=14, rows=2, columns=6),
    ku(outputs=9, rows=4, columns=6, pool=2),
    ku(outputs=2, rows=3, columns=9),
    ku(outputs=8, rows=1, columns=4),
)


class Atom(NamedTuple):
    """Where an atom goes, and what ends with it."""

    tile: int
    lane: int
    addr: int
    ends_row: bool
    ends_tile: bool


def atoms_of(work: ArrayPass) -> list[Atom]:
    """Tile of lanes, run of rows, lane, row, column; tiles take turns in the two halves."""
    run = GradientRun(work, DESIGN)
    window, across = run.delta_window, run.delta_blocks
    found = []
    for tile, low in enumerate(range(0, work.outputs, DESIGN.pof)):
        lanes = range(min(DESIGN.pof, work.outputs - low))
        runs = range(work.delta_rows // window)
        for of_rows, lane, row, atom in product(runs, lanes, range(window), range(across)):
            addr = (of_rows * window + row) * across + atom
            ends_row = lane == lanes[-1] and atom == across - 1
            ends_tile = ends_row and of_rows == runs[-1] and row == window - 1
            half = tile % 2 * DESIGN.delta_words
            found.append(Atom(tile, lane, half + addr, ends_row, ends_tile))
    return found


BENCH = BlockBench(
    delta_intake, "clk rst start framing_error", deltas=PacedArrivals(),
    load=DeltaLoadConfig(DESIGN), sink=Stream(DESIGN.atom_bits),
    write=DeltaWrite(DESIGN), design=DESIGN,
)  # fmt: skip


def registers(work: ArrayPass) -> dict[str, int]:
    values = DELTA_LOAD.values(GradientRun(work, DESIGN))
    return {name.removeprefix("supply_config_delta_"): each for name, each in values.items()}


def test_atoms_are_written_a_cycle_later_and_wait_for_room() -> None:
    """A tile is computed a while after it came. The last pass is framed wrong."""
    rng = Random(1)
    works = (*PASSES, PASSES[1])
    passes = [atoms_of(work) for work in works]
    spans = [2 * len(each) + 30 * (each[-1].tile + 2) for each in passes]
    starts = [2 + sum(spans[:i]) for i in range(len(passes))]
    left: list[Atom] = []
    ready_at: list[int] = []  # cycles in which a tile is computed
    taken: dict[int, tuple[int, Atom, int]] = {}  # by cycle: pass, atom and data
    waits: list[int] = []
    at, held, data, computed = -1, False, 0, 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal at, held, data, computed
        values = {"rst": int(cycle == 0), "start": int(cycle in starts)}
        values["deltas_computed"] = 0
        if held and seen["sink_ready"]:
            atom = left.pop(0)
            taken[cycle - 1] = at, atom, data
            assert atom.tile < computed + TILES_AHEAD
            held = False
            if atom.ends_tile:
                ready_at.append(cycle + 25)
        elif held and left[0].tile < computed + TILES_AHEAD:
            waits.append(cycle)
        if ready_at and ready_at[0] == cycle:
            ready_at.pop(0)
            values["deltas_computed"] = 1
            computed += 1
        if cycle in starts:
            assert not left
            assert not ready_at
            at, computed = at + 1, 0
            left[:] = passes[at]
            values |= registers(works[at])
        elif left and not held and rng.random() < 0.8:
            held, data = True, rng.getrandbits(DESIGN.atom_bits)
        last = held and len(left) == 1 and at < len(PASSES) if held else rng.random() < 0.5
        shown = data if held else rng.getrandbits(DESIGN.atom_bits)
        return values | {"sink_valid": int(held), "sink_data": shown, "sink_last": int(last)}

    trace = BENCH.run(drive, starts[-1] + spans[-1])
    assert not left
    assert len(waits) <= sum(each[-1].tile for each in passes)  # a cycle behind computed, each
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    ended = False
    for t in range(1, len(trace.rows)):
        number, atom, word = taken.get(t - 1, (0, None, 0))
        if t - 1 in starts:
            ended = False
        if atom is None:
            assert (columns["write_lanes"][t], columns["deltas_arrived"][t]) == (0, 0), t
        else:
            assert columns["write_lanes"][t] == 1 << atom.lane, t
            assert (columns["write_addr"][t], columns["write_data"][t]) == (atom.addr, word), t
            assert columns["deltas_arrived"][t] == atom.ends_row, t
            ended = atom.ends_tile and atom.tile == passes[number][-1].tile
            assert columns["framing_error"][t] == (ended and number == len(PASSES)), t
        assert columns["deltas_complete"][t] == ended, t


def test_a_reset_leaves_nothing_behind() -> None:
    fixed = registers(PASSES[0]), registers(PASSES[1])
    rates = {"sink_valid": 0.8, "sink_last": 0.1, "deltas_computed": 0}
    session = at_random(rates, {"sink_data": DESIGN.atom_bits}, fixed)
    payload = {"write_lanes": "write_addr write_data"}
    BENCH.as_new_after_reset(session, range(3, 40, 3), 50, payload=payload)
