"""Lower bounds, rooflines, reconfiguration, throughput, and what lies below the paper."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from merp.models.cnn_merp.cycles import layer_cycles, network_cycles
from merp.models.cnn_merp.published_speed import (
    IMPLEMENTATIONS,
    RECONFIGURATION,
    WORKS,
    attainable_tops,
)
from merp.models.cnn_merp.reconfiguration import (
    MAX_BATCH,
    bitstreams,
    least_batch,
    load_seconds,
    passes,
)
from merp.models.cnn_merp.roofline import point
from merp.models.cnn_merp.throughput import forward_throughput, with_cus
from merp.models.errors import BadInput
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import PARTS
from merp.models.network.phases import PHASES
from merp.models.params.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.params.storage import Storage
from merp.models.traffic.bounds import lower_bound, on_chip_words
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.footing import XC7K325T_BYTES, Footing
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


def test_no_footing_moves_less_than_what_is_compulsory() -> None:
    for footing in (Footing(name="full", state="pooled"), Footing(name="board", state="pooled")):
        for each in network_traffic(ALEXNET, 128, footing):
            for name in PHASES:
                bound = lower_bound(ALEXNET, each.layer, name, 128, 1 << 20)
                assert all(phase.bytes >= bound.fused for phase in each.phases(name))


def test_roofline_says_what_binds() -> None:
    cycles = layer_cycles(ALEXNET, ALEXNET.layer("conv2"), "fp", 128)
    assert cycles is not None
    fast = point(cycles, 60_000_000, 137.0, 19.2)
    assert fast.peak == pytest.approx(109.6)
    assert fast.attainable == fast.compute == pytest.approx(109.1, abs=0.05)
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


def test_each_variant_changes_one_thing() -> None:
    steps = {
        each.name: total([x for x in each.layers if x.layer.kind == "conv"], "step")
        for each in variants(ALEXNET, 128)
    }
    base = steps["base"]
    assert steps["masks"].mb_per_gflop == pytest.approx(2.957, abs=0.0005)
    assert steps["pooled deltas"].mb_per_gflop == pytest.approx(1.954, abs=0.0005)
    deltas = sum(4 * 128 * layer.sums for layer in CONVOLUTIONS[1:])
    assert base.bytes - steps["one read of delta"].bytes == deltas
    images = 2 * 4 * 128 * CONVOLUTIONS[0].inputs  # read in FP and in KU
    assert base.bytes - steps["8-bit images"].bytes == images * 3 // 4
    kept = sum(base.streams[port] for port in ("kernel", "bias", "kernel_out", "bias_out"))
    assert steps["16-bit maps"].bytes - kept == (base.bytes - kept) // 2


def test_a_network_that_is_stored_is_a_variant_of_what_it_computes() -> None:
    storage = Storage(maps=BFLOAT16, deltas=BINARY32, kernels=BINARY16, gradients=BINARY32)
    network = replace(ALEXNET, storage=storage)
    plain, stored = variants(ALEXNET, 2), variants(network, 2)
    assert stored[:-1] == plain[:-1]
    assert (plain[-1].name, stored[-1].name) == ("16-bit maps", "as stored")
    assert stored[-1].what == "maps bfloat16, deltas binary32, kernels binary16, gradients binary32"
    assert stored[-1].layers == network_traffic(network, 2, Footing(name="full", state="32"))
    half = variants(replace(ALEXNET, fmt=BINARY16), 2)
    assert half[-1].layers == half[0].layers


def test_parts() -> None:
    assert part_named("xc7k325t").memory_bytes == XC7K325T_BYTES
    with pytest.raises(BadInput, match=r"--part xc7k32t: allowed are .*did you mean xc7k325t"):
        part_named("xc7k32t")
    assert part_named("xc7k325tffg900-2L").order_code == "xc7k325tffg900-2L"
    with pytest.raises(BadInput, match=r"xc7k325tffg900: allowed are"):
        part_named("xc7k325tffg900")


def test_cycles_cover_every_pass() -> None:
    assert len(list(network_cycles(ALEXNET, 1))) == len(passes(ALEXNET))
