"""The counters of a pass: when it begins and ends, and every cycle of it under one cause."""

from dataclasses import dataclass
from random import Random

import pytest

from block_bench import BlockBench, Drive, Recorded, Replays
from merp.hdl.base.signals import flag
from merp.hdl.mac_array.phases.pass_counters import SETTLED, PassCountersPorts, pass_counters
from merp.hdl.mac_array.ports.slots import ArrayVerdict
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.testbenches.mac_array.designs import small_design

DESIGN, WIDE = small_design(4, 4, 4), small_design(4, 4, 16)
STALLS = ("stall_kernel", "stall_input", "stall_output")
CAUSES = ("issue", "final_issue", *STALLS)
FACTORS = ("rows", "columns", "maps", "lanes")
OWN = ("rst", "start", "sent", "computes", "complete", "drained", "error")
INPUTS = (*OWN, *(f"verdict_{name}" for name in (*CAUSES, *FACTORS)))
QUIET = dict.fromkeys(INPUTS, 0)


@dataclass(frozen=True)
class Case:
    """A pass: the cycles of its events, counted from ``start``; one without slots computes nothing.

    Attributes:
        drained: when sums are read for the last time; other tiles' are before.
    """

    slots: tuple[int, ...]
    sent: int
    complete: int = 0
    drained: int = 0
    error: int | None = None
    seed: int = 0
    design: ArrayDesign = DESIGN

    @property
    def over(self) -> int:
        """The last cycle that counts."""
        return max(self.sent, self.complete, self.drained)

    @property
    def length(self) -> int:
        """Cycles until all of it is told, and a few more in which nothing may move."""
        return self.over + SETTLED + 4

    def cause(self, t: int) -> str:
        """Why there is no slot in cycle ``t``."""
        return Random(f"{self.seed} {t}").choice(STALLS)

    def factors(self, t: int) -> dict[str, int]:
        """Of the slot of cycle ``t``: more maps share the array's rows."""
        rng = Random(f"{self.seed} {t}")
        maps = rng.choice((1, 2))
        rows, columns = rng.randint(1, self.design.poy // maps), rng.randint(1, self.design.pox)
        lanes = rng.randint(1, self.design.pof)
        return dict(zip(FACTORS, (rows, columns, maps, lanes), strict=True))

    def inputs(self, t: int) -> dict[str, int]:
        """All inputs of cycle ``t``."""
        values: dict[str, int | bool] = QUIET | {
            "start": t == 0,
            "computes": bool(self.slots),
            "sent": t >= self.sent,
            "complete": t >= self.complete,
            # Tiles before the last one are read, too.
            "drained": t in (self.drained, *(at + 1 for at in self.slots[:-1])),
            "error": t == self.error,
        }
        if t in self.slots:
            values["verdict_issue"] = True
            values["verdict_final_issue"] = t == self.slots[-1]
        elif self.slots and t < self.slots[-1]:
            values[f"verdict_{self.cause(t)}"] = True
        if self.slots:
            values |= {f"verdict_{name}": each for name, each in self.factors(t).items()}
        return {name: int(value) for name, value in values.items()}

    def counters(self) -> dict[str, int]:
        """What is told of the pass, from its events alone."""
        first, final = (self.slots[0], self.slots[-1]) if self.slots else (self.over + 1, self.over)
        waits = [self.cause(t) for t in range(first, final) if t not in self.slots]
        useful = 0
        for t in self.slots:
            of = self.factors(t)
            useful += of["rows"] * of["columns"] * of["maps"] * of["lanes"]
        return {
            "total": self.over,
            "issue": len(self.slots),
            "fill": first - 1,
            "drain": self.over - final,
            "useful": useful,
            **{cause: waits.count(cause) for cause in STALLS},
        }


def bench_for(design: ArrayDesign = DESIGN) -> BlockBench:
    ports = PassCountersPorts(
        verdict=ArrayVerdict(design),
        status=ArrayStatus(design),
        **{name: flag() for name in OWN if name not in ("rst", "start")},
    )
    return BlockBench(pass_counters, "clk rst start", ports=ports, design=design)


def script(cases: list[Case]) -> list[dict[str, int]]:
    """Passes one after the other; only the first follows a reset."""
    rows = [QUIET | {"rst": 1}] * 2
    for case in cases:
        rows += [case.inputs(t) for t in range(case.length)]
    return rows


def play(cases: list[Case]) -> Recorded:
    rows = script(cases)
    return bench_for(cases[0].design).run(rows)


def check(trace: Recorded, cases: list[Case]) -> None:
    end = 2
    for case in cases:
        begin, end = end, end + case.length
        told = {name: trace.column(f"status_{name}") for name in case.counters()}
        assert {name: column[end - 1] for name, column in told.items()} == case.counters(), case
        still = begin + case.over + SETTLED + 1
        assert all(column[still] == column[end - 1] for column in told.values()), case
        flags = {
            name: trace.column(f"status_{name}")[begin + 1 : end]
            for name in ("done", "busy", "framing_error")
        }
        assert flags["done"] == [not each for each in flags["busy"]]
        assert flags["done"].index(1) == case.over + SETTLED
        wrong = [case.error is not None and t == case.error + 1 for t in range(1, case.length)]
        assert flags["framing_error"] == wrong


ENDS = {
    "the last word leaves last": Case((3, 4, 7), sent=20, complete=9, drained=11),
    "a sum is read last": Case((2, 3), sent=5, complete=4, drained=14, error=6),
    "an atom comes last": Case((5,), sent=7, complete=13, drained=9),
    "all at once": Case((2, 6, 9), sent=10, complete=10, drained=10),
    "one slot, at once": Case((1,), sent=2, complete=1, drained=2),
    "nothing computed": Case((), sent=9),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_cycle_has_a_cause(name: str) -> None:
    cases = [ENDS[name], ENDS["the last word leaves last"], ENDS[name]]
    check(play(cases), cases)


def random_case(rng: Random, design: ArrayDesign = DESIGN) -> Case:
    if rng.random() < 0.2:
        return Case((), sent=rng.randint(1, 30), design=design)
    slots = tuple(sorted(rng.sample(range(1, 30), rng.randint(1, 12))))
    behind = [slots[-1] + rng.randint(1, 12) for _ in range(2)]
    return Case(slots, *behind, drained=slots[-1] + rng.randint(1, 12), seed=rng.randint(0, 99),
                design=design)  # fmt: skip


def test_random_passes() -> None:
    rng = Random(1)
    cases = [random_case(rng) for _ in range(60)]
    check(play(cases), cases)


def test_useful_macs_of_many_lanes() -> None:
    """Numbers of lanes with several bits in both halves, which are multiplied apart."""
    rng = Random(2)
    cases = [random_case(rng, WIDE) for _ in range(8)]
    check(play(cases), cases)


def test_a_reset_leaves_nothing() -> None:
    broken, whole = ENDS["a sum is read last"], ENDS["the last word leaves last"]

    def session(number: int) -> Drive:
        case = (broken, whole)[number]
        rows = [QUIET | {"rst": 1}, *(case.inputs(t) for t in range(case.length))]
        return lambda cycle, _: rows[cycle]

    bench_for().as_new_after_reset(session, range(1, 22), whole.length)


@pytest.mark.ghdl
def test_the_vhdl_does_the_same(replays: Replays) -> None:
    replays(play(list(ENDS.values())))
