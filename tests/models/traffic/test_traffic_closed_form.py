import time
from dataclasses import replace

import pytest

from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.base.storage import TENSORS, Storage
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.models.traffic import published
from merp.models.traffic.closed_form import _Counted, network_traffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.pass_words import port_words
from merp.models.traffic.tiling import Tiling, best_tiling
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
EXACT = {  # MB/GFlop by exact arithmetic; the printed ones differ in the last digit here and there
    "conv1": (26.986, 4.184, None, 8.366),
    "conv2": (57.331, 1.011, 4.260, 2.292),
    "conv3": (38.277, 1.447, 3.364, 1.447),
    "conv4": (28.708, 2.315, 2.315, 2.315),
    "conv5": (19.139, 1.983, 2.894, 2.894),
}


def convolutions(network: Network = ALEXNET, count: Count | None = None):
    return network_traffic(network, 128, count)[:5]


@pytest.mark.parametrize("layer", convolutions(), ids=lambda each: each.layer.name)
def test_table_3_of_the_paper(layer) -> None:
    operations, *cells = EXACT[layer.layer.name]
    printed = published.TABLE_3[layer.layer.name]
    assert layer.fp.operations / 1e9 == pytest.approx(operations, abs=0.0005)
    assert printed.gop == pytest.approx(operations, abs=0.04)
    for phase, exact, paper in zip("fp dp ku".split(), cells, printed_cells(printed), strict=True):
        found = getattr(layer, phase)
        if exact is None:
            assert found is None
            assert paper is None
        else:
            assert found.mb_per_gflop == pytest.approx(exact, abs=0.0005)
            assert paper == pytest.approx(found.mb_per_gflop, abs=0.0105)


def printed_cells(row: published.Row) -> tuple[float | None, ...]:
    return row.fp, row.dp, row.ku


def test_totals_of_table_3_and_the_one_that_is_not_reproducible() -> None:
    layers = convolutions()
    fp, dp, ku, step = (total(layers, phase) for phase in ("fp", "dp", "ku", "step"))
    printed = published.TABLE_3_TOTAL
    assert fp.operations / 1e9 == pytest.approx(170.441, abs=0.0005)
    assert printed.gop == pytest.approx(170.44, abs=0.07)
    assert fp.mb_per_gflop == pytest.approx(1.940, abs=0.0005)
    assert round(fp.mb_per_gflop, 2) == printed.fp
    assert dp.mb_per_gflop == pytest.approx(3.450, abs=0.001)
    assert round(dp.mb_per_gflop, 2) == printed.dp
    assert ku.mb_per_gflop == pytest.approx(3.135, abs=0.0005)
    assert step.operations / 1e9 == pytest.approx(484.336, abs=0.001)
    # its own cells: sum(MB/GFlop * Gop) / sum(Gop)
    cells = published.TABLE_3.values()
    own = sum(row.ku * row.gop for row in cells) / sum(row.gop for row in cells)
    assert own == pytest.approx(3.13, abs=0.005)
    assert printed.ku == 3.92


def test_the_input_of_227_rows_does_not_give_the_printed_value() -> None:
    conv1 = ALEXNET.layer("conv1")
    larger = replace(conv1, shape=replace(conv1.shape, rows=227, columns=227, pad=0))
    network = replace(ALEXNET, layers=(larger,))
    assert network_traffic(network, 128)[0].fp.mb_per_gflop == pytest.approx(4.26, abs=0.005)


def test_the_geometry_decides_whether_the_paper_is_quoted() -> None:
    assert published.is_papers_network(ALEXNET)
    assert published.is_papers_network(open_network("alexnet-avg"))
    assert not published.is_papers_network(open_network("lenet5"))
    conv1 = ALEXNET.layer("conv1")
    other = replace(conv1, shape=replace(conv1.shape, rows=227, columns=227, pad=0))
    assert not published.is_papers_network(replace(ALEXNET, layers=(other, *ALEXNET.layers[1:])))


def by_hand() -> Network:
    """Two layers, small enough to count by hand: 2 groups with pooling, then full connection."""
    first = Shape(n=2, m=3, k=3, rows=5, columns=6, pad=1, pool=Pool(window=2, stride=2))
    last = Shape(n=36, m=4, k=1, rows=1, columns=1, relu=False)
    layers = (
        Layer(name="conv1", kind="conv", groups=2, shape=first),
        Layer(name="fc2", kind="fc", shape=last),
    )
    return Network(name="t", input=(5, 6, 4), layers=layers)


def streams(count: Count, network: Network | None = None) -> list[dict[str, int]]:
    """FP of both layers, DP of the second, KU of both; words, 3 images."""
    first, last = network_traffic(network or by_hand(), 3, count)
    assert first.dp is None
    assert last.dp is not None
    phases = (first.fp, last.fp, last.dp, first.ku, last.ku)
    return [{port: count / 4 for port, count in phase.streams.items()} for phase in phases]


X, Y, YP, W = 4 * 30 * 3, 6 * 30 * 3, 6 * 6 * 3, 2 * 2 * 3 * 9


def test_count_maps_has_maps_only() -> None:
    assert streams(Count()) == [
        {"map_in": X, "map_out": YP},
        {"map_in": YP, "map_out": 12},
        {"delta_in": 12, "delta_out": Y},
        {"map_in": X, "delta_in": Y},
        {"map_in": YP, "delta_in": 12},
    ]


def test_count_all_with_the_activation_as_state() -> None:
    update = {"state_in": 0, "kernel": W, "bias": 6, "kernel_out": W, "bias_out": 6}
    last_update = {"state_in": 0, "kernel": 144, "bias": 4, "kernel_out": 144, "bias_out": 4}
    assert streams(Count(name="all")) == [
        {"map_in": X, "map_out": YP, "kernel": W, "bias": 6, "state_out": Y},
        {"map_in": YP, "map_out": 12, "kernel": 144, "bias": 4, "state_out": 0},
        {"delta_in": 12, "delta_out": Y, "kernel": 144, "state_in": Y},
        {"map_in": X, "delta_in": Y, **update},
        {"map_in": YP, "delta_in": 12, **last_update},
    ]


def test_count_all_with_mask_bits_and_position_codes() -> None:
    first, last, delta, *_ = streams(Count(name="all", state="1"))
    # a bit per element, a 2-bit code per maximum of 2 x 2; whole bytes: in each of the two groups
    # that write, and of all maps in the one that reads
    written, read = (passes * -(-(Y + 2 * YP) // passes // 8) / 4 for passes in (2, 1))
    assert (first["state_out"], last["state_out"]) == (written, 0)
    assert delta == {"delta_in": 12, "delta_out": Y, "kernel": 144, "state_in": read}


def test_count_all_with_deltas_at_pooled_resolution() -> None:
    first, last, delta, update, _ = streams(Count(name="all", state="pooled"))
    state = 2 * -(-(YP + 2 * YP) // 2 // 8) / 4
    assert (first["state_out"], last["state_out"]) == (state, 0)
    assert delta == {"delta_in": 12, "delta_out": YP, "kernel": 144, "state_in": 0}
    assert (update["delta_in"], update["state_in"]) == (YP, state)


@pytest.mark.parametrize(
    ("relu", "kind", "bits"),
    [
        (True, "average", {"32": (32 * Y, 32 * Y), "1": (Y, Y), "pooled": (Y, Y)}),
        (False, "average", {"32": (0, 0), "1": (0, 0), "pooled": (0, 0)}),
        (False, "max", {"32": (32 * Y, 32 * Y), "1": (2 * YP, 2 * YP), "pooled": (2 * YP, 2 * YP)}),
        (True, None, {"32": (0, 32 * Y), "1": (Y, Y), "pooled": (Y, Y)}),
    ],
)
@pytest.mark.parametrize("state", ["32", "1", "pooled"])
def test_state_written_and_read(relu, kind, bits, state) -> None:
    network = by_hand()
    pool = Pool(kind=kind, window=2, stride=2) if kind else None
    conv = replace(network.layers[0], shape=replace(network.layers[0].shape, relu=relu, pool=pool))
    full = network.layers[1]
    if kind is None:
        full = replace(full, shape=replace(full.shape, n=180))
    network = replace(network, layers=(conv, full))
    first, last = network_traffic(network, 3, Count(name="all", state=state))
    # Two groups write, and read for their own update; the delta of the layer behind is one pass.
    passes = 2, 2 if state == "pooled" else 1
    written, read = (g * -(-x // g // 8) for g, x in zip(passes, bits[state], strict=True))
    assert first.fp.streams["state_out"] == written
    reader = first.ku if state == "pooled" else last.dp
    assert reader is not None
    assert reader.streams["state_in"] == read


def test_momentum_is_shown_apart() -> None:
    first, _ = network_traffic(by_hand(), 3, Count(name="all"))
    assert first.ku.momentum == 2 * 4 * (W + 6)
    assert first.ku.bytes == sum(first.ku.streams.values())
    assert network_traffic(by_hand(), 3)[0].ku.momentum == 0


def test_deltas_at_pooled_resolution_save_a_third_of_alexnets_step() -> None:
    masks, pooled = (
        total(convolutions(count=Count(name="all", state=state)), "step")
        for state in ("1", "pooled")
    )
    assert masks.mb_per_gflop == pytest.approx(2.957, abs=0.0005)
    assert pooled.mb_per_gflop == pytest.approx(1.954, abs=0.0005)
    # The same with kernels and biases once in KU, which reads the old ones and writes the new.
    once = 4 * sum(layer.kernels + layer.biases for layer in ALEXNET.layers if layer.kind == "conv")
    for step, wanted in ((masks, 2.938), (pooled, 1.935)):
        found = (step.bytes - once) / step.operations * 1000
        assert found == pytest.approx(wanted, abs=0.0005)


NARROW = Storage(maps=BFLOAT16, deltas=BFLOAT16, kernels=BINARY32, gradients=BINARY32)


def test_bfloat16_maps_and_deltas_of_alexnet() -> None:
    """The figure of the page: words as before, bytes of maps and deltas exactly half."""
    network = replace(ALEXNET, storage=NARROW)
    kept = ("kernel", "bias", "kernel_out", "bias_out", "state_in", "state_out")
    for state, ratio in (("pooled", 1.046), ("1", 1.553), ("32", None)):
        count = Count(name="all", state=state)
        plain, narrow = convolutions(count=count), convolutions(network, count)
        for before, after in zip(plain, narrow, strict=True):
            for phase in PHASES:
                for old, new in zip(before.phases(phase), after.phases(phase), strict=True):
                    assert list(new.streams) == list(old.streams)
                    for port, count in new.streams.items():
                        whole = port in kept and not (state == "32" and port.startswith("state"))
                        assert (1 if whole else 2) * count == old.streams[port]
                    assert new.momentum == old.momentum
        if ratio is not None:
            assert total(narrow, "step").mb_per_gflop == pytest.approx(ratio, abs=0.0005)


@pytest.mark.parametrize("name", ["maps", "all", "board"])
def test_where_everything_is_stored_in_16_bit_bytes_are_halves(name: str) -> None:
    """But those of masks and positions; on count board tiles have room for the same elements."""
    network = replace(ALEXNET, storage=Storage(**dict.fromkeys(TENSORS, BINARY16)))
    for state in STATES if name != "maps" else ("32",):
        count = Count(name=name, state=state, memory_bytes=1 << 24)
        for plain, narrow in zip(
            convolutions(count=count), convolutions(network, count), strict=True
        ):
            for old, new in zip(plain.phases("step"), narrow.phases("step"), strict=True):
                assert 2 * new.momentum == old.momentum
                for port, count in new.streams.items():
                    bits = port.startswith("state") and state != "32"
                    assert (1 if bits else 2) * count == old.streams[port]
    if name == "all":
        step = total(convolutions(network, Count(name=name, state="pooled")), "step")
        assert step.mb_per_gflop == pytest.approx(1.008, abs=0.0005)


def test_every_tensor_has_the_bytes_of_its_format() -> None:
    """One tensor after the other in 16 bit: only its ports move less, velocities' apart."""
    ports = {
        "maps": {"fp map_in", "fp map_out", "fp state_out", "dp state_in", "ku map_in"},
        "deltas": {"dp delta_in", "dp delta_out", "ku delta_in"},
        "kernels": {
            "fp kernel", "fp bias", "dp kernel", "ku kernel", "ku bias", "ku kernel_out",
            "ku bias_out",
        },
        "gradients": set(),
    }  # fmt: skip
    count = Count(name="all", state="32")
    plain = convolutions(count=count)
    for tensor in TENSORS:
        storage = Storage(**(dict.fromkeys(TENSORS, BINARY32) | {tensor: BINARY16}))
        narrow = convolutions(replace(ALEXNET, storage=storage), count)
        changed = set()
        for phase in PHASES:
            old, new = total(plain, phase), total(narrow, phase)
            assert (2 if tensor == "gradients" else 1) * new.momentum == old.momentum
            for port, moved in new.streams.items():
                assert moved in (old.streams[port], old.streams[port] // 2)
                changed |= {f"{phase} {port}"} if moved != old.streams[port] else set()
        assert changed == ports[tensor]


def test_an_image_in_bytes_is_read_as_such_by_the_first_layer_alone() -> None:
    """FP and KU of conv1; 1.715 MB/GFlop where 1.954 were."""
    image = Storage(**dict.fromkeys(TENSORS, BINARY32), image=ByteImage())
    count = Count(name="all", state="pooled")
    network = replace(ALEXNET, storage=image)
    plain, narrow = convolutions(count=count), convolutions(network, count)
    changed = {
        (old.layer.name, phase, port): (before.streams[port], count)
        for old, new in zip(plain, narrow, strict=True)
        for phase in PHASES
        for before, after in zip(old.phases(phase), new.phases(phase), strict=True)
        for port, count in after.streams.items()
        if count != before.streams[port]
    }
    elements = 128 * 3 * 224 * 224
    assert changed == {
        ("conv1", phase, "map_in"): (4 * elements, elements) for phase in ("fp", "ku")
    }
    assert total(narrow, "step").mb_per_gflop == pytest.approx(1.715, abs=0.0005)
    assert not published.is_papers_network(network)


def test_partial_sums_keep_the_bytes_of_the_arithmetic() -> None:
    """One input map a pass (memory of bytes): maps out are the narrow ones and wide sums."""
    network = replace(by_hand(), storage=NARROW)
    count = Count(name="board", memory_bytes=4 * 46)
    first, last = network_traffic(network, 3, count)
    assert first.fp.streams["map_in"] == 2 * 2 * X
    assert first.fp.streams["map_out"] == 2 * YP + 4 * 2 * Y
    assert last.dp is not None
    plain = network_traffic(by_hand(), 3, count)[1].dp
    assert plain is not None
    sums = plain.streams["delta_out"] - 4 * Y  # its own delta is that of Y sums
    assert last.dp.streams["delta_out"] == 2 * Y + sums


def test_the_paper_is_quoted_for_binary32_alone() -> None:
    for tensor in TENSORS:
        storage = Storage(**(dict.fromkeys(TENSORS, BINARY32) | {tensor: BINARY16}))
        assert not published.is_papers_network(replace(ALEXNET, storage=storage))
    assert not published.is_papers_network(replace(ALEXNET, numbers=BINARY16))


def test_tiles_of_another_tool() -> None:
    """nn_dataflow, 640,000 bytes, padded maps, kernels counted, pooling not fused."""
    found = []
    for layer in ALEXNET.layers[1:5]:
        shape = layer.shape
        side = shape.rows + 2 * shape.pad
        x, y = shape.n * side**2 * 128, shape.m * shape.out_rows**2 * 128

        def cost(t: Tiling, x: int = x, y: int = y) -> int:
            return t.outputs * x + (2 * t.inputs - 1) * y

        tiling = best_tiling(
            where="t", inputs=shape.n, outputs=shape.m, k=shape.k, columns=side, words=160_000,
            cost=cost,
        )  # fmt: skip
        words = cost(tiling) + shape.n * shape.m * shape.k**2
        found.append(words * 4 / (2 * shape.macs(128)) * 1e3)
    assert found == pytest.approx([3.336, 5.008, 5.873, 5.873], abs=0.0005)


def test_tiling_equals_an_exhaustive_search() -> None:
    for words in (30, 47, 80, 150, 151, 400, 2000):
        for inputs, outputs in ((1, 1), (5, 9), (12, 7)):
            costs = [
                7 * -(-outputs // b) + 11 * -(-inputs // a)
                for a in range(1, inputs + 1)
                for b in range(1, outputs + 1)
                if a * b * 9 + a * 3 * 6 + b <= words
            ]
            tiling = best_tiling(
                where="t", inputs=inputs, outputs=outputs, k=3, columns=6, words=words,
                cost=lambda t: 7 * t.outputs + 11 * t.inputs,
            )  # fmt: skip
            assert 7 * tiling.outputs + 11 * tiling.inputs == min(costs)


def test_board_is_full_where_everything_fits() -> None:
    for state in ("32", "1", "pooled"):
        full = streams(Count(name="all", state=state))
        assert streams(Count(name="board", state=state, memory_bytes=10_000)) == full


def test_board_cuts_into_passes() -> None:
    first, _, delta, update, _ = streams(Count(name="board", memory_bytes=4 * 60))
    # FP: both input maps, one output map a pass: 2*9 + 2*18 + 1 = 55 words
    assert first == {"map_in": 3 * X, "map_out": YP, "kernel": W, "bias": 6, "state_out": Y}
    # DP of the second layer: all 4 maps in, 11 of 36 out: 4*11 + 4 + 11 = 59 words
    assert (delta["delta_in"], delta["delta_out"]) == (4 * 12, Y)
    # KU: one input map, all 3 output maps: 3*9 + 18 + 3 = 48 words, delta read twice
    assert (update["map_in"], update["delta_in"]) == (X, 2 * Y)
    # one input map a pass: the sums go out and in again, the second pass pools
    first, *_ = streams(Count(name="board", memory_bytes=4 * 46))
    assert (first["map_in"], first["map_out"]) == (2 * X, YP + 2 * Y)


def test_board_reads_state_as_often_as_the_delta_it_expands() -> None:
    first, second = by_hand().layers
    second = Layer(name="conv2", kind="conv", shape=Shape(n=6, m=4, k=3, rows=2, columns=3, pad=1))
    network = Network(name="t", input=(5, 6, 4), layers=(first, second))
    count = Count(name="board", state="pooled", memory_bytes=4 * 70)
    one, two = network_traffic(network, 3, count)
    assert two.dp is not None
    state, mask = 2 * -(-3 * YP // 2 // 8), -(-4 * 6 * 3 // 8)
    # KU: 1 of 2 input maps, all 3 output maps: 3*9 + 18 + 3 = 48 words
    assert one.ku.streams["delta_in"] == 2 * 4 * YP
    assert one.ku.streams["state_in"] == 2 * state
    # DP: 2 of 4 delta maps, 2 of 6 maps out: 2*9 + 2*2*9 + 2 = 56 words
    assert two.dp.streams["delta_in"] == 3 * 4 * 72
    assert two.dp.streams["delta_out"] == 2 * 4 * YP + 4 * YP
    assert two.dp.streams["state_in"] == 3 * mask


def test_board_holds_rows_of_the_delta_for_dp() -> None:
    """A strided layer has shorter rows of delta than of input; DP needs those on chip."""
    first = Shape(n=1, m=1, k=1, rows=7, columns=9)
    second = Shape(n=1, m=1, k=3, rows=7, columns=9, stride=2)
    layers = (
        Layer(name="conv1", kind="conv", shape=first),
        Layer(name="conv2", kind="conv", shape=second),
    )
    network = Network(name="t", input=(7, 9, 1), layers=layers)
    with pytest.raises(BadInput, match="at least 37 words"):  # FP: 9 + 3*9 + 1
        network_traffic(network, 1, Count(name="board", memory_bytes=4 * 36))
    count = _Counted(network, 1, Count(name="board", memory_bytes=4 * 22))
    assert count.delta(layers[1]).streams["delta_in"] == 4 * 12  # 9 + 3*4 + 1


def test_a_memory_below_one_tile_is_refused() -> None:
    with pytest.raises(BadInput) as error:
        network_traffic(by_hand(), 3, Count(name="board", memory_bytes=4 * 27))
    assert str(error.value) == (
        "layer conv1: on-chip memory of 27 words: must be at least 28 words, "
        "for one map in and one map out"
    )


def test_a_count_is_checked() -> None:
    with pytest.raises(ValueError, match=r"^name must be one of maps, all, board, not 'fill'$"):
        Count(name="fill")
    with pytest.raises(ValueError, match=r"^state must be one of 32, 1, pooled, not '8'$"):
        Count(state="8")
    with pytest.raises(ValueError, match=r"^memory_bytes must be at least 1, not 0$"):
        Count(memory_bytes=0)


def test_words_of_one_pass() -> None:
    shape = ALEXNET.layer("conv2").shape
    assert port_words(shape, 2) == {
        "map_in": 2 * 48 * 27 * 27, "map_out": 2 * 128 * 13 * 13, "kernel": 48 * 128 * 25,
        "bias": 128,
    }  # fmt: skip


def test_no_operations_have_no_ratio() -> None:
    assert total([], "fp").mb_per_gflop is None


def test_vgg16_answers_within_50_ms() -> None:
    network = open_network("vgg16")
    start = time.process_time()
    for name in ("maps", "all", "board"):
        network_traffic(network, 128, Count(name=name))
    assert time.process_time() - start < 0.05
