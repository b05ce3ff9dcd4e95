"""The counters of a run: when it begins and ends, and every cycle of it under one cause."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.base.status import Status
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.ports.passes import RunProgress
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.models.machines.cnn_merp.params.design import EngineDesign

DESIGN = EngineDesign(
    k=3, n_cu=3, r=1, kernel_words=4, groups=1, row_words=4, max_size=8, max_maps=2, fifo_words=2
)
CAUSES = ("stall_input", "stall_output", "stall_hazard")
FLAGS = (
    "rst", "start", "first_tvalid", "first_tready", "ends", "loaded", "complete", "output_done",
    "map_error", "load_error", *(f"verdict_{name}" for name in ("issue", "final_issue", "idle")),
    *(f"verdict_{cause}" for cause in CAUSES),
)  # fmt: skip
INPUTS = (*FLAGS, "verdict_useful")
QUIET = dict.fromkeys(INPUTS, 0)
LATE = 2  # cycles from an event to its counter


@dataclass(frozen=True)
class Case:
    """A run: the cycles of its events, counted from ``start``."""

    loaded: int
    accepted: int
    slots: tuple[int, ...]
    ended: int
    seed: int = 0

    @property
    def over(self) -> int:
        """The last cycle that counts."""
        return max(self.ended, self.slots[-1])

    @property
    def length(self) -> int:
        """Cycles until all of it is told, and a few more in which nothing may move."""
        return self.over + 8

    def cause(self, t: int) -> str:
        """Why there is no slot in cycle ``t``."""
        return Random(f"{self.seed} {t}").choice(CAUSES)

    def useful(self, t: int) -> int:
        """CUs that the slot of cycle ``t`` keeps busy."""
        return Random(f"{self.seed} {t}").randint(1, DESIGN.n_cu)

    def inputs(self, t: int) -> dict[str, int]:
        """All inputs of cycle ``t``."""
        slot = t in self.slots
        values = QUIET | {
            "start": t == 0,
            "loaded": t >= self.loaded,
            # Words go on being accepted after the first; a source waits here and there.
            "first_tvalid": self.accepted <= t < self.slots[-1] or t == self.accepted,
            "first_tready": t == self.accepted or t % 3 != 0,
            "complete": t >= self.slots[-1],
            "ends": t == self.ended,
            "output_done": t > self.ended,
            "verdict_idle": t > self.over,
            "verdict_issue": slot,
            "verdict_final_issue": t == self.slots[-1],
            "verdict_useful": self.useful(t) if slot else 0,
        }
        if not slot:
            values[f"verdict_{self.cause(t)}"] = 1
        return {name: int(value) for name, value in values.items()}

    def counters(self) -> dict[str, int]:
        """What is told of the run, from its events alone."""
        first, final = self.slots[0], self.slots[-1]
        waits = [self.cause(t) for t in range(first, final) if t not in self.slots]
        return {
            "total": self.over - self.accepted + 1,
            "kernel_load": self.loaded - 1,
            "issue": len(self.slots),
            "fill": first - self.accepted,
            "drain": self.over - final,
            "useful": sum(map(self.useful, self.slots)),
            **{cause: waits.count(cause) for cause in CAUSES},
        }


TOLD = "ends loaded complete output_done map_error load_error"
BENCH = BlockBench(
    run_counters, "clk rst start",
    first=AxiStream(8), status=Status(),
    run=RunProgress(**{name: flag() for name in TOLD.split()}, verdict=Verdict(DESIGN)),
)  # fmt: skip


def play(cases: list[Case]) -> Recorded:
    """Runs one after the other; only the first follows a reset."""
    script = [QUIET | {"rst": 1}] * 2
    for case in cases:
        script += [case.inputs(t) for t in range(case.length)]
    return BENCH.run(script)


def check(trace: Recorded, cases: list[Case]) -> None:
    end = 2
    for case in cases:
        begin, end = end, end + case.length
        told = {name: trace.column(f"status_{name}") for name in case.counters()}
        found = {name: column[end - 1] for name, column in told.items()}
        assert found == case.counters(), case
        still = begin + case.over + LATE
        assert all(column[still] == column[end - 1] for column in told.values()), case
        done, busy = (trace.column(f"status_{name}")[begin + 1 : end] for name in ("done", "busy"))
        assert done == [not value for value in busy]
        # What is told last is that nothing moves any more.
        assert done.index(1) == case.over + 1


GAPS = (3, 4, 6, 7, 11)


@pytest.mark.parametrize("after", range(-4, 4))
def test_the_last_word_leaves_before_with_and_after_the_last_slot(after: int) -> None:
    cases = [Case(2, 3, slots, slots[-1] + after, after) for slots in (GAPS, (8,), (6, 7, 8))]
    check(play(cases), cases)


@pytest.mark.parametrize("slots", [(3,), (3, 4), (4,), (3, 9)])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_the_first_slot_comes_with_and_after_the_first_word(
    slots: tuple[int, ...], after: int
) -> None:
    cases = [Case(1, 3, slots, slots[-1] + after), Case(3, 3, slots, slots[-1] + after)]
    check(play(cases), cases)


def random_case(rng: Random) -> Case:
    loaded = rng.randint(1, 6)
    accepted = rng.randint(loaded, loaded + 4)
    slots = sorted(rng.sample(range(accepted, accepted + 30), rng.randint(1, 12)))
    ended = rng.randint(max(accepted, slots[-1] - 5), slots[-1] + 9)
    return Case(loaded, accepted, tuple(slots), ended, rng.getrandbits(30))


def test_random_runs() -> None:
    rng = Random(12)
    cases = [random_case(rng) for _ in range(60)]
    check(play(cases), cases)


@pytest.mark.parametrize("broken", ["map_error", "load_error"])
def test_either_error_is_told(broken: str) -> None:
    values = [QUIET, QUIET | {broken: 1}, QUIET | {broken: 1}, QUIET | {broken: 1, "rst": 1}, QUIET]
    trace = BENCH.run(values, 5)
    assert trace.column("status_framing_error") == [0, 0, 1, 1, 0]


def test_after_a_reset_it_is_as_new() -> None:
    case, spoilt = Case(2, 3, GAPS, 14), Case(2, 3, GAPS, 14, 7)

    def session(number: int) -> Drive:
        chosen = (spoilt, case)[number % 2]

        def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
            values = chosen.inputs(cycle - 3)
            if cycle == 0:  # a reset wins over everything that comes with it
                return {name: 1 for name in FLAGS} | {"verdict_useful": 3}
            return values | {"start": 0, "first_tvalid": 1} if cycle < 3 else values

        return drive

    BENCH.as_new_after_reset(session, range(1, 25), 25)


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    rng = Random(3)
    replays(play([random_case(rng) for _ in range(8)]))
