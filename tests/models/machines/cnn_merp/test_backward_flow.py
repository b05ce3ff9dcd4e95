"""The cycle model of both backward phases in one pass against the hardware's counters."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marks import in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.backward import backward_run, backward_top
from merp.models.base.bits import Bits
from merp.models.base.counters import PARTS
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.machines.cnn_merp.backward_flow import backward_flow
from merp.models.machines.cnn_merp.cycles import backward_cycles, layer_cycles, network_cycles
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.traffic.pass_words import state_bytes
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
IMAGES = 2


def design_for(
    halves: tuple[int, int], average: bool = False, leaky: bool = False, **chosen: Any
) -> BackwardDesign:
    common: dict[str, Any] = dict(
        k=3, r=1, d=2, kernel_words=36, groups=6, row_words=48, max_size=12, max_maps=5,
        max_images=3, max_stride=3, fifo_words=32, mul_latency=1, add_latency=2,
    )  # fmt: skip
    common |= {key: each for key, each in chosen.items() if key not in ("ku_kind", "ku_lanes")}
    engine = EngineDesign(**common, n_cu=halves[0])
    update = EngineDesign(**(common | chosen), n_cu=halves[1])
    undone = UnpoolDesign(
        window=3, overlap=2, words=64, max_size=14, max_maps=8, max_images=3, average=average,
        leaky=leaky, add_latency=engine.add_latency, mul_latency=engine.mul_latency,
    )  # fmt: skip
    return BackwardDesign(engine, update, undone)


DESIGNS = {
    "trees, by position": (design_for((2, 2), average=True), UpdateRule(momentum=True)),
    "fused, by row": (
        design_for((3, 1), cu_kind="fused", ku_kind="row", ku_lanes=2, add_latency=4), PLAIN,
    ),
    "leaky": (design_for((2, 2), leaky=True), PLAIN),
    "leaky, averages": (design_for((2, 2), average=True, leaky=True), PLAIN),
    "one ring, by position": (design_for((1, 3), d=1, cu_kind="fused"), PLAIN),
}  # fmt: skip

# What binds: either half's slots, the deltas, the gradients' revisit, accumulators; zeros between
# deltas, pooling of either kind, none; a window that is larger than its maps.
SHAPES = [
    Shape(n=4, m=5, k=3, pad=1, rows=5, columns=4, pool=Pool(window=3, stride=2)),
    Shape(n=1, m=5, k=3, pad=1, rows=4, columns=5),
    Shape(n=5, m=2, k=3, pad=0, stride=2, rows=5, columns=7, pool=Pool(window=2, stride=2)),
    Shape(n=2, m=3, k=3, pad=2, stride=3, rows=4, columns=5, relu=False),
    Shape(n=4, m=2, k=3, pad=1, rows=1, columns=2),
]


def zeros(*size: int) -> Bits:
    return np.zeros(size, np.uint32)


def statuses(design: BackwardDesign, rule: UpdateRule, shapes: list[Shape]) -> list[dict[str, int]]:
    """The hardware's counters of a run of each shape, all streams at full rate."""
    rates = Rates(rate=0, momentum=int(rule.momentum), weight_decay=int(rule.weight_decay))
    runs = []
    for shape in shapes:
        old = zeros(shape.m, shape.n, shape.k, shape.k), zeros(shape.m)
        runs.append(
            backward_run(
                shape,
                design,
                zeros(IMAGES, shape.rows, shape.columns, shape.n),
                zeros(IMAGES, shape.pooled_rows, shape.pooled_columns, shape.m),
                bytes(state_bytes(shape, shape.m, IMAGES)),
                old,
                rates,
                velocities=old if rule.momentum else None,
            )
        )
    top = backward_top(design, "behavioural", rule)
    return [record.outcome.status for record in run_job(Job(top, runs), "myhdl")]


def differences(
    status: dict[str, int], shape: Shape, design: BackwardDesign, rule: UpdateRule
) -> dict[str, tuple[int, int]]:
    """Counters that are not as the model has them; those of delta propagation's slots, too."""
    found = backward_cycles(shape, IMAGES, design, rule)
    flow = backward_flow(shape, IMAGES, design)
    model = {f"status_{name}": getattr(found, name) for name in ("kernel_load", "total", *PARTS)}
    for name in ("stall_input", "stall_output", "stall_hazard"):
        model[f"status_propagation_{name}"] = getattr(flow, f"propagation_{name}")
    return {key: (status[key], each) for key, each in model.items() if status[key] != each}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("design", "rule"), DESIGNS.values(), ids=DESIGNS)
def test_cycles_without_pressure_equal_the_hardware(
    design: BackwardDesign, rule: UpdateRule
) -> None:
    for shape, status in zip(SHAPES, statuses(design, rule, SHAPES), strict=True):
        assert differences(status, shape, design, rule) == {}, shape


FAR: list[tuple[int, int, Padding]] = [
    (3, 1, 1), (2, 1, (0, 0, 1, 1)), (3, 1, 2), (3, 2, 2), (5, 2, 4), (3, 1, (2, 0, 1, 2)),
]  # fmt: skip
"""Window, stride and padding."""


@pytest.mark.parametrize("name", ["trees, by position", *in_full("fused, by row")])
def test_cycles_where_several_windows_hang_over_an_edge(name: str) -> None:
    """Also where more pooled deltas come than deltas go on.

    Where many windows end with a map, pooled deltas of the next image wait for a place. Then the
    split of the total may differ, but not the total.
    """
    design, rule = DESIGNS[name]
    unpool = replace(design.unpool, window=5, overlap=3, hanging=True, far=True)
    shapes = [
        Shape(
            n=n, m=m, k=3, pad=1, rows=5, columns=5,
            pool=Pool(window=window, stride=stride, pad=pad),
        )
        for n, m in ((4, 5), (1, 3))
        for window, stride, pad in FAR
    ]  # fmt: skip
    which = design._replace(unpool=unpool)
    for shape, status in zip(shapes, statuses(which, rule, shapes), strict=True):
        found = differences(status, shape, which, rule)
        assert not found.keys() & {"status_total", "status_fill", "status_kernel_load"}, shape
        assert found == {} or max(shape.late) > 0, shape


def two_at_a_time(design: BackwardDesign) -> BackwardDesign:
    """Two positions of delta propagation take turns."""
    return design._replace(propagation=replace(design.propagation, p=2))


# A FIFO that holds a position or a bit more; several sums a beat; groups of CUs in part.
TIGHT = {
    "trees": (design_for((3, 3), groups=2, fifo_words=2), PLAIN),
    "average, by position": (
        design_for((2, 2), average=True, groups=3, fifo_words=3), UpdateRule(momentum=True),
    ),
    "fused, by row": (
        two_at_a_time(
            design_for(
                (5, 1), fifo_words=7, cu_kind="fused", ku_kind="row", ku_lanes=2, add_latency=4
            )
        ),
        PLAIN,
    ),
    "two sums a beat": (design_for((5, 3), groups=2, fifo_words=2, r=2, d=1), PLAIN),
}  # fmt: skip

# One map or two, of which more deltas leave than slots are issued.
WAITING = [
    Shape(n=5, m=1, k=3, pad=1, rows=5, columns=4),
    Shape(n=6, m=1, k=3, pad=1, rows=4, columns=5, pool=Pool(window=2, stride=2)),
    Shape(n=5, m=2, k=3, pad=1, rows=6, columns=4),
    Shape(n=5, m=1, k=3, pad=0, stride=2, rows=7, columns=7),
]


@pytest.mark.parametrize(
    "name", ["trees", *in_full("average, by position", "fused, by row", "two sums a beat")]
)
def test_cycles_of_sums_that_wait_for_a_place_behind_them(name: str) -> None:
    design, rule = TIGHT[name]
    waited = 0
    for shape, status in zip(WAITING, statuses(design, rule, WAITING), strict=True):
        waited += status["status_propagation_stall_output"]
        assert differences(status, shape, design, rule) == {}, shape
    assert waited > 100


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("design", "rule"), [*DESIGNS.values(), *TIGHT.values()], ids=[*DESIGNS, *TIGHT]
)
def test_cycles_of_random_layers(design: BackwardDesign, rule: UpdateRule, seed: int) -> None:
    """To the cycle, whether or not sums wait for a place behind them."""
    rng = np.random.default_rng([seed, 0xB9])
    shapes: list[Shape] = []
    while len(shapes) < 12:
        n, m, rows, columns = (int(count) for count in rng.integers(1, 6, 4))
        stride, pad, pooled = (int(count) for count in rng.integers((1, 0, 0), (4, 3, 2)))
        window = int(rng.integers(1, 4))
        pool = Pool(window=window, stride=max(window - 1, 1)) if pooled else None
        try:
            sizes = {"rows": rows + 2, "columns": columns + 2, "stride": stride, "pad": pad}
            shapes.append(Shape(n=n, m=m, k=3, pool=pool, **sizes))
        except ValueError:
            continue
    for shape, status in zip(shapes, statuses(design, rule, shapes), strict=True):
        assert differences(status, shape, design, rule) == {}, shape


@pytest.mark.parametrize(
    ("name", "load", "total"),
    [
        ("conv2", 307_202, 1_476_996), ("conv3", 884_737, 1_604_379),
        ("conv4", 663_554, 1_193_476), ("conv5", 442_370, 842_098),
    ],
)  # fmt: skip
def test_alexnets_layers_as_in_verilator(name: str, load: int, total: int) -> None:
    """An image, all groups: the hardware took these cycles. source: docs/engines.md"""
    network = replace(ALEXNET, backward="combined")
    found = layer_cycles(network, network.layer(name), "bp", 1)
    assert found is not None
    assert (found.kernel_load, found.total) == (load, total)


def test_alexnets_step_in_one_pass_takes_about_as_long() -> None:
    """A pass takes as long as its slower half, and fewer units fill their last groups otherwise.

    It takes kernels one element a beat, where the phases apart take four.
    """
    fused = replace(ALEXNET, backward="combined")
    cycles: dict[str, dict[str, int]] = {}
    for network in (ALEXNET, fused):
        for layer, phase, found in network_cycles(network, 128):
            if phase != "fp" and layer.name != "conv1":
                of_layer = cycles.setdefault(layer.name, {})
                of_layer[network.backward] = of_layer.get(network.backward, 0) + found.phase
    more = {name: 100 * (each["combined"] / each["separate"] - 1) for name, each in cycles.items()}
    assert {name: round(share, 1) for name, share in more.items()} == {
        "conv2": 0.3, "conv3": -1.5, "conv4": 1.5, "conv5": 7.2,
    }  # fmt: skip
