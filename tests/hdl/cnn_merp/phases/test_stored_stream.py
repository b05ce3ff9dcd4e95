"""Elements that lie in memory in narrower formats: the border, and all phases behind it."""

import struct
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from stored_layers import (
    DELTA,
    FORWARD,
    HALF,
    MIXED,
    UPDATE,
    delta_design,
    delta_pass,
    forward_pass,
    numbers,
    rounded,
    update_pass,
)

from block_bench import BlockBench, Recorded, Replays
from marks import few, in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.passes.cut import Cut
from merp.cosim.machines.cnn_merp.passes.delta_tiles import DeltaTiles
from merp.cosim.machines.cnn_merp.passes.forward_tiles import ForwardTiles
from merp.cosim.machines.cnn_merp.passes.run_in_passes import run_in_passes
from merp.cosim.machines.cnn_merp.passes.update_tiles import UpdateTiles
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.hdl.base.signals import BYTE, AxiStream
from merp.hdl.cnn_merp.phases.stored_stream import stored_stream
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.rates import Rates
from merp.models.base.shape import Pool, Shape
from merp.models.base.storage import StoredFormat
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import keep_state
from merp.models.golden.super_layer import super_layer
from merp.models.golden.training import Updated
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.top import Top

PHOTO = ByteImage.of(Fraction(2, 255), Fraction(-1))
BORDERS: list[tuple[StoredFormat, bool, int]] = [
    *((stored, inward, lanes)
      for stored in (BFLOAT16, BINARY16)
      for inward in (True, False)
      for lanes in (1, 4)),
    (PHOTO, True, 1),
    (PHOTO, True, 8),
]  # fmt: skip


def value_of(word: int) -> Fraction:
    """The number of a word of binary32."""
    return Fraction(struct.unpack("<f", struct.pack("<I", word))[0])


each_border = pytest.mark.parametrize(("stored", "inward", "lanes"), BORDERS)


def crossed(stored: StoredFormat, inward: bool, lanes: int, cycles: int = 60) -> Recorded:
    """Random beats over a border, with every handshake."""
    rng = Random(f"{stored} {inward} {lanes}")
    given: StoredFormat = stored if inward else BINARY32
    wanted: StoredFormat = BINARY32 if inward else stored
    bench = BlockBench(
        stored_stream, sink=AxiStream(given.width, lanes),
        source=AxiStream(wanted.width, lanes), stored=stored, fmt=BINARY32,
    )  # fmt: skip
    names = ["sink_tdata", "sink_tvalid", "sink_tlast", "source_tready"]
    lane_bytes = given.width // BYTE

    def drive(cycle: int, _: object) -> dict[str, int]:
        values = {name: rng.getrandbits(1) for name in names[1:]}
        data = rng.getrandbits(lanes * given.width)
        if not inward and cycle % 2:  # about the numbers of the other format
            data = 0
            for _lane in range(lanes):
                field = rng.randrange(127 - 27, 127 + 18)
                word = rng.getrandbits(1) << 31 | field << 23 | rng.getrandbits(23)
                data = data << 32 | word
        values["sink_tdata"] = data
        if lanes > 1:
            kept = rng.randrange(1, lanes + 1)
            values["sink_tkeep"] = (1 << kept * lane_bytes) - 1
        return values

    return bench.run(drive, cycles)


@each_border
def test_every_lane_is_converted_and_the_handshake_passes(
    stored: StoredFormat, inward: bool, lanes: int
) -> None:
    trace = crossed(stored, inward, lanes)
    given: StoredFormat = stored if inward else BINARY32
    wanted: StoredFormat = BINARY32 if inward else stored
    for name, other in (("tvalid", "tvalid"), ("tlast", "tlast")):
        assert trace.column(f"sink_{name}") == trace.column(f"source_{other}")
    assert trace.column("sink_tready") == trace.column("source_tready")
    for data, made in zip(trace.column("sink_tdata"), trace.column("source_tdata"), strict=True):
        for lane in range(lanes):
            word = data >> lane * given.width & (1 << given.width) - 1
            found = made >> lane * wanted.width & (1 << wanted.width) - 1
            if isinstance(given, ByteImage):
                assert abs(value_of(found) - (Fraction(2, 255) * word - 1)) <= Fraction(1, 1 << 25)
                continue
            assert isinstance(wanted, FloatFormat)
            # As every reader takes it: a subnormal is zero, one NaN is as good as another.
            assert fp_convert(found, wanted, wanted) == fp_convert(word, given, wanted)
            assert inward or found == fp_convert(word, given, wanted)
    if lanes > 1:
        kept = [value.bit_count() * BYTE // given.width for value in trace.column("sink_tkeep")]
        ones = [(1 << count * wanted.width // BYTE) - 1 for count in kept]
        assert trace.column("source_tkeep") == ones
        assert set(kept) == set(range(1, lanes + 1))


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("stored", "inward", "lanes"),
    [
        (BINARY16, True, 4),
        (BFLOAT16, False, 4),
        (PHOTO, True, 8),
        *rows_in_full(*(each for each in BORDERS if each[2] == 1)),
        *rows_in_full((BFLOAT16, True, 4), (BINARY16, False, 4)),
    ],
)
def test_vhdl_replays(stored: StoredFormat, inward: bool, lanes: int, replays: Replays) -> None:
    replays(crossed(stored, inward, lanes), lint=True)


def played(top: Top, passes: Sequence[GroupPass], engine: str) -> None:
    """Run passes back to back: their bits, their counts, and the bytes of the elements on pins."""
    found = run_and_audit(top, passes, engine)
    sizes = {pin.name: pin.element // BYTE for pin in top.ports.streams}
    for each, made in zip(found, passes, strict=True):
        assert each.audit.failures == ()
        assert each.audit.bit_exact
        for port in made.expected.ports.values():
            assert port.word_bytes == sizes[port.stream]


def forward_played(
    index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural"
) -> None:
    top = forward_top(FORWARD[index], array)
    played(top, [forward_pass(seed, FORWARD[index]) for seed in seeds], engine)


def delta_played(
    index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural"
) -> None:
    top = delta_top(DELTA[index], array)
    played(top, [delta_pass(seed, DELTA[index]) for seed in seeds], engine)


def update_played(
    index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural"
) -> None:
    design, rule, undone = UPDATE[index]
    top = kernel_update_top(design, array, rule, undone)
    played(top, [update_pass(seed, index) for seed in seeds], engine)


@pytest.mark.parametrize("index", few(range(len(FORWARD)), 5))
def test_maps_are_rounded_when_they_leave(index: int) -> None:
    forward_played(index, range(3))


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few(range(len(DELTA)), 0, 5))
def test_deltas_are_rounded_when_they_leave(index: int) -> None:
    delta_played(index, range(4))


@pytest.mark.parametrize("index", few(range(len(UPDATE)), 4))
def test_kernels_and_velocities_are_rounded_when_they_leave(index: int) -> None:
    update_played(index, range(4))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", range(len(FORWARD)))
def test_many_maps(index: int) -> None:
    forward_played(index, range(100, 130), "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", range(len(DELTA)))
def test_many_deltas(index: int) -> None:
    delta_played(index, range(100, 130), "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", range(len(UPDATE)))
def test_many_updates(index: int) -> None:
    update_played(index, range(100, 130), "verilator")


@pytest.mark.verilator
@pytest.mark.parametrize("index", [7, *in_full(3, 11)])
def test_verilog_of_maps(index: int) -> None:
    forward_played(index, range(6), "verilator", "rtl")


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(3, 5))
def test_verilog_of_deltas(index: int) -> None:
    delta_played(index, range(8), "verilator", "rtl")


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(4, 7))
def test_verilog_of_updates(index: int) -> None:
    update_played(index, range(6), "verilator", "rtl")


@pytest.mark.ghdl
@pytest.mark.parametrize("index", [7, *in_full(1, 11)])
def test_vhdl_of_maps(index: int) -> None:
    forward_played(index, range(2), "ghdl", "rtl")


@pytest.mark.ghdl
@pytest.mark.parametrize("index", in_full(0, 5))
def test_vhdl_of_deltas(index: int) -> None:
    delta_played(index, range(2), "ghdl", "rtl")


@pytest.mark.ghdl
@pytest.mark.parametrize("index", in_full(1, 5))
def test_vhdl_of_updates(index: int) -> None:
    update_played(index, range(2), "ghdl", "rtl")


@pytest.mark.parametrize("index", [2, *in_full(1, 5, 7)])
def test_no_cycle_changes(index: int) -> None:
    """The same numbers in the arithmetic's own format take the same cycles, stalled alike."""
    narrow = FORWARD[index]
    plain = replace(narrow, storage=None)
    [stored] = run_job(
        Job(forward_top(narrow, "behavioural"), [forward_pass(4, narrow).run]), "myhdl"
    )
    run = forward_pass(4, narrow).run
    words = {}
    for stream, each in run.words.items():
        tensor = "maps" if stream in ("s_axis_map", "s_axis_add") else "kernels"
        words[stream] = fp_convert(each, narrow.stored(tensor), narrow.fmt)
    again = replace(run, words=words)
    [wide] = run_job(Job(forward_top(plain, "behavioural"), [again]), "myhdl")
    for key in ("transfers", "first", "last", "status", "cycles", "resets", "faults"):
        assert getattr(stored.outcome, key) == getattr(wide.outcome, key), key


SHAPE = Shape(n=4, m=5, k=2, rows=6, columns=5, pad=1, pool=Pool(window=2, stride=2))


def parts_design(**changes: object) -> EngineDesign:
    values: dict[str, object] = dict(
        k=2, n_cu=2, r=1, d=2, kernel_words=40, groups=4, row_words=48, max_size=8, max_maps=8,
        max_images=3, max_stride=2, fifo_words=12, mul_latency=1, add_latency=2, partial=True,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


def test_forward_propagation_in_passes() -> None:
    """Sums pass between parts unrounded; maps are rounded once."""
    design = parts_design(storage=HALF, pool_window=2, pool_words=64, state=True)
    rng, fmt = np.random.default_rng(1), design.fmt
    x = numbers(rng, BINARY16, fmt, (2, SHAPE.rows, SHAPE.columns, SHAPE.n), 9)
    kernels = numbers(rng, BINARY16, fmt, (SHAPE.m, SHAPE.n, 2, 2), 3)
    bias = numbers(rng, BINARY16, fmt, (SHAPE.m,))
    found = run_in_passes(
        ForwardTiles(SHAPE, design, x, kernels, bias, Cut.of(SHAPE.m, SHAPE.n, (2, 2))),
        "myhdl", "behavioural",
    )  # fmt: skip
    assert found.failures == []
    golden = super_layer(x, kernels, bias, SHAPE, fmt, design.summation)
    assert np.array_equal(found.arrays["maps"], rounded(golden, fmt, BINARY16))


@pytest.mark.parametrize("before", [True, False])
def test_delta_propagation_in_passes(before: bool) -> None:
    design = delta_design(parts_design(storage=MIXED), before=before)
    fmt, stored = design.engine.fmt, design.engine.stored("deltas")
    shape = SHAPE if before else replace(SHAPE, pool=None)
    front = Shape(n=1, m=SHAPE.n, k=1, rows=12, columns=10, pool=Pool(window=2, stride=2))
    unpooled = shape if before else front
    rng = np.random.default_rng(2)
    activation = numbers(rng, fmt, fmt, (2, unpooled.out_rows, unpooled.out_columns, unpooled.m))
    state = keep_state(activation, unpooled, "pooled", fmt)
    size = (
        (shape.pooled_rows, shape.pooled_columns) if before else (shape.out_rows, shape.out_columns)
    )
    deltas = numbers(rng, stored, fmt, (2, *size, shape.m))
    kernels = numbers(rng, BFLOAT16, fmt, (shape.m, shape.n, 2, 2))
    sums = unpool(deltas, state, shape, fmt) if before else deltas
    golden = delta_convolution(sums, kernels, shape, fmt, design.engine.summation)
    if not before:
        golden = unpool(golden, state, front, fmt)
    cut = Cut.of(shape.n, shape.m, (2, 2))
    found = run_in_passes(
        DeltaTiles(shape, unpooled, design, deltas, kernels, state, cut), "myhdl", "behavioural"
    )
    assert found.failures == []
    assert np.array_equal(found.arrays["deltas"], rounded(golden, fmt, stored))


def test_kernel_update_in_passes() -> None:
    design = parts_design(storage=MIXED)
    fmt, shape = design.fmt, replace(SHAPE, pool=None)
    rng = np.random.default_rng(3)
    x = numbers(rng, BINARY16, fmt, (2, shape.rows, shape.columns, shape.n))
    deltas = numbers(rng, BFLOAT16, fmt, (2, shape.out_rows, shape.out_columns, shape.m))
    sizes = (shape.m, shape.n, 2, 2), (shape.m,)
    kernels, biases = (numbers(rng, BFLOAT16, fmt, size) for size in sizes)
    past = tuple(numbers(rng, BINARY16, fmt, size) for size in sizes)
    rates = Rates(rate=fmt.bias - 3 << fmt.frac_bits, momentum=fmt.bias - 1 << fmt.frac_bits)
    old = Updated((kernels, biases), (past[0], past[1]))
    found = run_in_passes(
        UpdateTiles(shape, design, x, deltas, old, rates, Cut.of(shape.m, shape.n, (2, 2))),
        "myhdl", "behavioural",
    )  # fmt: skip
    assert found.failures == []
    sought = kernel_gradient(x, deltas, shape, fmt, design.summation), bias_gradient(deltas, fmt)
    for name, each, velocity, gradient in zip(
        ("kernel", "bias"), (kernels, biases), past, sought, strict=True
    ):
        new, moved = update(each, velocity, gradient, rates, fmt)
        plural = {"kernel": "kernels", "bias": "biases"}[name]
        assert np.array_equal(found.arrays[plural], rounded(new, fmt, BFLOAT16))
        kept = found.arrays[f"{name}_velocities"]
        assert np.array_equal(kept, rounded(moved, fmt, BINARY16))


@pytest.mark.parametrize("word", [0x3F800001, 0x7F800001, 0x00000001, 0x47800000])
def test_a_word_that_is_no_number_of_the_stored_format_is_refused(word: int) -> None:
    shape, design = Shape(n=1, m=1, k=2, rows=2, columns=2), FORWARD[8]
    x = np.zeros((1, 2, 2, 1), np.uint32)
    x[0, 1, 0, 0] = word
    ones = np.full((1, 1, 2, 2), BINARY32.one, np.uint32)
    with pytest.raises(ValueError, match=rf"s_axis_map: word {word:#x} is not a number of"):
        forward_run(shape, design, x, ones, ones.reshape(-1)[:1])
