"""Flags of all modules: busy, done and framing_error in a run, and after a reset in mid-run."""

from dataclasses import replace
from random import Random

import gradient_cases
import product_cases
import pytest

from block_bench import BlockBench
from merp.models.base.formats import BFLOAT16
from merp.models.base.register_map import FLAGS
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.block.trace import Sample
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.fcnn import conv_bench, gradient_bench, pool_bench, product_bench
from merp.testbenches.fcnn.stream_player import StreamPlayer
from pool_cases import random_job
from pool_cases import small as small_pool

CONV = StreamDesign(
    fmt=BFLOAT16, k=2, lanes=1, maps_at_once=1, max_rows=6, max_columns=6, max_maps=3, max_step=2,
    mul_latency=1, add_latency=1,
)  # fmt: skip
GRADIENT = gradient_cases.small(1)
POOL = small_pool(activation="none", window=2)
PRODUCT = product_cases.small(1, 1, 2)
SHAPE = Shape(n=2, m=2, k=2, rows=3, columns=3)
GRADIENT_SHAPE = Shape(n=1, m=2, k=1, rows=2, columns=2)


def convolution(number: int) -> StreamPlayer:
    def draw(count: int) -> list[int]:
        return elements(count, BFLOAT16, Random(f"{number} {count}"))

    run = StreamRun.forward(SHAPE, 1 + number, CONV)
    rates = dict.fromkeys(conv_bench.FULL, 1.0)
    jobs = [conv_bench.ConvJob.drawn(run, draw)]
    return conv_bench.player(jobs, rates, number, of_top=True)


def gradient(number: int) -> StreamPlayer:
    one = gradient_cases.case(GRADIENT, GRADIENT_SHAPE, 1 + number, Random(number))
    sinks = ("s_axis_map", "s_axis_delta")
    job = gradient_bench.gradient_job(one.run, one.x, one.delta, sinks)
    return StreamPlayer([job], ("m_axis_gradient",), "status_done", True)


def product(number: int) -> StreamPlayer:
    one = product_cases.case(PRODUCT, (2, 2 + number, 2), True, Random(number))
    job = product_bench.product_job(one.run, one.a, one.b, one.bias, sinks=product_bench.PINS)
    return StreamPlayer([job], ("m_axis_sum",), "status_done", True)


def pooled(number: int) -> StreamPlayer:
    job = random_job(POOL, Random(number), maps=1 + number, rows=4, columns=3, images=2)
    sessions = [pool_bench.Session.of(POOL, job.forward(), {})]
    return pool_bench.player(sessions, {}, number, of_top=True)


def unpooled(number: int) -> StreamPlayer:
    job = random_job(POOL, Random(number), maps=1 + number, rows=4, columns=3, images=2)
    sessions = [pool_bench.Session.of(POOL, job.backward(), {})]
    return pool_bench.player(sessions, {}, number, of_top=True)


MODULES = {
    "fcnn_conv": (conv_bench.top(CONV), convolution, "s_axis_map"),
    "fcnn_gradient": (gradient_bench.top(GRADIENT), gradient, "s_axis_map"),
    "fcnn_mlp": (product_bench.top(PRODUCT), product, "s_axis_map"),
    "fcnn_pool": (pool_bench.pool_top(POOL), pooled, "s_axis_map"),
    "fcnn_unpool": (pool_bench.unpool_top(POOL), unpooled, "s_axis_delta"),
}


@pytest.mark.parametrize("name", MODULES)
def test_busy_and_a_wrong_last_are_told(name: str) -> None:
    """Busy begins after start and ends a cycle before done; the last of an input is early."""
    top, begin, stream = MODULES[name]
    player = begin(1)
    wrong = replace(player, jobs=[each.with_early_last(stream) for each in player.jobs])
    trace = BlockBench(top.function, **top.args).run(wrong, 150)
    start = trace.column("start").index(1)
    end = trace.column("status_done").index(1)
    assert trace.column("status_busy") == [start < t < end - 1 for t in range(150)]
    assert trace.column("status_framing_error")[end]
    assert trace.column("status_done")[end:] == [1] * (150 - end)


@pytest.mark.parametrize("name", MODULES)
def test_a_reset_ends_a_run(name: str) -> None:
    """All ports of the next run are those of a run after power-up."""
    top, begin, _ = MODULES[name]
    counters = vars(top.args["ports"].status).keys() - set(FLAGS)
    payload = {f"{each}_tvalid": f"{each}_tdata {each}_tlast" for each in begin(0).sources}
    payload["status_done"] = " ".join(f"status_{each}" for each in counters)
    BlockBench(top.function, **top.args).as_new_after_reset(
        begin, range(4, 40, 5), 90, payload=payload
    )


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("cut", [14, 120])
def test_flags_are_low_after_a_reset(name: str, cut: int) -> None:
    """The reset comes in mid-run, or after a run with a wrong last; no start follows."""
    top, begin, stream = MODULES[name]
    player = begin(1)
    wrong = replace(player, jobs=[each.with_early_last(stream) for each in player.jobs])

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = wrong(cycle, seen)
        if cycle < cut:
            return values
        return {name: 0 for name in values if name.endswith("valid")} | {"rst": int(cycle == cut)}

    trace = BlockBench(top.function, **top.args).run(drive, cut + 30)
    over = cut > 99
    assert trace.column("status_done")[cut] == over
    assert trace.column("status_busy")[cut] != over
    assert trace.column("status_framing_error")[cut] >= over
    for flag in FLAGS:
        assert not any(trace.column(f"status_{flag}")[cut + 1 :]), flag
