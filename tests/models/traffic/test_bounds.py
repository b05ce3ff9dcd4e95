"""Lower bounds, rooflines, reconfiguration, throughput, and what lies below the paper."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest

from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.storage import Storage
from merp.models.fpga.configuration import load_seconds
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import PARTS
from merp.models.machines.cnn_merp.cycles import layer_cycles, network_cycles
from merp.models.machines.cnn_merp.published_speed import (
    IMPLEMENTATIONS,
    RECONFIGURATION,
    WORKS,
    attainable_tops,
)
from merp.models.machines.cnn_merp.reconfiguration import MAX_BATCH, bitstreams, least_batch, passes
from merp.models.machines.cnn_merp.roofline import point
from merp.models.machines.cnn_merp.throughput import forward_throughput, with_cus
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.traffic.bounds import lower_bound, on_chip_words
from merp.models.traffic.closed_form import PhaseTraffic, network_traffic, total
from merp.models.traffic.count import XC7K325T_BYTES, Count, state_bits
from merp.models.traffic.variants import variants
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
CONVOLUTIONS = [layer for layer in ALEXNET.layers if layer.kind == "conv"]
K325T = PARTS["xc7k325t"]


def test_compulsory_traffic_binds_in_all_layers_of_the_paper() -> None:
    for layer in CONVOLUTIONS:
        for phase in PHASES:
            bound = lower_bound(ALEXNET, layer, phase, 128, on_chip_words(layer))
            assert bound.binding == "compulsory"
            assert bound.operands == 4 * (128 * (layer.inputs + layer.sums) + layer.kernels)
            assert bound.fused == 4 * (128 * (layer.inputs + layer.outputs) + layer.kernels)


def test_a_small_memory_lets_the_communication_term_bind() -> None:
    conv3 = ALEXNET.layer("conv3")
    macs, words = conv3.shape.macs(128), 4096
    bound = lower_bound(ALEXNET, conv3, "fp", 128, words)
    assert bound.binding == "communication"
    assert bound.communication == 4 * max(
        2 * macs / (3 * sqrt(words)) - 2 * words, 9 / 4 * macs / words - words
    )
    least = lower_bound(ALEXNET, conv3, "fp", 128, 9).communication
    assert least == 4 * (9 / 4 * macs / 9 - 9)


def test_bounds_take_each_operand_as_it_is_stored() -> None:
    """Deltas of two bytes: the term of the memory counts no operand as wider than any."""
    storage = Storage(maps=BINARY32, deltas=BFLOAT16, kernels=BINARY32, gradients=BINARY32)
    network, conv3 = replace(ALEXNET, storage=storage), ALEXNET.layer("conv3")
    x, y, w = 128 * conv3.inputs, 128 * conv3.sums, conv3.kernels
    fp, dp, ku = (lower_bound(network, conv3, phase, 128, 4096) for phase in PHASES)
    plain = lower_bound(ALEXNET, conv3, "fp", 128, 4096)
    assert fp == plain
    assert (dp.operands, ku.operands) == (2 * (x + y) + 4 * w, 4 * x + 2 * y + 4 * w)
    assert dp.communication == ku.communication == plain.communication / 2


def test_no_count_moves_less_than_what_is_compulsory() -> None:
    for count in (Count(name="all", state="pooled"), Count(name="board", state="pooled")):
        for each in network_traffic(ALEXNET, 128, count):
            for name in PHASES:
                bound = lower_bound(ALEXNET, each.layer, name, 128, 1 << 20)
                assert all(phase.bytes >= bound.fused for phase in each.phases(name))


def test_roofline_says_what_binds() -> None:
    cycles = layer_cycles(ALEXNET, ALEXNET.layer("conv2"), "fp", 128)
    assert cycles is not None
    fast = point(cycles, 60_000_000, 137.0, 19.2)
    assert fast.peak == pytest.approx(109.6)
    assert fast.attainable == fast.compute == pytest.approx(109.47, abs=0.005)
    assert fast.bound == "compute"
    slow = point(cycles, 60_000_000, 137.0, 0.1)
    assert slow.attainable == slow.memory == pytest.approx(0.1 * cycles.operations / 6e7)
    assert slow.bound == "memory"
    vgg = open_network("vgg16")
    first = layer_cycles(vgg, vgg.layer("conv1_1"), "fp", 2)
    assert first is not None
    assert point(first, 1_000, 137.0, 19.2).bound == "output port"


def test_reconfiguration_of_the_paper() -> None:
    seconds = load_seconds(K325T.configuration_bits)
    assert seconds == pytest.approx(RECONFIGURATION["seconds"], abs=0.0005)
    share = seconds / (seconds + RECONFIGURATION["layer_seconds"])
    assert share == pytest.approx(RECONFIGURATION["share"], abs=0.0005)


def test_bitstreams_of_a_training_step() -> None:
    order = passes(ALEXNET)
    assert [phase for _, phase in order] == ["fp"] * 5 + ["dp"] * 4 + ["ku"] * 5
    assert bitstreams(order) == 8  # k11 k5 k3, k3 k5 backwards, k11 k5 k3
    assert bitstreams([("k3", "fp")] * 3) == 0
    assert bitstreams([]) == 0


def test_least_batch_is_the_smallest_even_one() -> None:
    assert least_batch(0.5, 10.0, lambda batch: float(batch)) == 10
    assert least_batch(0.1, 10.0, lambda batch: float(batch)) == 90
    assert least_batch(0.1, 10.0, lambda batch: 0.0) is None
    assert least_batch(1.0, 10.0, lambda batch: 0.0) == 2
    assert least_batch(0.5, float(MAX_BATCH), lambda batch: float(batch)) == MAX_BATCH


def test_published_throughputs_are_means_of_peaks() -> None:
    """What the paper prints is within a percent of the unweighted mean of its layers' peaks."""
    small, large = IMPLEMENTATIONS
    for each in (small, large):
        found = forward_throughput(with_cus(ALEXNET, each.cus), 128, each.clock_mhz)
        assert found is not None
        assert found.mean_peak == pytest.approx(each.gflops, rel=0.01)
        assert found.overall < each.gflops
    assert small.clock_mhz == K325T.clock_mhz
    assert forward_throughput(replace(ALEXNET, layers=ALEXNET.layers[5:]), 1, 137.0) is None


def test_attainable_throughput_of_figure_14() -> None:
    named = {work.name: work.mb_per_gop for work in WORKS}
    assert attainable_tops(named["CNN-MERP"], 19.2) == pytest.approx(9.90, abs=0.005)
    assert attainable_tops(named["ICCD 2013 [18]"], 19.2) == pytest.approx(5.37, abs=0.01)
    below = [name for name, mb in named.items() if attainable_tops(mb, 19.2) < 1]
    assert below == ["FPGA 2015 [9]", "NeuFlow [10]", "nn-X [11]"]  # "three works"


def steps_of(network: Network, images: int, pair: tuple[str, ...] = ()) -> dict[str, PhaseTraffic]:
    """Of the convolutions, by what is other than in the paper."""
    return {
        each.name: total([x for x in each.layers if x.layer.kind == "conv"], "step")
        for each in variants(network, images, pair)
    }


def test_steps_below_the_paper_by_the_formula_of_the_ports() -> None:
    found = {name: step.mb_per_gflop for name, step in steps_of(ALEXNET, 128).items()}
    narrow = "16-bit maps"
    assert found == pytest.approx(
        {
            "base": 4.076,
            "masks": 2.957,
            "pooled deltas": 1.954,
            "pooled deltas + one pass": 1.729,
            "pooled deltas + 8-bit images": 1.715,
            "pooled deltas + one pass + 8-bit images": 1.491,
            f"pooled deltas + {narrow}": 1.046,
            f"pooled deltas + one pass + {narrow}": 0.918,
            f"pooled deltas + 8-bit images + {narrow}": 0.967,
            f"pooled deltas + one pass + 8-bit images + {narrow}": 0.838,
        },
        abs=0.0006,
    )


def test_each_change_saves_the_same_whatever_else_is_changed() -> None:
    """Of bytes of their own: what both phases read, images, and halves of maps and deltas."""
    found = {name: step.bytes for name, step in steps_of(ALEXNET, 128).items()}
    both_read = found["pooled deltas"] - found["pooled deltas + one pass"]
    images = 2 * 3 * 128 * CONVOLUTIONS[0].inputs  # three bytes of four, in FP and in KU
    for name in ("pooled deltas", "pooled deltas + one pass"):
        assert found[name] - found[f"{name} + 8-bit images"] == images
    of_images = "pooled deltas + 8-bit images", "pooled deltas + one pass + 8-bit images"
    assert found[of_images[0]] - found[of_images[1]] == both_read
    deltas = sum(4 * 128 * layer.outputs for layer in CONVOLUTIONS[1:])
    kernels = sum(4 * layer.kernels for layer in CONVOLUTIONS[1:])
    state = sum(
        128 * each.groups * state_bits(each.shape, each.shape.m, "pooled", 32) // 8
        for each in CONVOLUTIONS[1:]
    )
    assert both_read == deltas + kernels + state


@pytest.mark.parametrize("images", [1, 128])
def test_layers_fused_in_a_step_save_what_the_second_reads(images: int) -> None:
    """The map between leaves all the same, as the way back reads it; the second's FP does not."""
    found = steps_of(ALEXNET, images, ("conv1", "conv2"))
    alone = steps_of(ALEXNET, images)
    assert {name: found[name] for name in alone} == alone
    added = [name for name in found if name not in alone]
    assert added == [f"{name} + fused layers" for name in alone if name.startswith("pooled")]
    elements = images * CONVOLUTIONS[1].inputs
    for name, step in alone.items():
        if name.startswith("pooled"):
            saved = step.bytes - found[f"{name} + fused layers"].bytes
            assert saved == elements * (2 if "16-bit" in name else 4)
    (least,) = (step for name, step in found.items() if name.count("+") == 4)
    assert images == 1 or least.mb_per_gflop == pytest.approx(0.8015, abs=0.0001)


def test_a_network_that_is_stored_is_held_against_what_it_computes() -> None:
    storage = Storage(maps=BFLOAT16, deltas=BINARY32, kernels=BINARY16, gradients=BINARY32)
    network = replace(ALEXNET, storage=storage)
    plain, stored = ({each.name: each for each in variants(some, 2)} for some in (ALEXNET, network))
    alike = [name for name in plain if "16-bit" not in name]
    assert [plain[name].layers for name in alike] == [stored[name].layers for name in alike]
    own = stored["pooled deltas + formats as stored"]
    assert own.formats == "maps bfloat16; deltas, gradients binary32; kernels binary16"
    assert own.layers == network_traffic(network, 2, Count(name="all", state="pooled"))
    assert (own.deltas, own.image, own.backward) == ("pooled", "bfloat16", "separate")
    with_bytes = replace(
        network, storage=replace(storage, image=ByteImage.of(Fraction(2), Fraction(1)))
    )
    found = {each.name: each for each in variants(with_bytes, 2)}
    fused = found["pooled deltas + one pass + 8-bit images + formats as stored"]
    assert fused.network == replace(with_bytes, backward="combined")
    assert (fused.image, fused.backward) == ("uint8", "combined")
    as_computed = replace(storage, maps=BINARY32, kernels=BINARY32)
    same = variants(replace(ALEXNET, storage=as_computed), 2)
    assert [each.name for each in same] == alike  # stored as it computes
    assert [each.name for each in variants(replace(ALEXNET, numbers=BINARY16), 2)] == alike


def test_parts() -> None:
    assert part_named("xc7k325t").memory_bytes == XC7K325T_BYTES
    with pytest.raises(BadInput, match=r"--part xc7k32t: allowed are .*did you mean xc7k325t"):
        part_named("xc7k32t")
    assert part_named("xc7k325tffg900-2L").order_code == "xc7k325tffg900-2L"
    with pytest.raises(BadInput, match=r"xc7k325tffg900: allowed are"):
        part_named("xc7k325tffg900")


def test_cycles_cover_every_pass() -> None:
    assert len(list(network_cycles(ALEXNET, 1))) == len(passes(ALEXNET))
