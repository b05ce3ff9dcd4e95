"""A link: every stream's words in order, at its pace, and a full stream holds up no other one."""

import itertools
from collections import deque
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import AxiStream, Bundles, bits, count
from merp.hdl.cnn_merp.chain.link import link

WIDTHS = {"maps": 6, "sums": 9, "state": 3}
MOST_PACE = 12
FULL = dict.fromkeys(WIDTHS, 1.0)


def bench_for(latency: int = 3, places: int = 8, names: tuple[str, ...] = ()) -> BlockBench:
    widths = {name: WIDTHS[name] for name in names or WIDTHS}
    return BlockBench(
        link, "clk rst start", pace=count(MOST_PACE), latency=latency, places=places,
        s_axis=Bundles({name: AxiStream(width) for name, width in widths.items()}),
        m_axis=Bundles({name: AxiStream(width) for name, width in widths.items()}),
        **{way: Bundles({name: bits(10) for name in widths}) for way in ("sent", "arrived")},
    )  # fmt: skip


def play(
    pace: int, offered: dict[str, float], taken: dict[str, float], cycles: int = 300,
    **built: Any,
) -> Recorded:  # fmt: skip
    """Words that count up in each stream, offered and taken at rates of their own."""
    rng = Random(f"{pace} {offered} {taken}")
    bench = bench_for(**built)
    names = list(vars(bench.args["s_axis"]))
    at, valid = dict.fromkeys(names, 0), dict.fromkeys(names, 0)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {"rst": int(cycle == 0), "start": int(cycle == 1), "pace": pace}
        for name in names:
            if valid[name] and seen[f"s_axis_{name}_tready"]:
                at[name], valid[name] = at[name] + 1, 0
            if cycle > 1 and not valid[name]:
                valid[name] = int(rng.random() < offered[name])
            values |= {
                f"s_axis_{name}_tdata": at[name] % (1 << WIDTHS[name]),
                f"s_axis_{name}_tvalid": valid[name],
                f"s_axis_{name}_tlast": int(at[name] % 5 == 4),
                f"m_axis_{name}_tready": int(rng.random() < taken[name]),
            }
        return values

    return bench.run(drive, cycles)


def passed(trace: Recorded, side: str, name: str) -> list[tuple[int, int, int]]:
    """Cycle, data and last of each transfer."""
    fields = ("tvalid", "tready", "tdata", "tlast")
    columns = trace.columns(*(f"{side}_axis_{name}_{each}" for each in fields))
    return [(t, data, last) for t, (on, off, data, last) in enumerate(columns) if on and off]


class Golden:
    """A link by its rules: credits, the first stream first, a word in pace cycles, a delay.

    A word that is sent in cycle t lies in its FIFO in t + latency + 1, and its head is seen a cycle
    later; a place that is left by the head's register is known as a credit latency + 2 later.
    """

    def __init__(self, pace: int, latency: int, places: int) -> None:
        self.pace, self.latency = pace, latency
        self.credits = dict.fromkeys(WIDTHS, places)
        self.memory: dict[str, deque[tuple[int, int]]] = {name: deque() for name in WIDTHS}
        self.head: dict[str, tuple[int, int] | None] = dict.fromkeys(WIDTHS)
        self.flying: deque[tuple[int, str, tuple[int, int]]] = deque()
        self.returning: deque[tuple[int, str]] = deque()
        self.free_at = 0

    def cycle(self, t: int, offers: dict[str, tuple[int, int] | None]) -> str | None:
        """Which stream's word goes in this cycle."""
        while self.returning and self.returning[0][0] <= t:
            self.credits[self.returning.popleft()[1]] += 1
        if t < self.free_at:
            return None
        for name, word in offers.items():
            if word is not None and self.credits[name]:
                self.credits[name] -= 1
                self.flying.append((t + self.latency, name, word))
                self.free_at = t + self.pace
                return name
        return None

    def end(self, t: int, takes: dict[str, bool]) -> None:
        """The clock edge behind the cycle: heads are taken and filled, words arrive."""
        for name in WIDTHS:
            if self.memory[name] and (takes[name] or self.head[name] is None):
                self.head[name] = self.memory[name].popleft()
                self.returning.append((t + self.latency + 2, name))
            elif takes[name]:
                self.head[name] = None
        while self.flying and self.flying[0][0] <= t:
            _, name, word = self.flying.popleft()
            self.memory[name].append(word)


RATES = [
    (FULL, FULL),
    ({"maps": 0.6, "sums": 0.6, "state": 0.6}, {"maps": 0.3, "sums": 0.9, "state": 0.5}),
    ({"maps": 0.2, "sums": 0.3, "state": 0.9}, {"maps": 0.9, "sums": 0.9, "state": 0.1}),
]


@pytest.mark.sample(9)
@pytest.mark.parametrize("pace", [1, 4, 12])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize(("latency", "places"), [(3, 8), (1, 1), (6, 3)])
def test_every_cycle_is_the_goldens(pace: int, rates: Any, latency: int, places: int) -> None:
    trace = play(pace, *rates, cycles=200, latency=latency, places=places)
    golden = Golden(pace, latency, places)
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    for t in range(1, 200):
        offers = {
            name: (columns[f"s_axis_{name}_tdata"][t], columns[f"s_axis_{name}_tlast"][t])
            if columns[f"s_axis_{name}_tvalid"][t]
            else None
            for name in WIDTHS
        }
        for name in WIDTHS:
            head = golden.head[name]
            assert columns[f"m_axis_{name}_tvalid"][t] == (head is not None), (t, name)
            if head is not None:
                fields = (columns[f"m_axis_{name}_{each}"][t] for each in ("tdata", "tlast"))
                assert tuple(fields) == head
        goes = golden.cycle(t, offers)
        went = [n for n in WIDTHS if offers[n] and columns[f"s_axis_{n}_tready"][t]]
        assert went == ([] if goes is None else [goes]), t
        golden.end(t, {name: bool(columns[f"m_axis_{name}_tready"][t]) for name in WIDTHS})


@pytest.mark.parametrize("rates", RATES)
def test_words_are_counted_at_both_ends(rates: Any) -> None:
    trace = play(1, *rates)
    for name in WIDTHS:
        sent, arrived = passed(trace, "s", name), passed(trace, "m", name)
        assert [each[1:] for each in arrived] == [each[1:] for each in sent[: len(arrived)]]
        assert trace.column(f"sent_{name}")[-1] == len([t for t, *_ in sent if t < 299])
        assert trace.column(f"arrived_{name}")[-1] == len([t for t, *_ in arrived if t < 299])


@pytest.mark.parametrize("idle", WIDTHS)
def test_a_stream_that_nobody_takes_holds_up_no_other(idle: str) -> None:
    trace = play(1, dict.fromkeys(WIDTHS, 0.3), FULL | {idle: 0.0})
    assert len(passed(trace, "s", idle)) == 9  # all places, and one in the head's register
    for name in WIDTHS.keys() - {idle}:
        assert len(passed(trace, "m", name)) > 60


def test_the_first_stream_goes_first() -> None:
    trace = play(1, FULL, FULL, places=12)
    assert [len(passed(trace, "s", name)) for name in WIDTHS] == [298, 0, 0]


@pytest.mark.parametrize("pace", [1, 2, 12])
def test_a_word_in_as_many_cycles_as_told(pace: int) -> None:
    trace = play(pace, FULL, FULL, places=12)
    times = [t for t, *_ in passed(trace, "s", "maps")]
    assert {b - a for a, b in itertools.pairwise(times)} == {pace}
    assert passed(trace, "m", "maps")[0][0] == times[0] + 3 + 2


def test_places_for_the_way_there_and_back_let_a_word_pass_in_every_cycle() -> None:
    for places, whole in ((8, False), (9, True)):  # 2 * 3 + CREDIT_RETURN
        trace = play(1, FULL, FULL, names=("maps",), places=places)
        times = [t for t, *_ in passed(trace, "s", "maps")]
        assert (len(times) == times[-1] - times[0] + 1) == whole, places


def test_a_reset_leaves_nothing_behind() -> None:
    rates = [f"s_axis_{name}_{field}" for name in WIDTHS for field in ("tvalid", "tlast")]
    session = at_random(
        dict.fromkeys([*rates, *(f"m_axis_{name}_tready" for name in WIDTHS)], 0.6),
        {f"s_axis_{name}_tdata": width for name, width in WIDTHS.items()},
        {"pace": 2},
    )
    payload = {
        f"m_axis_{name}_tvalid": f"m_axis_{name}_tdata m_axis_{name}_tlast" for name in WIDTHS
    }
    bench_for().as_new_after_reset(session, range(3, 40, 3), 40, payload=payload)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize("built", [{}, {"latency": 1, "places": 1}, {"names": ("state",)}])
def test_link_vhdl(built: Any, replays: Replays) -> None:
    replays(play(2, *RATES[1], cycles=150, **built))
