"""Atoms leave group by group: lane by lane, row by row, one in each cycle that has room."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from random import Random

import pytest

from block_bench import BlockBench, Sample, at_random
from merp.hdl.mac_array.output.atom_sender import atom_sender
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, AtomGroup
from merp.hdl.mac_array.ports.sending import Sending
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS
from merp.testbenches.mac_array.designs import small_design

DESIGN = small_design(4, 4, 4, max_stride=4)
FIELDS = ("rows", "atoms", "lanes", "number")
STEPS = {"config_row_step": 7, "config_map_step": 50}


BENCH = BlockBench(
    atom_sender, "clk clear room freed", design=DESIGN, config=ArrayOutputConfig(DESIGN),
    group=AtomGroup(DESIGN), sending=Sending(DESIGN),
)  # fmt: skip


@dataclass
class Golden:
    """Atoms of the groups that are ready; of each where it lies, its number, and if it is last."""

    atoms: deque[tuple[dict[str, int], bool]] = field(default_factory=deque)
    half: int = 0

    def add(self, rows: int, atoms: int, lanes: int, number: int) -> None:
        each = list(product(range(lanes), range(rows), range(atoms)))
        for place, (lane, row, atom) in enumerate(each):
            at = number + STEPS["config_map_step"] * lane + STEPS["config_row_step"] * row + atom
            shown = {
                "row": (self.half * DESIGN.poy + row) * DESIGN.max_stride + atom,
                "lane": lane, "number": at % (1 << ATOM_NUMBER_BITS),
            }  # fmt: skip
            self.atoms.append((shown, place == len(each) - 1))
        self.half = 1 - self.half


@pytest.mark.parametrize("room", [1.0, 0.5])
@pytest.mark.parametrize("often", [1.0, 0.05])
def test_every_cycle_with_room_sends_the_next_atom(room: float, often: float) -> None:
    """``often``: as soon as one may, or with pauses, a group comes."""
    rng = Random(f"{room} {often}")
    golden, pending, cycles = Golden(), 0, 600

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal pending
        pending -= seen.get("freed", 0)
        comes = cycle > 0 and pending < 2 and rng.random() < often
        pending += comes
        most = (DESIGN.poy, DESIGN.max_stride, DESIGN.pof)
        sizes = [rng.choice((1, each, rng.randint(1, each))) for each in most]
        group = dict(zip(FIELDS, (*sizes, rng.getrandbits(ATOM_NUMBER_BITS)), strict=True))
        return STEPS | {
            "clear": int(cycle == 0), "room": int(rng.random() < room), "group_valid": int(comes),
            **{f"group_{name}": value for name, value in group.items()},
        }  # fmt: skip

    trace = BENCH.run(drive, cycles)
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    sent = 0
    for t in range(1, cycles):
        goes = bool(columns["room"][t] and golden.atoms)
        assert columns["sending_issue"][t] == goes, t
        last = False
        if goes:
            shown, last = golden.atoms.popleft()
            assert {name: columns[f"sending_{name}"][t] for name in shown} == shown, t
        assert columns["freed"][t] == last, t
        sent += goes
        if columns["group_valid"][t]:
            golden.add(*(columns[f"group_{name}"][t] for name in FIELDS))
    assert sent > 100


def test_a_reset_leaves_no_group() -> None:
    sizes = {"group_rows": 2, "group_atoms": 2, "group_lanes": 3, "group_number": 5}
    rates = {"group_valid": 0.08, "room": 0.7}
    session = at_random(rates, fixed=STEPS | sizes, begin=(1, 2), pulses={"clear": 0})
    payload = {"sending_issue": "sending_lane sending_row sending_number"}
    BENCH.as_new_after_reset(session, range(2, 60, 5), 40, reset="clear", payload=payload)
