"""Partial sums on their way to the CUs: places, order, flow control and framing, by the page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Sample, at_random
from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.cu_array.partial_loader import partial_loader
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, OriginWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialIntake
from merp.hdl.cnn_merp.ports.slots import OriginSlot
from merp.models.machines.cnn_merp.params.design import EngineDesign


@dataclass(frozen=True)
class Run:
    """Positions of so many maps, with partial sums or without.

    misplaced: beats by which ``last`` is early. broken: it is reset after so many beats.
    """

    images: int
    rows: int
    columns: int
    maps: int
    wanted: int = 1
    misplaced: int = 0
    broken: int | None = None

    @property
    def sums(self) -> list[int]:
        size = self.images * self.rows * self.columns * self.maps
        return np.random.default_rng(size).integers(1 << 28, size=size).tolist()

    def beats(self, lanes: int) -> list[list[int]]:
        return [self.sums[at : at + lanes] for at in range(0, len(self.sums), lanes)]


def design_for(n_cu: int, lanes: int, p: int) -> EngineDesign:
    return EngineDesign(
        k=1, n_cu=n_cu, r=1, p=p, kernel_words=8, groups=3, row_words=8, max_size=8, max_maps=2,
        max_images=4, fifo_words=4, partial=True, map_port=lanes, cu_kind="fused",
        accumulator_precision=26,
    )  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        partial_loader, "clk rst start", intake=PartialIntake(*(flag() for _ in range(4))),
        config=MapConfig(design), sink=Stream(design.map_port * design.partial_width),
        bias=BiasWrite(design), slot=OriginSlot(design), origin=OriginWrite(design), design=design,
    )  # fmt: skip


def play(
    design: EngineDesign, runs: Sequence[Run], offer: float, read: float, cycles: int
) -> Recorded:  # fmt: skip
    rng = np.random.default_rng([design.n_cu, design.map_port])
    lanes, width = design.map_port, design.partial_width
    queue = list(runs)
    run, beats = Run(1, 1, 1, 1, 0), list[list[int]]()
    biases = list[tuple[int, int]]()
    taken = there = reads = rest = 0

    def begin() -> dict[str, int]:
        nonlocal run, beats, biases, taken, there, reads, rest
        run = queue.pop(0)
        beats, taken, there, reads, rest = run.beats(lanes), 0, 0, 0, 12
        groups = -(-run.maps // design.n_cu)
        biases = list(product(range(groups), range(design.n_cu)))
        config = {
            "images": run.images, "out_rows": run.rows, "out_columns": run.columns,
            "groups": groups, "last_cus": run.maps - (groups - 1) * design.n_cu,
        }  # fmt: skip
        values = {f"config_{name}": value for name, value in config.items()}
        return values | {"start": 1, "intake_wanted": run.wanted}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal taken, there, reads, rest
        if cycle == 0:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "intake_enable": 0, "bias_enable": 0, "slot_valid": 0}
        if cycle == 1:
            return values | begin()
        offered = bool(seen["sink_valid"])
        if offered and seen["sink_ready"]:
            taken += 1
            offered = False
        there += seen["intake_filled"]
        if seen["rst"] and cycle > 1:
            return values | begin()
        if run.broken is not None and taken >= run.broken:  # and begun anew, whole
            queue.insert(0, replace(run, broken=None))
            return values | {"sink_valid": 0, "rst": 1}
        words = run.images * run.rows * run.columns * -(-run.maps // design.n_cu) * run.wanted
        over = reads == words and taken == len(beats) * run.wanted
        if over and not biases:
            rest -= 1
            if rest == 0 and queue:
                return values | {"sink_valid": 0} | begin()
        if biases:
            group, cu = biases.pop(0)
            values |= {"bias_enable": 1 << cu, "bias_addr": group}
            values["bias_data"] = int(rng.integers(1 << 32))
        else:
            values["intake_enable"] = int(rng.random() < 0.9)
        # Slots that do not begin a sum read none, nor do any in a run without partial sums.
        first = int(rng.random() < 0.7)
        may = reads < there or not first or not run.wanted
        values |= {"slot_valid": int(may and rng.random() < read), "slot_first": first}
        reads += values["slot_valid"] and first and run.wanted
        if not offered:
            offered = rng.random() < offer
            beat = beats[taken] if taken < len(beats) else []
            filling = rng.integers(1 << 28, size=lanes - len(beat)).tolist()
            values["sink_data"] = sum(
                word << lane * width for lane, word in enumerate([*beat, *filling])
            )
            values["sink_last"] = int(taken == len(beats) - 1 - run.misplaced)
        return values | {"sink_valid": int(offered)}

    return bench_for(design).run(drive, cycles)


def words_of(run: Run, design: EngineDesign) -> list[tuple[int, int, list[int]]]:
    """Of each word of a run: its address, the CUs in use, and their partial sums."""
    sums, n_cu = iter(run.sums), design.n_cu
    found = []
    for position in range(run.images * run.rows * run.columns):
        for group, at in enumerate(range(0, run.maps, n_cu)):
            used = min(n_cu, run.maps - at)
            addr = position % (2 * design.p) * design.groups + group
            found.append((addr, used, [next(sums) for _ in range(used)]))
    return found


def check(design: EngineDesign, runs: Sequence[Run], trace: Recorded) -> None:
    lanes, width = design.map_port, design.origin_format.width
    seen = {port.name: trace.column(port.name) for port in trace.ports}
    starts = [cycle for cycle, start in enumerate(seen["start"]) if start]
    whole = [
        each
        for run in runs
        for each in ([run] if run.broken is None else [run, replace(run, broken=None)])
    ]
    assert len(starts) == len(whole)
    ends = [*starts[1:], len(trace.rows)]
    for run, begin, end in zip(whole, starts, ends, strict=True):
        if run.broken is not None:
            continue
        words = words_of(run, design) if run.wanted else []
        cycles = range(begin + 1, end)
        # A bias is written a cycle later, with zeros behind its fraction; a partial sum as it is.
        memory: dict[tuple[int, int], int] = {}
        written = iter([(addr, used, data) for addr, used, data in words])
        fills = [c for c in cycles if seen["intake_filled"][c]]
        assert len(fills) == len(words), run
        late = design.cu_latency
        firsts = [
            c
            for c in cycles
            if run.wanted and seen["slot_valid"][c] and seen["slot_first"][c]
        ]  # fmt: skip
        places = 2 * design.p * -(-run.maps // design.n_cu)
        taken = 0
        for c in cycles:
            enable, addr, data = (seen[f"origin_{n}"][c] for n in ("enable", "addr", "data"))
            bias = seen["bias_enable"][c - 1] if c - 1 > begin else 0
            if enable:
                assert (enable == bias) == bool(bias), c
            else:
                assert not bias, c
            if bias:
                assert addr == seen["bias_addr"][c - 1]
            for cu in range(design.n_cu):
                if enable >> cu & 1:
                    word = data >> cu % lanes * width & (1 << width) - 1
                    memory[addr, cu] = word
                    if bias:
                        assert word == seen["bias_data"][c - 1] << (width - 32)
            if seen["intake_filled"][c]:
                at, used, sums = next(written)
                assert [memory[at, cu] for cu in range(used)] == sums, (run, c)
                taken += 1
            # A word that is there has a place that was read, cu_latency cycles ago.
            assert taken - sum(first < c - late - 1 for first in firsts) <= places, c
        accepts = [c for c in cycles if seen["sink_valid"][c] and seen["sink_ready"][c]]
        assert all(seen["intake_enable"][c] for c in accepts)
        assert len(accepts) == len(run.beats(lanes)) * run.wanted
        errors = [seen["intake_framing_error"][c] for c in cycles]
        assert errors[-1] == (run.misplaced != 0 and run.wanted), run
        assert errors == sorted(errors)
        assert errors[0] == 0
        if lanes == 1:
            check_ready(design, run, seen, begin, firsts, places, end)


def check_ready(
    design: EngineDesign, run: Run, seen: dict[str, list[int]], begin: int, firsts: list[int],
    places: int, end: int,
) -> None:  # fmt: skip
    """In every cycle a partial sum is taken if its word has a place, or not if it has none."""
    total, taken, done = len(run.sums) * run.wanted, 0, 0
    for c in range(begin + 1, end):
        free = places - done + sum(first < c - design.cu_latency for first in firsts)
        ready = seen["intake_enable"][c] and taken < total and free > 0
        assert seen["sink_ready"][c] == ready, c
        if ready and seen["sink_valid"][c]:
            taken += 1
            at = taken % run.maps
            done += at == 0 or at % design.n_cu == 0
            assert seen["intake_filled"][c + 1] == (at == 0 or at % design.n_cu == 0)


RUNS = (
    Run(2, 2, 3, 7),
    Run(1, 1, 2, 3, wanted=0),
    Run(1, 3, 1, 5, misplaced=1),
    Run(2, 1, 2, 1, broken=1),
    Run(1, 2, 2, 8, broken=6),
    Run(1, 1, 5, 4, misplaced=1),
    Run(3, 1, 1, 2),
)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(("n_cu", "lanes"), [(3, 1), (4, 1), (3, 2), (5, 2), (3, 4), (4, 4)])
def test_each_partial_sum_goes_to_its_unit_and_waits_for_its_place(
    n_cu: int, lanes: int, p: int
) -> None:
    design = design_for(n_cu, lanes, p)
    pace = {1: (0.8, 0.5), 2: (1.0, 0.9)}[p]
    check(design, RUNS, play(design, RUNS, *pace, 900 // lanes + 300))


@pytest.mark.parametrize("lanes", [1, 2])
def test_after_a_reset_it_is_as_new(lanes: int) -> None:
    """Partial sums that come behind it, with or without an error before, wait for the start."""
    design = design_for(3, lanes, 1)
    values = {"images": 2, "out_rows": 2, "out_columns": 3, "groups": 2, "last_cus": 2}
    fixed = {f"config_{name}": value for name, value in values.items()} | {"intake_wanted": 1}
    rates = {
        "intake_enable": 0.9, "sink_valid": 0.8, "sink_last": 0.4, "slot_valid": 0.5,
        "slot_first": 0.5,
    }  # fmt: skip
    pulses = {"rst": 0, "start": (1, 6)}
    session = at_random(rates, {"sink_data": 28 * lanes}, fixed, begin=1, pulses=pulses)
    # A word that came in the very cycle of the reset is still written.
    late = {"origin_enable": 2}
    payload = {"origin_enable": "origin_addr origin_data"}
    bench_for(design).as_new_after_reset(session, range(2, 30, 3), 40, payload=payload, late=late)
