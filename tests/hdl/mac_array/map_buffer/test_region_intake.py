"""In a kernel update each part of an atom goes to its region's banks, and nothing else does."""

from functools import partial
from itertools import product
from random import Random
from typing import NamedTuple

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.mac_array.map_buffer.region_intake import region_intake
from merp.hdl.mac_array.ports.arrivals import Arrivals
from merp.hdl.mac_array.ports.maps import MapWrite
from merp.hdl.mac_array.ports.registers import RegionLoadConfig
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.models.machines.mac_array.params.gradient_registers import REGION_LOAD
from merp.models.machines.mac_array.params.gradient_run import GradientRun
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import joined, parted

DESIGN = small_design(8, 4, 4, map_words=1024, delta_words=256)

ku = partial(ArrayPass, phase="ku", outputs=1)
PASSES = (
    ku(inputs=5, rows=3, columns=11, kernel=2),
    ku(inputs=2, rows=5, columns=4, kernel=4),
    ku(inputs=30, rows=1, columns=9, kernel=1),
    ku(inputs=10, rows=3, columns=5, kernel=2),
)


class Atom(NamedTuple):
    """An atom, where each of its parts goes, and what ends with it."""

    words: list[int]
    parts: list[tuple[int, int, int]]  # row of banks, first column, address
    ends_row: bool
    ends_pass: bool


def atoms_of(work: ArrayPass, rng: Random) -> list[Atom]:
    """Row r, column c of map g in a group: row r mod side and column c mod width of region g."""
    run = GradientRun(work, DESIGN)
    side, width, beside = run.vertical.side, run.horizontal.side, run.horizontal.regions
    across, parts = DESIGN.column_blocks(work.columns), DESIGN.pox // width
    found = []
    for group, low in enumerate(range(0, work.inputs, run.regions)):
        maps = range(min(run.regions, work.inputs - low))
        for r, g, atom in product(range(work.rows), maps, range(across)):
            block = group * -(-work.rows // side) + r // side
            base = block * -(-work.columns // width) + atom * parts
            ends_row = g == maps[-1] and atom == across - 1
            found.append(
                Atom(
                    [rng.getrandbits(WORD_BITS) for _ in range(DESIGN.pox)],
                    [
                        (g // beside * side + r % side, g % beside * width, base + part)
                        for part in range(parts)
                    ],
                    ends_row,
                    ends_row and r == work.rows - 1 and low + run.regions >= work.inputs,
                )
            )
    return found


BENCH = BlockBench(
    region_intake, "clk rst start framing_error", maps=Arrivals(),
    load=RegionLoadConfig(DESIGN), sink=Stream(DESIGN.atom_bits),
    write=MapWrite(DESIGN), design=DESIGN,
)  # fmt: skip


def registers(work: ArrayPass) -> dict[str, int]:
    values = REGION_LOAD.values(GradientRun(work, DESIGN))
    return {name.removeprefix("supply_config_region_"): each for name, each in values.items()}


def test_every_part_is_written_a_cycle_later() -> None:
    """The first pass, played once more behind the others, is framed wrong."""
    rng = Random(1)
    works = (*PASSES, PASSES[0])
    passes = [atoms_of(work, rng) for work in works]
    spans = [int(sum(len(atom.parts) for atom in each) * 1.6) + 30 for each in passes]
    starts = [2 + sum(spans[:i]) for i in range(len(passes))]
    offered: dict[int, tuple[int, Atom, int]] = {}  # by cycle: pass, atom and part
    left: list[Atom] = []
    at, part, held = -1, 0, False

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal at, part, held
        values = {"rst": int(cycle == 0), "start": int(cycle in starts), "sink_valid": 0}
        if cycle in starts:
            assert not left
            at, part, held = at + 1, 0, False
            left[:] = passes[at]
            values |= registers(works[at])
        elif left:
            held = held or rng.random() < 0.8
        noise = {"sink_data": rng.getrandbits(DESIGN.atom_bits), "sink_last": rng.getrandbits(1)}
        if not held:
            return values | noise
        atom = left[0]
        offered[cycle] = at, atom, part
        part += 1
        if part == len(atom.parts):
            left.pop(0)
            part, held = 0, False
        last = atom.ends_pass and at < len(PASSES)
        return values | {
            "sink_valid": 1, "sink_data": joined(atom.words), "sink_last": int(last)
        }  # fmt: skip

    trace = BENCH.run(drive, starts[-1] + spans[-1])
    assert not left
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    ended = False
    for t in range(1, len(trace.rows)):
        number, atom, part = offered.get(t - 1, (0, None, 0))
        if t in (start + 1 for start in starts):
            ended = False
        if atom is None:
            assert (columns["write_rows"][t], columns["maps_arrived"][t]) == (0, 0), t
        else:
            row, first, addr = atom.parts[part]
            width = DESIGN.pox // len(atom.parts)
            whole = part == len(atom.parts) - 1
            assert columns["sink_ready"][t - 1] == whole, t
            assert columns["write_rows"][t] == 1 << row, t
            assert columns["write_columns"][t] == (1 << width) - 1 << first, t
            assert columns["write_addr"][t] == addr, t
            data = parted(columns["write_data"][t], DESIGN.pox)[first : first + width]
            words = atom.words[part * width : (part + 1) * width]
            assert [word & 0xFFFF for word in data] == words, t
            assert columns["maps_arrived"][t] == (whole and atom.ends_row), t
            ended = whole and atom.ends_pass
            assert columns["framing_error"][t] == (ended and number == len(PASSES)), t
        assert columns["maps_complete"][t] == ended, t


def test_a_reset_leaves_nothing_behind() -> None:
    fixed = registers(PASSES[0]), registers(PASSES[1])
    rates = {"sink_valid": 0.8, "sink_last": 0.1}
    session = at_random(rates, {"sink_data": DESIGN.atom_bits}, fixed)
    payload = {"write_rows": "write_columns write_addr write_data"}
    BENCH.as_new_after_reset(session, range(3, 60, 4), 60, payload=payload)
