"""Passes of the whole array: words of exact sums, and every word and cycle accounted for."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trainer_cases import Case, check, design_of, dp, fp, ku, stalled

from marks import few, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.testbenches.mac_array.supply_bench import SuppliedPass, make_layer
from merp.testbenches.mac_array.trainer_bench import (
    MAPS,
    registers,
    run_of,
    trainer_top,
)
from merp.testbenches.top.run import Outcome

FRONT = fp(1, inputs=3, outputs=6, rows=9, columns=10, kernel=3, pad=1)
BACK = dp(2, inputs=6, outputs=5, rows=9, columns=10, kernel=3, pad=1)
POOLED = fp(3, inputs=2, outputs=5, rows=9, columns=11, kernel=3, pad=1, pool=2)
BEHIND_POOLING = dp(4, inputs=5, outputs=3, rows=4, columns=5, kernel=2)


def test_fp_and_dp_give_the_words_of_exact_sums() -> None:
    classifier = fp(5, inputs=5, outputs=10, rows=4, columns=4, kernel=4, relu=False)
    strided = fp(6, inputs=2, outputs=4, rows=11, columns=9, kernel=3, stride=2, pad=1)
    bare = dp(7, inputs=3, outputs=4, rows=5, columns=5, kernel=3, pad=1, relu=False)
    check(
        design_of(),
        Case(FRONT), Case(BACK, masks=FRONT), Case(POOLED), Case(BEHIND_POOLING, masks=POOLED),
        Case(classifier), Case(strided), Case(bare),
    )  # fmt: skip


STRIDED = {
    "2": (fp(31, inputs=2, outputs=5, rows=9, columns=11, kernel=1),
          dp(32, inputs=5, outputs=3, rows=9, columns=11, kernel=3, stride=2, pad=1)),
    "2, empty tiles": (fp(33, inputs=2, outputs=3, rows=9, columns=17, kernel=1),
                       dp(34, inputs=3, outputs=2, rows=9, columns=17, kernel=3, stride=2)),
    "4": (fp(35, inputs=2, outputs=2, rows=19, columns=18, kernel=1),
          dp(36, inputs=2, outputs=3, rows=19, columns=18, kernel=5, stride=4, pad=2)),
    "4, windows begin behind": (
        fp(37, inputs=2, outputs=5, rows=10, columns=7, kernel=1),
        dp(38, inputs=5, outputs=3, rows=10, columns=7, kernel=4, stride=4, pad=3),
    ),
    "4, phases without a row": (
        fp(39, inputs=2, outputs=2, rows=2, columns=3, kernel=1),
        dp(40, inputs=2, outputs=2, rows=2, columns=3, kernel=4, stride=4, pad=1),
    ),
}  # fmt: skip
"""FP of the layer in front, whose masks are laid over the deltas, and DP."""


@pytest.mark.full
@pytest.mark.parametrize("name", few(STRIDED, next(iter(STRIDED))))
def test_deltas_of_a_strided_layer_leave_phase_by_phase(name: str) -> None:
    front, back = STRIDED[name]
    slow = Case(back, masks=front, stalls=stalled(len(name)))
    check(design_of(), Case(front), slow, Case(back, masks=front))


def classifier(number: int, **sizes: Any) -> SuppliedPass:
    """A layer with a loss; each output a word of a class."""
    shape = {"inputs": 5, "outputs": 10, "rows": 4, "columns": 4, "kernel": 4, "relu": False}
    loss = {"loss": "hinge", "one_shift": 10, "loss_shift": -1, "shift": 20}
    return fp(number, **shape | loss | sizes)


LOSSES = {
    "hinge": classifier(17),
    "squared": classifier(18, loss="squared", loss_shift=2),
    "a single class": classifier(19, inputs=1, outputs=1, rows=1, columns=1, kernel=1),
    "fewer than lanes": classifier(20, outputs=3, loss_shift=15, one_shift=15),
    "deltas overtake nothing": classifier(21, inputs=1, outputs=32, rows=1, columns=1, kernel=1),
}


def test_deltas_of_the_loss_follow_the_outputs() -> None:
    design = design_of(loss=True)
    plain = fp(5, inputs=5, outputs=10, rows=4, columns=4, kernel=4, relu=False)
    cases = [Case(layer) for layer in LOSSES.values()]
    late = {"s_axis_target": (*[0] * 90, 1), MAPS: (1, 0, 0, 1)}
    check(design, *cases, Case(plain), *(case._replace(stalls=late) for case in cases[:2]))


@pytest.mark.full
def test_a_target_waits_for_the_pass_of_its_loss() -> None:
    """A host may give it before: a pass without a loss leaves it on the port."""
    design, layer = design_of(loss=True), fp(5, inputs=5, outputs=6, rows=4, columns=4, kernel=4)
    run = run_of(layer, design)
    early = replace(run, words=run.words | {"s_axis_target": np.array([3], np.uint64)})
    (record,) = run_job(Job(trainer_top(design, "behavioural"), [early]), "myhdl")
    assert record.outcome.transfers["s_axis_target"] == 0
    assert record.outcome.status["status_target_in"] == 0


@pytest.mark.full
def test_a_loss_that_was_reset_begins_anew() -> None:
    layer = LOSSES["hinge"]
    cases = [Case(layer, reset_at=at) for at in (60, 265, 275)]
    records = check(design_of(loss=True), *cases, Case(LOSSES["squared"]))
    assert [record.outcome.resets for record in records] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("layer", "loss", "message"),
    [
        (classifier(1), False, "loss hinge: the design has no loss unit"),
        (classifier(1, rows=5), True, "loss hinge: allowed only in fp of a layer whose sums are"),
        (
            dp(1, inputs=2, outputs=2, rows=1, columns=1, kernel=1, loss="squared"),
            True,
            "loss squared: allowed only in fp of a layer whose sums are",
        ),
    ],
)
def test_what_has_no_loss_is_refused(layer: SuppliedPass, loss: bool, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        registers(layer.work, design_of(loss=loss))


STEP = {"momentum": True, "stochastic": True}
SIZES = {"inputs": 3, "outputs": 6, "rows": 6, "columns": 7, "kernel": 3, "pad": 1}
IMAGES = {
    "first": ku(1, **SIZES, first=True, last=False),
    "between": ku(2, **SIZES, first=False, last=False),
    "last": ku(3, **SIZES, first=False, last=True, has_momentum=True),
    "only": ku(4, **SIZES, first=True, last=True, stochastic=True, seed=12345),
    "without momentum": ku(5, **SIZES, first=False, last=True),
}


def test_gradients_and_new_kernels_are_those_of_the_golden_model() -> None:
    check(design_of(**STEP), *(Case(layer) for layer in IMAGES.values()))


KERNELS = {
    "four regions": {"inputs": 6, "outputs": 3, "rows": 5, "columns": 6, "kernel": 2, "pad": 1},
    "a region of each pixel": {"inputs": 18, "outputs": 3, "rows": 4, "columns": 3, "kernel": 1},
    "four sweeps": {"inputs": 2, "outputs": 5, "rows": 6, "columns": 5, "kernel": 5, "pad": 2},
    "stride": {"inputs": 3, "outputs": 5, "rows": 9, "columns": 8, "kernel": 3, "stride": 2},
}


@pytest.mark.full
@pytest.mark.parametrize("balance", [True, *in_full(False)])
def test_kernels_of_every_size_are_updated(balance: bool) -> None:
    ends = {"first": False, "last": True, "has_momentum": True}
    cases = [Case(ku(7, **sizes, **ends), stalls=stalled(8)) for sizes in KERNELS.values()]
    check(design_of(balance=balance, **STEP), *cases)


def words_of(outcome: Outcome) -> dict[str, list[int]]:
    return {name: list(map(int, words)) for name, words in outcome.words.items()}


@pytest.mark.full
def test_balancing_leaves_the_bits_and_takes_a_share_of_the_slots() -> None:
    """Kernels of 2 x 2 on 4 x 4 pixels: four input maps at once, of eight."""
    layer = ku(15, inputs=8, outputs=3, rows=5, columns=6, kernel=2, first=True, last=False)
    plain, balanced = (
        check(design_of(balance=each), Case(layer))[0].outcome for each in (False, True)
    )
    assert words_of(plain) == words_of(balanced)
    assert plain.status["status_issue"] == 4 * balanced.status["status_issue"]


@pytest.mark.full
def test_kernels_first_leave_the_bits_and_the_slots() -> None:
    forward, delta = (
        make_layer(16, phase=phase, inputs=5, outputs=6, rows=5, columns=6, kernel=3, pad=1,
                   relu=False)
        for phase in ("fp", "dp")
    )  # fmt: skip
    cases = (Case(forward), Case(delta))
    streamed, first = (check(design_of(kernel_first=each), *cases) for each in (False, True))
    for one, other in zip(streamed, first, strict=True):
        assert words_of(one.outcome) == words_of(other.outcome)
        assert one.outcome.status["status_issue"] == other.outcome.status["status_issue"]
        assert one.outcome.status["status_total"] < other.outcome.status["status_total"]


def test_rows_that_no_window_reaches_are_taken_before_the_pass_is_done() -> None:
    """Of seven rows a stride of 4 leaves three over; the next pass finds nothing of them."""
    sizes = {"inputs": 1, "outputs": 1, "rows": 7, "columns": 9, "kernel": 4, "stride": 4}
    slow = {"s_axis_map": (*[0] * 20, 1)}
    left = ku(13, **sizes, first=True, last=False)
    check(design_of(), Case(left, stalls=slow), Case(left), Case(IMAGES["first"]))


@pytest.mark.full
def test_rows_that_no_window_reaches_may_come_last_of_all() -> None:
    sizes = {"inputs": 16, "outputs": 1, "rows": 3, "columns": 21, "kernel": 2, "stride": 2}
    design = design_of(8, 8, 4)
    wide = ku(14, **sizes, first=True, last=False)
    check(design, Case(wide), Case(wide))


@pytest.mark.full
def test_what_pooling_drops_is_counted_before_the_pass_is_done() -> None:
    """The clipped sums of a row that no window of pooling takes are the last that change."""
    sizes = {"inputs": 3, "outputs": 6, "rows": 9, "columns": 10, "kernel": 3, "pad": 1}
    check(design_of(), Case(fp(1, **sizes, relu=False, shift=0, pool=2)))


@pytest.mark.full
def test_a_layer_goes_through_all_phases() -> None:
    back = ku(8, inputs=6, outputs=5, rows=9, columns=10, kernel=3, pad=1, last=False)
    check(design_of(), Case(FRONT), Case(back), Case(BACK, masks=FRONT), Case(back))


def upsample(number: int, front: SuppliedPass) -> SuppliedPass:
    """Pooled deltas of the outputs of a pass of FP."""
    names = ("inputs", "outputs", "rows", "columns", "kernel", "pad", "pool")
    return make_layer(number, phase="upsample", **{n: getattr(front.work, n) for n in names})


@pytest.mark.full
def test_pooled_deltas_go_where_their_maxima_were() -> None:
    wide = fp(11, inputs=2, outputs=3, rows=8, columns=19, kernel=3, pad=1, pool=4, shift=27)
    first = upsample(9, POOLED)
    cases = [
        Case(POOLED),
        Case(first, places=POOLED, stalls=stalled(6)),
        Case(first, places=POOLED),
    ]
    cases += [Case(wide), Case(upsample(12, wide), places=wide)]
    check(design_of(pool_window=4), *cases)


@pytest.mark.full
def test_an_un_pooling_that_was_reset_begins_anew() -> None:
    """While the port waits, and atoms are kept on their way to it."""
    pooled = upsample(9, POOLED)
    slow = {MAPS: (1, 0, 0, 0)}
    cases = [Case(pooled, places=POOLED, stalls=slow, reset_at=at) for at in (41, 43)]
    records = check(design_of(), Case(POOLED), *cases, Case(pooled, places=POOLED))
    assert [record.outcome.resets for record in records] == [0, 1, 1, 0]


def entering(phase: str, number: int, front: SuppliedPass, **more: Any) -> SuppliedPass:
    """DP or KU of the layer of a pass of FP, with deltas of its pooled outputs."""
    names = ("inputs", "outputs", "rows", "columns", "kernel", "pad", "stride", "pool")
    sizes = {name: getattr(front.work, name) for name in names}
    return {"dp": dp, "ku": ku}[phase](number, **sizes, **more)


ENTERING = {
    "odd rows and columns": POOLED,
    "windows of 4": fp(51, inputs=2, outputs=5, rows=13, columns=14, kernel=3, pad=1, pool=4),
    "bands that end within a window": fp(
        52, inputs=1, outputs=5, rows=18, columns=5, kernel=4, pad=2, pool=2
    ),
    "stride": fp(53, inputs=1, outputs=3, rows=14, columns=17, kernel=3, stride=2, pad=1, pool=2),
    "bands behind the last deltas": fp(
        57, inputs=1, outputs=2, rows=11, columns=12, kernel=5, pool=4
    ),
    "a single window": fp(54, inputs=5, outputs=9, rows=3, columns=3, kernel=1, pool=2),
}


@pytest.mark.parametrize("name", few(ENTERING, "odd rows and columns"))
def test_pooled_deltas_are_expanded_on_entry(name: str) -> None:
    front = ENTERING[name]
    back = entering("dp", 55, front, relu=False)
    update = entering("ku", 56, front, first=True, last=False)
    cases = [Case(back, places=front), Case(update, places=front)]
    if front is POOLED:
        cases += [case._replace(stalls=stalled(7)) for case in cases]
    check(design_of(pool_window=4), Case(front), *cases)


@pytest.mark.full
def test_the_multipliers_themselves_do_as_their_twin() -> None:
    cases = (Case(POOLED), Case(BEHIND_POOLING, masks=POOLED))
    real, quick = (check(design_of(), *cases, array=array) for array in ("rtl", "behavioural"))
    assert [a.differences(b) for a, b in zip(real, quick, strict=True)] == [[], []]


@pytest.mark.parametrize("seed", [0, *in_full(1)])
def test_ports_may_wait(seed: int) -> None:
    cases = (Case(POOLED), Case(BEHIND_POOLING, masks=POOLED))
    check(design_of(), *(case._replace(stalls=stalled(seed)) for case in cases))


@pytest.mark.full
def test_every_cause_of_waiting_is_named() -> None:
    slow = {"s_axis_map": (*[0] * 9, 1)}, {"s_axis_kernel": (*[0] * 9, 1)}, {MAPS: (*[0] * 9, 1)}
    layer = fp(1, inputs=3, outputs=6, rows=5, columns=9, kernel=3, pad=1)
    records = check(design_of(), *(Case(layer, stalls=stalls) for stalls in slow))
    names = ("input", "kernel", "output")
    for record, cause in zip(records, names, strict=True):
        waits = {name: record.outcome.status[f"status_stall_{name}"] for name in names}
        assert max(waits, key=waits.__getitem__) == cause


@pytest.mark.full
def test_a_pass_that_was_reset_begins_anew() -> None:
    cases = [Case(POOLED, reset_at=at) for at in (40, 150)]
    records = check(design_of(), *cases, Case(BEHIND_POOLING, masks=POOLED))
    assert [record.outcome.resets for record in records] == [1, 1, 0]


@pytest.mark.full
@pytest.mark.ghdl
def test_vhdl_does_the_same() -> None:
    cases = (
        Case(POOLED, stalls=stalled(3)), Case(BEHIND_POOLING, masks=POOLED),
        Case(IMAGES["first"], stalls=stalled(4)), Case(IMAGES["last"]), Case(IMAGES["only"]),
        Case(LOSSES["hinge"], stalls=stalled(5)), Case(LOSSES["a single class"]),
        Case(entering("dp", 42, POOLED, relu=False), places=POOLED, stalls=stalled(8)),
        Case(entering("ku", 43, POOLED, last=False), places=POOLED),
        Case(STRIDED["2"][0]), Case(STRIDED["2"][1], masks=STRIDED["2"][0], stalls=stalled(6)),
        Case(dp(41, inputs=5, outputs=2, rows=7, columns=6, kernel=5, stride=4, relu=False)),
    )  # fmt: skip
    check(design_of(loss=True, **STEP), *cases, engine="ghdl", array="rtl")
