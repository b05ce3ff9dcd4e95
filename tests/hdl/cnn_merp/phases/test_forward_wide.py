"""Maps that come several elements to a beat, on the forward engine: every border within a beat."""

from dataclasses import replace

import numpy as np
import pytest

from audited_runs import assert_same, many_in_verilog
from forward_cases import run
from marks import in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.random_layers import WIDE, LayerCase, connected_case, random_case

EVERY = range(len(WIDE))


def cases(seed: int, design: EngineDesign, pressure: int | None = 0) -> list[LayerCase]:
    """Convolutions; fully connected layers around one, where the design folds them."""
    if not design.folded:
        return [random_case(seed + i, design, pressure) for i in range(2)]
    first, last = (connected_case(seed + i, design, pressure) for i in (0, 500))
    return [first, random_case(seed, design, pressure), last]


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [6, 8, 12, *in_full(*range(6), 7, 9, 10, 11)])
def test_random_layers(index: int) -> None:
    run(cases(index, WIDE[index]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [2, 4, 7, 9, *in_full(0, 1, 3, 5, 6, 8, 10)])
def test_cycles_without_pressure_equal_the_flow_model(index: int) -> None:
    some = cases(200 + index, WIDE[index], pressure=None)
    for case, record in zip(some, run(some), strict=True):
        flow = input_flow(case.shape, len(case.x), case.design)
        status = record.outcome.status
        assert (status["status_fill"], status["status_issue"]) == (flow.fill, flow.issue)
        if status["status_stall_output"] == 0:
            assert status["status_stall_input"] == flow.stall_input
            assert status["status_stall_hazard"] == flow.stall_hazard


def test_a_window_waits_for_its_own_beat_alone() -> None:
    """A beat of four maps every 16 cycles: their slots are over before the next one comes."""
    case = layer(binary32(4, k=1), Shape(n=8, m=2, k=1, rows=1, columns=3), 1)
    [record] = run([replace(case, stalls={"s_axis_map": (1, *[0] * 15)})])
    status = record.outcome.status
    cycles = sum(status[f"status_{name}"] for name in ("issue", "stall_input", "stall_hazard"))
    last = 4 + 3  # slots of the last beat, those that wait for their accumulator among them
    assert cycles <= 5 * 16 + last


def layer(design: EngineDesign, shape: Shape, images: int) -> LayerCase:
    """A layer whose elements are all different numbers."""
    x = np.arange(1, 1 + images * shape.rows * shape.columns * shape.n, dtype=np.float32)
    kernels = np.arange(1, 1 + shape.m * shape.n * shape.k**2, dtype=np.float32)
    return LayerCase(
        design,
        shape,
        x.reshape(images, shape.rows, shape.columns, shape.n).view(np.uint32),
        kernels.reshape(shape.m, shape.n, shape.k, shape.k).view(np.uint32),
        np.zeros(shape.m, np.uint32),
        {},
        None,
    )


def binary32(port: int, **changes: int | bool) -> EngineDesign:
    """A design of 3 x 3 whose results follow from whole numbers."""
    values = dict(
        k=3, n_cu=2, r=2, d=2, kernel_words=40, groups=1, row_words=40, max_size=8, max_maps=20,
        max_images=3, fifo_words=8, add_latency=1, mul_latency=1, map_port=port,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("port", [4, *in_full(2, 8)])
def test_pixels_end_anywhere_in_a_beat(port: int) -> None:
    """Fewer maps than a beat has elements, as many, one more, and a last beat with one element."""
    design = binary32(port)
    runs = [
        layer(design, Shape(n=n, m=2, k=3, rows=3, columns=5, pad=1), 2)
        for n in (1, port - 1, port, port + 1, 2 * port + 1)
    ]
    run(runs)


@pytest.mark.parametrize("port", [8, *in_full(2, 4)])
def test_images_of_a_folded_layer_end_anywhere_in_a_beat(port: int) -> None:
    design = binary32(port, folded=True)
    elements = (1, port, 9, 17, 18, 19, 9 * port - 1, 9 * port, 9 * port + 1)
    run([layer(design, Shape(n=n, m=2, k=1, rows=1, columns=1), 3) for n in elements])


@pytest.mark.sample(1)
@pytest.mark.parametrize(("port", "cycles"), [(1, 9), (2, 4.5), (4, 2.25), (8, 2)])
def test_a_folded_layer_takes_so_many_elements_a_cycle(port: int, cycles: float) -> None:
    """A map of 3 x 3 has 9 elements and 2 slots: where those bind, 8 elements are no faster."""
    design = binary32(port, folded=True, groups=2, max_maps=64, kernel_words=128, row_words=64)
    [record] = run([layer(design, Shape(n=9 * 64, m=4, k=1, rows=1, columns=1), 3)])
    status = record.outcome.status
    busy = sum(status[f"status_{name}"] for name in ("fill", "issue", "stall_input"))
    assert 3 * 64 * cycles <= busy <= 3 * 64 * cycles + 64 * 2 + 20


@pytest.mark.sample(1)
@pytest.mark.parametrize("pool", [None, Pool(window=3, stride=2)])
@pytest.mark.parametrize("port", [4, *in_full(2, 8)])
def test_the_state_keeps_up_with_the_maps(port: int, pool: Pool | None) -> None:
    """A bit of an element, and five of one that was pooled, are less than a byte of a beat."""
    shape = Shape(n=1, m=8, k=3, rows=13, columns=13, pad=1, pool=pool)
    cycles = [
        run([layer(plain_sums(port, state), shape, 2)])[0].outcome.status["status_total"]
        for state in (False, True)
    ]
    assert cycles[1] - cycles[0] <= 2
    assert cycles[0] < 2 * 13 * 13 * 8 / port + 60 or pool


def test_units_without_a_map_leave_no_state() -> None:
    """They have kernels of the layer before: what they compute is above zero."""
    shape = Shape(n=1, m=8, k=3, rows=5, columns=5)
    run([layer(plain_sums(4, True), replace(shape, m=m), 1) for m in (8, 5)])


def plain_sums(port: int, state: bool) -> EngineDesign:
    """As many results in a cycle as the port has elements: nothing else binds, nor do sums that
    wait for their credits.
    """
    return binary32(
        port, n_cu=8, r=port, max_size=13, p=2, pool_window=3, pool_overlap=2, pool_words=16 * 8,
        state=state, fifo_words=16,
    )  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("folded", [False, True])
def test_a_last_in_another_beat_than_the_last_one_is_told_and_forgotten(folded: bool) -> None:
    """Elements too many: in the last beat nobody sees them, beyond it there is another."""
    design = binary32(4, folded=True)
    shape = Shape(n=13, m=2, k=3, rows=3, columns=3, pad=1)
    if folded:
        shape = Shape(n=23, m=2, k=1, rows=1, columns=1)
    good = layer(design, shape, 2)
    right = forward_run(good.shape, design, good.x, good.kernels, good.bias)
    maps = right.words["s_axis_map"]
    assert len(maps) % 4 == 2
    runs = [
        replace(right, words=right.words | {"s_axis_map": np.append(maps, maps[:more])})
        for more in (2, 3, 0)
    ]
    records = run_job(Job(forward_top(design), runs), "myhdl")
    assert [each.outcome.status["status_framing_error"] for each in records] == [0, 1, 0]


@pytest.mark.parametrize("index", in_full(3, 6, 8))
def test_register_transfer_array_gives_the_same_record(index: int) -> None:
    some = cases(30, WIDE[index])[:2]
    assert_same(run(some), run(some, array="rtl"))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(6, 9, 10))
def test_verilog_gives_the_same_record(index: int) -> None:
    some = cases(40, WIDE[index])
    assert_same(run(some), run(some, "verilator", "rtl"))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*EVERY))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    some = [cases(1000 + seed, WIDE[index], seed % 4) for seed in range(30)]
    many_in_verilog(run, [case for each in some for case in each])


@pytest.mark.ghdl
@pytest.mark.parametrize("index", in_full(2, 7, 9, 11, 12))
def test_vhdl_gives_the_same_record(index: int) -> None:
    some = cases(50, WIDE[index])[:2]
    assert_same(run(some), run(some, "ghdl", "rtl"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"map_port": 3}, "map_port must be one of 1, 2, 4, 8, not 3"),
        ({"map_port": 2, "k": 2, "folded": True}, "k must be odd, not 2"),
    ],
)
def test_what_is_not_built_is_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        binary32(1, **changes)


def test_a_design_of_one_element_a_beat_is_as_ever() -> None:
    assert "map_port" not in repr(binary32(1))
    assert not any("port_config" in pin.name for pin in forward_top(binary32(1)).ports.config)
