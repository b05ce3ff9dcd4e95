"""Blocks that no shipped design has, with arguments for the tables of their ports.

``make block`` adds its block at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from merp.hdl.arithmetic.byte_value import byte_value
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.arithmetic.fp_widen import fp_widen
from merp.hdl.arithmetic.leaky_relu import leaky_relu
from merp.hdl.arithmetic.low_product import low_product
from merp.hdl.base.signals import AxiStream, Bundles, Stream, beats, bits, count, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.cnn_merp.phases.stored_stream import stored_stream
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.leak_beats import leak_beats
from merp.hdl.cnn_merp.upsampling.unpool_leak import unpool_leak
from merp.hdl.cnn_merp.upsampling.unpool_ports import OfferedWord
from merp.hdl.cnn_merp.upsampling.unpool_scale import unpool_scale
from merp.hdl.fused.fused_element import fused_element
from merp.hdl.mac_array.map_buffer.region_rotator import region_rotator
from merp.hdl.memory.bitstream_loader import BitstreamLoad, IcapPins, bitstream_loader
from merp.hdl.memory.last_started import last_started
from merp.hdl.memory.read_switch import read_switch
from merp.hdl.memory.write_switch import write_switch
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat
from merp.models.base.fused import OPERAND_BITS
from merp.models.base.tap_line import TapLine
from merp.models.machines.cnn_merp.phases import delta_design
from merp.tools.common.shipped import open_network


def blocks_alone() -> Iterator[tuple[Callable[..., Any], dict[str, Any], str]]:
    """Yield each block, its arguments, and a phrase for its widths."""
    wide = FloatFormat(BINARY32.exp_bits, BINARY32.frac_bits + 4)
    args = {"clk": flag(), "a": bits(wide.width), "y": bits(BINARY32.width)}
    yield fp_convert, args | {"fmt": wide, "target": BINARY32}, "36 bits to 32"
    args = {"a": bits(BINARY16.width), "y": bits(BINARY32.width)}
    yield fp_widen, args | {"fmt": BINARY16, "target": BINARY32}, "binary16 to binary32"
    args = {"a": bits(8), "y": bits(BINARY32.width), "values": ByteImage().words(BINARY32)}
    yield byte_value, args, "a byte to binary32"
    streams = {"sink": AxiStream(BINARY16.width, 4), "source": AxiStream(BINARY32.width, 4)}
    formats = {"stored": BINARY16, "fmt": BINARY32}
    yield stored_stream, streams | formats, "4 elements, binary16 to binary32"
    args = {"clk": flag(), "operand": bits(OPERAND_BITS + 1), "element": bits(BINARY32.width)}
    yield fused_element, args, "the sign above"
    yield low_product, {"a": bits(24), "b": bits(8), "y": bits(32)}, "24 bits times 8"
    line = TapLine(k=3, width=16, lanes=4, max_step=8, max_columns=32)
    args = {name: flag() for name in ("clk", "start", "advance")}
    args |= {"sink": bits(line.beat_width), "window": bits(line.window_width), "params": line}
    args |= {"columns": count(line.max_columns), "step": count(line.max_step)}
    yield tap_line, args, "4 elements of 16 bits a beat, up to 8 beats a column"
    args = {"x": bits(128), "shift": bits(3), "level": bits(2), "y": bits(128)}
    yield region_rotator, args | {"places": 8, "width": 16}, "8 words of 16 bits"
    network = open_network("digits")
    unpool = delta_design(network, network.layer("conv2")).unpool
    ports = ("clk", "rst", "average", "valid", "ready")
    words = ("scale", "data")
    signals = {name: flag() for name in ports} | {name: bits(BINARY32.width) for name in words}
    averaging = replace(unpool, average=True)
    signals |= {"word": OfferedWord(averaging), "design": averaging}
    yield unpool_scale, signals, "digits, averages"
    leaking = replace(unpool, leaky=True)
    config = UnpoolConfig(leaking)
    signals = {name: flag() for name in ("clk", "rst", "valid", "ready")}
    signals |= {name: bits(BINARY32.width) for name in ("data", "masked")}
    signals |= {"config": config, "word": OfferedWord(leaking), "design": leaking}
    yield unpool_leak, signals, "digits, leaky ReLU"
    beat = Stream(4 * BINARY32.width)
    beat.keep = bits(4)
    signals = {"clk": flag(), "clear": flag(), "config": config, "design": leaking}
    signals |= {"sink": beat, "source": beats(beat), "masked": bits(len(beat.data))}
    yield leak_beats, signals, "4 elements a beat"
    signals = {name: bits(BINARY32.width) for name in ("slope", "x", "rectified", "y")}
    signals |= {"clk": flag(), "leaky": flag(), "fmt": BINARY32, "latency": 3}
    yield leaky_relu, signals, "binary32"
    for switch in (read_switch, write_switch):
        engines = Bundles({f"e{number}": Stream(32) for number in (0, 2)})
        args = {"selected": bits(2), "stream": Stream(32), "engines": engines, "numbers": (0, 2)}
        yield switch, args, "engines 0 and 2 of three, words of 32 bits"
    args = {name: flag() for name in ("clk", "rst")} | {"begins": bits(3), "selected": bits(2)}
    yield last_started, args, "three engines"
    args = {name: flag() for name in ("clk", "rst", "idle", "busy")} | {"icap": IcapPins()}
    args |= {"load": BitstreamLoad(flag(), bits(32))}
    yield bitstream_loader, args, "words of 32 bits"
