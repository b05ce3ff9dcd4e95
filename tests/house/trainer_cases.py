"""Passes of the MAC array's top, each held against exact sums, golden model and formulas."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.params.array_counters import ARRAY_COUNTERS
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign, over
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.slot_watch import SlotWatch, watched
from merp.testbenches.mac_array.supply_bench import SuppliedPass, make_layer, slots
from merp.testbenches.mac_array.trainer_bench import (
    KINDS,
    MAPS,
    derivatives,
    expanded,
    kinds_of,
    maps_of,
    owned,
    results,
    run_of,
    saturations,
    trainer_top,
    unpooled,
    updates,
)
from merp.testbenches.mac_array.words import clipped, number
from merp.testbenches.top.run import Outcome

LIMIT = 3000
PORTS = ("s_axis_map", "s_axis_kernel", "s_axis_delta", MAPS, "s_axis_gradient")
"""Those that every design has and most passes use."""

PARTS = [f"status_{each.name}" for each in ARRAY_COUNTERS if each.part]


class Case(NamedTuple):
    """A pass, the passes whose masks and places of maxima it reads, and what is done to it."""

    layer: SuppliedPass
    masks: SuppliedPass | None = None
    places: SuppliedPass | None = None
    stalls: dict[str, Sequence[int]] | None = None
    reset_at: int | None = None

    @property
    def computed(self) -> SuppliedPass:
        """The pass that the slots are of: with deltas of the sums in place of pooled ones."""
        if self.places is None or self.layer.work.phase == "upsample":
            return self.layer
        return expanded(self.layer, self.places)

    @property
    def slotted(self) -> SuppliedPass:
        """The same, with what the registers say of it."""
        return replace(self.computed, work=self.layer.work)


def design_of(pox: int = 4, poy: int = 4, pof: int = 4, **choices: Any) -> ArrayDesign:
    """A small array that takes every layer of the tests."""
    given = {"kernel_words": 512, "map_words": 1024, "max_stride": 4, "index_words": 512}
    return small_design(pox, poy, pof, **given | {"pool_window": 2, "mask_words": 2048} | choices)


def play(design: ArrayDesign, cases: Sequence[Case], engine: str, array: str) -> list[RunRecord]:
    """Run passes back to back; in MyHDL every slot is watched."""
    runs = [run_of(case.layer, design, case.stalls, case.reset_at) for case in cases]
    top = trainer_top(design, array)
    if engine != "myhdl":
        return run_job(Job(top, runs, limit=LIMIT), engine)
    watch = SlotWatch([case.slotted for case in cases], design)
    records = run_job(Job(watched(top, watch), runs, limit=LIMIT), engine)
    watch.finish()
    return records


def check(
    design: ArrayDesign, *cases: Case, engine: str = "myhdl", array: str = "behavioural"
) -> list[RunRecord]:
    """Run passes and see that words, counts, and cycles where nothing waits are right."""
    records = play(design, cases, engine, array)
    for case, record in zip(cases, records, strict=True):
        layer, outcome = case.computed, record.outcome
        assert not outcome.faults
        if layer.work.phase == "ku":
            check_parameters(outcome, layer, design)
        elif case.places is not None and layer.work.phase == "upsample":
            wanted = unpooled(layer, case.places)
            assert np.array_equal(maps_of(outcome.words[MAPS], layer, design, wanted), wanted)
        else:
            wanted = results(layer, None if case.masks is None else passing(case.masks))
            words, shown = outcome.words[MAPS], layer
            if layer.work.loss is not None:
                check_deltas(outcome, layer, design)
                words = words[: len(words) // 2]
                shown = replace(layer, work=replace(layer.work, loss=None))
            got = maps_of(words, shown, design, wanted)
            assert np.array_equal(got, wanted), layer.work
            assert outcome.status["status_saturated"] == saturations(layer)
        check_status(outcome, case.slotted, design)
        if case.stalls is None:
            work, first = case.layer.work, design.kernel_first
            flow = asdict(array_cycles(work, design, kernel_first=first))
            assert {name: outcome.status[f"status_{name}"] for name in flow} == flow
    return records


def passing(layer: SuppliedPass) -> Any:
    """The outputs of FP behind which ReLU lets deltas pass."""
    maps = results(layer)
    return (maps > 0) & (maps < layer.work.limit)


def check_deltas(outcome: Outcome, layer: SuppliedPass, design: ArrayDesign) -> None:
    """Behind the outputs come the deltas of the loss, a class an atom."""
    exact = derivatives(layer)
    atoms = np.array(outcome.words[MAPS], np.int64).reshape(-1, design.pox)
    assert len(atoms) == 2 * len(exact)
    assert [number(word) for word in atoms[len(exact) :, 0].tolist()] == [*map(clipped, exact)]
    beyond = sum(each != clipped(each) for each in exact)
    assert outcome.status["status_saturated_loss"] == beyond


def check_parameters(outcome: Outcome, layer: SuppliedPass, design: ArrayDesign) -> None:
    """Gradients, or in the last image kernels and velocities, of lanes that have an output map."""
    wanted, clips = updates(layer, design)
    own = owned(layer, design)
    for kind in kinds_of(design):
        words = np.array(outcome.words[f"m_axis_{kind}"], np.int64).reshape(-1, design.pof)
        if kind not in wanted:
            assert not len(words)
            continue
        got = words - ((words >> WORD_BITS - 1 & 1) << WORD_BITS)
        assert np.array_equal(got[own], wanted[kind][own]), (layer.work, kind)
    assert {kind: outcome.status[f"status_saturated_{kind}"] for kind in KINDS} == clips


def words_moved(work: ArrayPass, design: ArrayDesign) -> dict[str, int]:
    """Words on every port, section 2.3 of the specification."""
    x = work.inputs * work.rows * design.column_blocks(work.columns) * design.pox
    g = work.pool if work.fused else 1
    d = work.outputs * (work.out_rows // g) * design.column_blocks(work.out_columns // g)
    d *= design.pox
    pooled = design.column_blocks(work.out_columns // g) * design.pox
    b = design.map_tiles(work.outputs) * design.pof
    w = b * work.inputs * work.taps
    if work.phase == "fp":
        moved = {"s_axis_map": x, "s_axis_kernel": w + b, "s_axis_target": work.loss is not None}
        atoms = work.outputs * (work.out_rows // g) * pooled
        return moved | {"m_axis_map": atoms if work.loss is None else 2 * atoms}
    if work.phase == "dp":
        return {"s_axis_map": d, "s_axis_kernel": w, "m_axis_map": x}
    if work.phase == "upsample":
        rows = work.outputs * work.pooled_rows
        atoms = min(design.column_blocks(work.out_columns), g * pooled // design.pox)
        return {"s_axis_map": rows * pooled, "m_axis_map": rows * g * atoms * design.pox}
    step, velocity = (w + b) * work.last, (w + b) * work.last * work.has_momentum
    return {
        "s_axis_map": x, "s_axis_delta": d, "s_axis_kernel": step, "m_axis_kernel": step,
        "s_axis_gradient": (w + b) * (not work.first), "s_axis_velocity": velocity,
        "m_axis_gradient": (w + b) * (not work.last), "m_axis_velocity": velocity,
    }  # fmt: skip


def check_status(outcome: Outcome, layer: SuppliedPass, design: ArrayDesign) -> None:
    """Words by formula and by the bench, slots and products by definition, every cycle's cause."""
    status, moved = outcome.status, words_moved(layer.work, design)
    for port, words in outcome.transfers.items():
        side, _, name = port.split("_")
        counter = f"status_{name}_{'in' if side == 's' else 'out'}"
        if counter in status:
            assert status[counter] == words == moved.get(port, 0), port
        else:
            assert not words
    expected = list(slots(layer, design))
    assert status["status_issue"] == len(expected) == formula(layer, design)
    assert status["status_useful"] == sum(e.pixels.size * e.weights.size for e in expected)
    assert status["status_total"] == sum(status[name] for name in PARTS)
    assert not status["status_framing_error"]
    assert not status["status_busy"]


def formula(layer: SuppliedPass, design: ArrayDesign) -> int:
    """Slots of a pass, section 2.1 of the specification."""
    work = layer.work
    if work.phase == "upsample":
        return 0
    if work.phase == "ku":
        groups = over(work.inputs, design.regions(work.kernel))
        sweeps = over(work.outputs, design.pof) * groups * design.tap_tiles(work.kernel)
        return sweeps * work.delta_rows * work.delta_columns
    if work.phase == "dp":
        rows, columns = (over(size, work.stride) for size in (work.rows, work.columns))
        sides = over(rows, design.poy) * over(columns, design.pox)
        return work.outputs * work.taps * sides * over(work.inputs, design.pof)
    sides = over(work.out_rows, design.poy) * over(work.out_columns, design.pox)
    return work.inputs * work.taps * sides * over(work.outputs, design.pof)


def stalled(seed: int, ports: Sequence[str] = PORTS) -> dict[str, Sequence[int]]:
    """Patterns by which ports wait."""
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.2, 0.5, 0.9], len(ports))
    return {
        name: (*(int(b) for b in rng.random(31) < rate), 1)
        for name, rate in zip(ports, rates, strict=True)
    }


def fp(seed: int = 1, **sizes: Any) -> SuppliedPass:
    """A pass of forward propagation."""
    return make_layer(seed, **{"phase": "fp", "shift": 17, "bias_shift": 9} | sizes)


def dp(seed: int = 1, **sizes: Any) -> SuppliedPass:
    """A pass of delta propagation."""
    return make_layer(seed, **{"phase": "dp", "shift": 17} | sizes)


def ku(number: int, /, **sizes: Any) -> SuppliedPass:
    """A pass of the kernel update."""
    rule = {"velocity_shift": 2, "update_shift": 20, "rate": 40000, "momentum": 58982}
    return make_layer(number, **{"phase": "ku", "shift": 16, "bias_shift": 2} | rule | sizes)
