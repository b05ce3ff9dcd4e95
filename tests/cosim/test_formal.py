"""Every stream that a block drives holds until it is taken: proofs, and proofs that must fail."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.block.formal import Claim, Proof, prove, stream_claim
from merp.cosim.machines.cnn_merp.phases.backward import backward_top
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.ports.deltas import DilateConfig
from merp.hdl.cnn_merp.super_layer.partial_writer import partial_writer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, ResultBeat
from merp.hdl.cnn_merp.update_unit.parameter_writer import parameter_writer
from merp.hdl.cnn_merp.update_unit.update_ports import Leaving, ParameterStreams, RunEnd
from merp.hdl.cnn_merp.upsampling.dilater import dilater
from merp.hdl.streams.bit_packer import bit_packer
from merp.hdl.streams.bit_string import BitString
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.head import Head
from merp.hdl.streams.serializer import serializer
from merp.hdl.streams.stream_fork import stream_fork
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.block.trace import flatten
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS
from merp.testbenches.top.top import Top
from needed_tools import needs

pytestmark = needs("yosys", "z3")
WIDTH = 8
# The solver follows every bit; no handshake depends on the width of numbers.
DESIGN = replace(ELABORATIONS[4], fmt=FloatFormat(3, 2))
PARTIAL = replace(DESIGN, partial=True)
SOURCE = stream_claim("source")
Plant = tuple[str, str]


def flags(*names: str) -> dict[str, Any]:
    return {name: flag() for name in names}


def of_serializer() -> tuple[Proof, Plant]:
    lanes = 3
    args = flags("clk", "rst", "start", "sent")
    args |= {"beat": Head(lanes * WIDTH + 3), "source": Stream(WIDTH)}
    return Proof(serializer, args | {"width": WIDTH, "lanes": lanes}, [SOURCE]), (
        "if (left != 2'd0 && source_ready) begin",
        "if (left != 2'd0) begin",
    )


def of_credit_fifo() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "push", "head_valid", "take", "credit")
    args |= {"data": bits(WIDTH), "head": bits(WIDTH), "words": 4}
    return Proof(credit_fifo, args, [Claim("head_valid", "take", ("head",))]), (
        "(take || !head_valid)",
        "1'b1",
    )


def of_partial_writer() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "start", "raw", "permit", "sent")
    args |= {"step": BeatStep(PARTIAL), "beat": ResultBeat(PARTIAL), "design": PARTIAL}
    args |= {"source": Stream(PARTIAL.partial_width)}
    return Proof(partial_writer, args, [SOURCE]), (
        "if (left != 1'd0 && source_ready) begin",
        "if (left != 1'd0) begin",
    )


def of_parameter_writer() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "start", "credit")
    args |= {"leaving": Leaving(WIDTH, 1), "end": RunEnd(), "words": 4}
    args |= {"source": ParameterStreams(Stream(WIDTH), Stream(WIDTH))}
    claims = [stream_claim("source_kernel"), stream_claim("source_bias")]
    return Proof(parameter_writer, args, claims), (
        "!head[8] && source_kernel_ready",
        "!head[8]",
    )


def of_bit_packer() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "start", "sent")
    args |= {"string": BitString(6), "source": Stream(WIDTH)}
    proof = Proof(
        bit_packer,
        args,
        [SOURCE],
        assumed=[
            "!string_push || string_room",
            "string_size <= 6",
            "(string_value >> string_size) == 0",
            "!string_push || string_size != 0",
        ],
        invariants=["(gathered >> fill) == 0", "fill <= 21"],
    )
    return proof, ("if (source_valid && source_ready) begin", "if (source_valid) begin")


def of_stream_fork() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "start")
    args |= {name: Stream(WIDTH) for name in ("sink", "one", "other")}
    proof = Proof(
        stream_fork,
        args | {"words": 4},
        [stream_claim("one"), stream_claim("other")],
        given=[stream_claim("sink")],
        assumed=["!start || !(one_valid || other_valid)"],
    )
    return proof, ("branch_1_take = other_ready", "branch_1_take = one_ready")


def of_dilater() -> tuple[Proof, Plant]:
    args = flags("clk", "rst", "start", "framing_error")
    args |= {"config": DilateConfig(DESIGN), "design": DESIGN}
    args |= {"sink": Stream(DESIGN.fmt.width), "source": Stream(DESIGN.fmt.width)}
    proof = Proof(
        dilater,
        args,
        [SOURCE],
        given=[stream_claim("sink")],
        constant=list(flatten({"config": args["config"]})),
        assumed=["!start || !source_valid"],
    )
    return proof, ("active && source_ready && (sink_valid || !passes)", "active")


BUS = [
    Claim("s_axi_bvalid", "s_axi_bready", ("s_axi_bresp",)),
    Claim("s_axi_rvalid", "s_axi_rready", ("s_axi_rdata", "s_axi_rresp")),
]
FAULTY_READ = ("read_held && !s_axi_rvalid", "read_held")


def of_axi_lite() -> tuple[Proof, Plant]:
    args = flags("clk", "rst")
    args |= {"s_axi": AxiLite(), "write": RegisterWrite(), "read": RegisterRead()}
    args |= {"words": 60, "first_writable": 4, "last_writable": 40}
    return Proof(axi_lite, args, BUS), FAULTY_READ


PROOFS: dict[str, Callable[[], tuple[Proof, Plant]]] = {
    "serializer": of_serializer,
    "credit_fifo": of_credit_fifo,
    "parameter_writer": of_parameter_writer,
    "partial_writer": of_partial_writer,
    "bit_packer": of_bit_packer,
    "stream_fork": of_stream_fork,
    "dilater": of_dilater,
    "axi_lite": of_axi_lite,
}


def axi_claim(stream: str) -> Claim:
    return Claim(f"{stream}_tvalid", f"{stream}_tready", (f"{stream}_tdata", f"{stream}_tlast"))


UNDONE = UnpoolDesign(
    fmt=DESIGN.fmt,
    window=2,
    overlap=1,
    words=8,
    max_size=8,
    max_maps=4,
    max_images=4,
    add_latency=1,
    mul_latency=1,
)
SHELLS: dict[str, tuple[tuple[str, ...], Callable[[], Top]]] = {
    "fp": (("m_axis_map",), lambda: forward_top(DESIGN)),
    "dp": (("m_axis_delta",), lambda: delta_top(DeltaDesign(DESIGN, UNDONE, False))),
    "ku": (("m_axis_kernel",), lambda: kernel_update_top(DESIGN)),
    "bp": (
        ("m_axis_delta", "m_axis_kernel", "m_axis_bias"),
        lambda: backward_top(BackwardDesign(DESIGN, DESIGN, UNDONE)),
    ),
}
"""Streams that leave each engine, and what makes it."""


@pytest.mark.parametrize("block", PROOFS)
def test_streams_hold_until_they_are_taken(block: str, tmp_path: Path) -> None:
    proof, plant = PROOFS[block]()
    verdict, printed = prove(proof, tmp_path / "sound")
    assert verdict == "PASS", printed
    verdict, printed = prove(proof, tmp_path / "broken", plant)
    assert verdict == "FAIL", printed


@pytest.mark.full
@pytest.mark.parametrize("phase", SHELLS)
def test_whole_shells_hold_what_they_offer(phase: str, tmp_path: Path) -> None:
    streams, made = SHELLS[phase]
    top = axi_top(made())
    own = [axi_claim(stream) for stream in streams]
    # An abort resets the engine alone: the bus holds what it offers all the same.
    bus = [replace(each, reset="rst") for each in BUS]
    proof = Proof(
        top.function, top.args, [*own, *bus], depth=8, reset="engine_rst", opening="!aresetn"
    )
    verdict, printed = prove(proof, tmp_path / "sound")
    assert verdict == "PASS", printed
    verdict, printed = prove(proof, tmp_path / "broken", FAULTY_READ)
    assert verdict == "FAIL", printed


@pytest.mark.full
def test_partial_sums_hold_in_the_whole_engine(tmp_path: Path) -> None:
    """A broken copy fails with their block alone."""
    top, stream = forward_top(PARTIAL), "m_axis_partial"
    proof = Proof(top.function, top.args, [axi_claim(stream)], depth=8)
    verdict, printed = prove(proof, tmp_path)
    assert verdict == "PASS", printed
