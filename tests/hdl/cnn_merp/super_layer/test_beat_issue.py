"""Words of sums to beats: elements, places, the pause between positions, and reserved space."""

from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.beat_issue import beat_issue
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, Closing, Issue, ResultBeat
from merp.hdl.streams.head import Head
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

FORMAT = FloatFormat(3, 4)
PLACES = 3


@dataclass(frozen=True)
class Job:
    """A run: sizes, how often a word is there, a result leaves and a position closes a window."""

    images: int = 2
    rows: int = 2
    columns: int = 3
    groups: int = 2
    last_cus: int = 1
    window: int = 1
    offer: float = 1
    free: float = 1
    closing: float = 1
    late: tuple[int, int] = (0, 0)  # rows and columns behind the sums

    @property
    def positions(self) -> int:
        return self.images * self.rows * self.columns

    @property
    def walked(self) -> tuple[int, int]:
        return self.rows + self.late[0], self.columns + self.late[1]

    def config(self, far: bool) -> dict[str, int]:
        """Sizes of the walk, and of its part behind the sums."""
        names = ("images", "groups", "last_cus", "window")
        found = {f"config_{name}": getattr(self, name) for name in names}
        found |= dict(zip(("config_rows", "config_columns"), self.walked, strict=True))
        late = zip(("config_late_rows", "config_late_columns"), self.late, strict=True)
        return found | (dict(late) if far else {})

    def words(self, n_cu: int) -> list[list[int]]:
        """Lanes that count of every word, in order."""
        rng = np.random.default_rng(self.last_cus)
        sizes = ([n_cu] * (self.groups - 1) + [self.last_cus]) * self.positions
        return [rng.integers(1 << FORMAT.width, size=size).tolist() for size in sizes]


def design_for(n_cu: int, r: int, average: bool = False) -> EngineDesign:
    return EngineDesign(
        fmt=FORMAT, k=1, n_cu=n_cu, r=r, kernel_words=1, groups=3, row_words=1, max_size=8,
        max_maps=1, max_images=3, fifo_words=3, pool_window=3, pool_overlap=2, pool_words=64,
        average=average, add_latency=3,
    )  # fmt: skip


def bench_for(design: EngineDesign, permit: Any = None) -> BlockBench:
    return BlockBench(
        beat_issue, "clk rst start credit drained", config=OutputConfig(design),
        word=Head(design.n_cu * FORMAT.width), design=design, places=PLACES,
        issue=Issue(BeatStep(design), ResultBeat(design), Closing(), permit),
    )  # fmt: skip


def run(
    design: EngineDesign, jobs: list[Job], seed: int, cycles: int, permit: float | None = None
) -> tuple[Recorded, list[int]]:
    """Play the jobs back to back; the trace, and which positions closed a window.

    ``permit``: how often there is a place for a beat's state, where it is written.
    """
    rng = np.random.default_rng(seed)
    bench = bench_for(design) if permit is None else bench_for(design, permit=flag())
    queue = list(jobs)
    job: Job | None = None
    words: list[list[int]] = []
    used = position = 0
    closing: list[int] = []

    def open_position() -> dict[str, int]:
        assert job is not None
        closing.append(int(rng.random() < job.closing))
        return {
            "issue_closing_window": closing[-1],
            "issue_closing_last": int(position == job.images * prod(job.walked) - 1),
        }

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal job, words, used, position
        if cycle == 0:
            return {"rst": 1}
        values: dict[str, int] = {"rst": 0, "start": 0, "credit": 0}
        if permit is not None:
            values["issue_permit"] = int(rng.random() < permit)
        if job is None or (seen["drained"] and not seen["start"]):
            if not queue:
                return values | {"word_valid": 0}
            job = queue.pop(0)
            words, position = job.words(design.n_cu), 0
            config = job.config(design.far)
            return values | config | open_position() | {"start": 1, "word_valid": 0}
        used += seen["issue_step_issue"] and seen["issue_closing_window"]
        if used and rng.random() < job.free:
            used -= 1
            values["credit"] = 1
        if seen["issue_step_issue"] and seen["issue_step_ends_position"]:
            position += 1
            if position < job.images * prod(job.walked):
                values |= open_position()
        if seen["word_take"]:
            words.pop(0)
        elif seen["word_valid"]:
            return values
        if not words or rng.random() >= job.offer:
            return values | {"word_valid": 0}
        packed = 0
        noise = rng.integers(1 << FORMAT.width, size=design.n_cu - len(words[0])).tolist()
        for element in reversed(words[0] + noise):
            packed = packed << FORMAT.width | element
        return values | {"word_valid": 1, "word_word": packed}

    return bench.run(drive, cycles), closing


def check(design: EngineDesign, jobs: list[Job], trace: Recorded, closing: list[int]) -> list[int]:
    """Compare every beat; the cycles in which one was issued."""
    wanted = []
    closed = iter(closing)
    for job in jobs:
        words = iter(job.words(design.n_cu))
        high, wide = job.walked
        for image, row, column in product(range(job.images), range(high), range(wide)):
            closes = next(closed)
            late = row >= job.rows or column >= job.columns
            sizes = [design.n_cu] * (job.groups - 1) + [job.last_cus]
            lanes: list[list[Any]] = [
                [None] * size if late else next(words) for size in sizes
            ]  # what a beat without elements has is arbitrary
            beats = [w[i : i + design.r] for w in lanes for i in range(0, len(w), design.r)]
            for index, beat in enumerate(beats):
                ends = index == len(beats) - 1
                place = (
                    index,
                    int(ends),
                    int(column == wide - 1),
                    int(row == high - 1),
                    int(image == job.images - 1),
                )
                wanted.append((beat, place, len(beat) * closes))
    fields = ("beat", "ends_position", "last_column", "last_row", "last_image")
    names = [port.name for port in trace.ports]
    step = [names.index(f"issue_step_{name}") for name in fields]
    issue, data, results, last, final = (
        names.index(name)
        for name in (
            "issue_step_issue",
            "issue_beat_data",
            "issue_beat_results",
            "issue_beat_last",
            "issue_closing_last",
        )
    )
    cycles = [cycle for cycle, row in enumerate(trace.rows) if row[issue]]
    assert len(cycles) == len(wanted), f"{len(cycles)} of {len(wanted)} beats"
    for cycle, (beat, place, count) in zip(cycles, wanted, strict=True):
        now, after = trace.rows[cycle], trace.rows[cycle + 1]
        assert tuple(now[index] for index in step) == place
        elements = [after[data] >> i * FORMAT.width & 0xFF for i in range(len(beat))]
        if None in beat:
            assert after[names.index("issue_beat_late")] == 1
        else:
            assert elements == beat
            assert not design.far or after[names.index("issue_beat_late")] == 0
        assert after[results] == count
        if count:
            assert after[last] == (now[final] and place[1])
    assert sum(1 for row in trace.rows if row[results]) == sum(1 for w in wanted if w[2])
    used = 0
    for row in trace.rows:
        assert used <= PLACES
        used += row[issue] and row[names.index("issue_closing_window")]
        used -= row[names.index("credit")]
    drained = trace.column("drained")
    assert drained[cycles[-1] + 1 :] == [1] * (len(drained) - cycles[-1] - 1)
    return cycles


@pytest.mark.parametrize(("n_cu", "r"), [(1, 1), (3, 1), (4, 2), (5, 2), (3, 3)])
@pytest.mark.parametrize("average", [False, True])
def test_beats_match(n_cu: int, r: int, average: bool) -> None:
    design = design_for(n_cu, r, average)
    rng = np.random.default_rng([n_cu, r])
    jobs = [
        Job(
            images=int(rng.integers(1, 4)),
            rows=int(rng.integers(1, 3)),
            columns=int(rng.integers(1, 4)),
            groups=int(rng.integers(1, 4)),
            last_cus=int(rng.integers(1, n_cu + 1)),
            window=int(rng.integers(1, 4)),
            offer=offer,
            free=free,
            closing=closing,
        )
        for offer, free, closing in ((1, 1, 1), (0.4, 1, 0.5), (1, 0.4, 0.6), (0.6, 0.6, 0.5))
    ]
    trace, closing = run(design, jobs, 7, 2500)
    cycles = check(design, jobs, trace, closing)
    windows = trace.column("config_window")
    beats = trace.column("issue_step_beat")
    last_use: dict[int, int] = {}
    for cycle in cycles:
        if windows[cycle] != 1 and beats[cycle] in last_use:
            assert cycle - last_use[beats[cycle]] >= design.pool_latency
        last_use[beats[cycle]] = cycle


@pytest.mark.parametrize(("n_cu", "r"), [(3, 1), (5, 2), (3, 3)])
def test_beats_wait_for_a_permit(n_cu: int, r: int) -> None:
    """Where the state is written: with each beat, how many elements it has, and the run's end."""
    design = replace(design_for(n_cu, r), state=True)
    jobs = [
        Job(groups=groups, last_cus=last, window=window, offer=offer)
        for groups, last, window, offer in ((2, 1, 2, 1.0), (3, n_cu, 1, 0.7), (1, 1, 3, 1.0))
    ]
    trace, closing = run(design, jobs, 5, 600, permit=0.5)
    cycles = check(design, jobs, trace, closing)
    permit, elements = trace.column("issue_permit"), trace.column("issue_beat_elements")
    ends, starts = trace.column("issue_beat_ends_run"), trace.column("start")
    assert all(permit[cycle] for cycle in cycles)
    begun = [word for job in jobs for word in job.words(n_cu)]
    sizes = [min(r, len(word) - at) for word in begun for at in range(0, len(word), r)]
    assert [elements[cycle + 1] for cycle in cycles] == sizes
    assert sum(elements) == sum(sizes)
    untils = [*(cycle for cycle, start in enumerate(starts) if start), len(starts)][1:]
    last = [max(cycle for cycle in cycles if cycle < until) for until in untils]
    assert [cycle for cycle in cycles if ends[cycle + 1]] == last


@pytest.mark.parametrize(("n_cu", "r"), [(3, 1), (4, 2), (3, 3)])
@pytest.mark.parametrize("written", [False, True])
def test_beats_behind_the_sums(n_cu: int, r: int, written: bool) -> None:
    """They take no word, wait for no word, have no elements, and do not end the run's masks."""
    design = replace(
        design_for(n_cu, r, average=not written), hanging=True, far=True, state=written,
        pool_overlap=3,
    )  # fmt: skip
    jobs = [
        Job(late=late, groups=groups, last_cus=last, window=2, offer=offer, free=free, closing=0.6)
        for late, groups, last, offer, free in (
            ((1, 0), 2, 1, 1.0, 1.0), ((0, 1), 1, n_cu, 0.3, 1.0), ((2, 2), 3, 1, 0.6, 0.5),
            ((0, 0), 1, 1, 1.0, 0.5), ((1, 2), 1, 1, 1.0, 1.0),
        )
    ]  # fmt: skip
    jobs.append(Job(rows=1, columns=1, late=(2, 1), window=3, groups=2))
    trace, closing = run(design, jobs, 5, 4500, permit=0.7 if written else None)
    cycles = check(design, jobs, trace, closing)
    taken = sum(trace.column("word_take"))
    assert taken == sum(len(job.words(n_cu)) for job in jobs)
    if written:
        elements = trace.column("issue_beat_elements")
        assert sum(elements) == sum(len(word) for job in jobs for word in job.words(n_cu))
        late = trace.column("issue_step_late")
        ends, starts = trace.column("issue_beat_ends_run"), trace.column("start")
        begins = [cycle for cycle, start in enumerate(starts) if start]
        for begin, end in pairwise([*begins, len(starts)]):
            whole = [cycle for cycle in cycles if begin < cycle < end and not late[cycle]]
            assert [cycle for cycle in whole if ends[cycle + 1]] == [whole[-1]]


def test_a_reset_behind_the_sums_leaves_nothing_to_issue() -> None:
    """The walk stays where it is; without a run, it gives no beats."""
    design = replace(design_for(2, 1), hanging=True, far=True, pool_overlap=3)
    job = Job(images=1, rows=1, columns=1, groups=1, last_cus=2, window=3, late=(0, 2))
    config = job.config(far=True) | {"issue_closing_window": 0}

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        # One word: the beats after it have no elements.
        word = {"word_valid": int(cycle == 4), "word_word": 0}
        return config | word | {"rst": int(cycle in (0, 8)), "start": int(cycle == 2)}

    issue = bench_for(design).run(drive, 30).column("issue_step_issue")
    assert sum(issue[:9]) > 2
    assert not any(issue[9:])


@pytest.mark.parametrize(("n_cu", "r", "groups", "last_cus"), [
    (1, 1, 1, 1), (2, 2, 3, 2), (4, 1, 2, 3), (5, 2, 2, 1), (8, 1, 1, 7),
])  # fmt: skip
@pytest.mark.parametrize("window", [1, 2])
def test_no_cycle_is_lost(n_cu: int, r: int, groups: int, last_cus: int, window: int) -> None:
    """With sums waiting, positions follow each other as closely as the memories allow."""
    design = design_for(n_cu, r, average=True)
    job = Job(groups=groups, last_cus=last_cus, window=window, closing=0)
    trace, closing = run(design, [job], 1, 300)
    cycles = check(design, [job], trace, closing)
    beats = (groups - 1) * -(-n_cu // r) + -(-last_cus // r)
    period = beats if window == 1 else max(beats, design.pool_latency)
    assert cycles[-1] - cycles[0] + 1 == (job.positions - 1) * period + beats


def test_beats_wait_for_a_place() -> None:
    design = design_for(4, 1)
    job = Job(images=1, rows=1, groups=1, last_cus=4, free=0.1)
    trace, closing = run(design, [job], 1, 300)
    cycles = check(design, [job], trace, closing)
    assert cycles[:PLACES] == [cycles[0] + i for i in range(PLACES)]
    assert cycles[PLACES] > cycles[0] + PLACES


@pytest.mark.parametrize("reset_at", range(6, 12))
def test_reset_drops_the_word_and_frees_the_places(reset_at: int) -> None:
    design = design_for(4, 1, average=True)
    bench = bench_for(design)
    bench.args["issue"].closing.window = flag(1)
    config = {"images": 1, "rows": 1, "columns": 1, "groups": 1, "last_cus": 1, "window": 2}

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        if cycle == 0:
            return {f"config_{name}": value for name, value in config.items()}
        return {
            "rst": int(cycle in (1, reset_at)),
            "start": int(cycle in (2, reset_at + 1)),
            "config_last_cus": 4 if cycle < reset_at else 2,
            "word_valid": int(3 <= cycle < 6 or cycle == reset_at + 2),
        }

    trace = bench.run(drive, reset_at + 10)
    issue = trace.column("issue_step_issue")
    assert issue[reset_at + 1 :] == [0, 0, 1, 1, 0, 0, 0, 0, 0]
    assert trace.column("issue_beat_results")[reset_at + 1] == 0
    assert trace.column("drained")[reset_at + 1 : reset_at + 6] == [0, 0, 0, 0, 1]


def test_after_a_reset_it_is_as_new() -> None:
    """Broken off with beats left, without a place for results, and in the pause of a position."""
    bench = bench_for(replace(design_for(3, 1, average=True), add_latency=5))
    sizes = {"images": 1, "rows": 2, "columns": 2, "groups": 2, "last_cus": 1, "window": 2}
    config = {name: 0 for name in (f"config_{each}" for each in vars(bench.args["config"]))}
    config |= {f"config_{name}": size for name, size in sizes.items()}
    flags = {"word_valid": 1.0, "issue_closing_window": (0.6, 0.2), "issue_closing_last": 0.5}
    session = at_random(flags, {"word_word": len(bench.args["word"].word)}, config)
    step = [f"issue_step_{name}" for name in vars(bench.args["issue"].step) if name != "issue"]
    beat = "issue_beat_data issue_beat_last"
    payload = {"issue_step_issue": " ".join(step), "issue_beat_results": beat}
    bench.as_new_after_reset(session, range(1, 50, 3), 40, payload=payload)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("n_cu", "r"), [(3, 1), (5, 2)])
def test_vhdl_replays(n_cu: int, r: int, replays: Replays) -> None:
    design = design_for(n_cu, r, average=True)
    jobs = [
        Job(window=2, last_cus=1, offer=0.7, free=0.5, closing=0.5),
        Job(images=1, rows=1, groups=3, last_cus=n_cu, free=0.3),
    ]
    trace, closing = run(design, jobs, 3, 400)
    check(design, jobs, trace, closing)
    replays(trace, lint=True)
