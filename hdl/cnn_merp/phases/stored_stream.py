"""Conversion between the format of elements in memory and the wider format of the arithmetic.

An element is widened exactly at the input, and rounded once at the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.byte_value import byte_value
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.arithmetic.fp_widen import fp_widen
from merp.hdl.base.interface import DesignPorts
from merp.hdl.base.signals import AxiStream, bits
from merp.hdl.conversion.entity import Word, entity
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import stored_format


def inside(
    ports: DesignPorts[Any], phase: str, design: EngineDesign, names: Sequence[str]
) -> tuple[dict[str, AxiStream], list[Any]]:
    """Return the streams of elements in the format of the arithmetic, by port.

    If memory has elements of the same format, the stream is the port itself. Otherwise the
    converter between port and stream is returned, too, in the order of ``names``.

    Args:
        ports: ports of the engine.
        phase: phase of the ports.
        design: design whose elements they carry.
        names: names of the ports; names that the engine does not have are left out.
    """
    words = {stream: name for name, stream in ports.counted.items()}
    found: dict[str, AxiStream] = {}
    borders = []
    for name in names:
        if not ports.has(name):
            continue
        port, stored = vars(ports)[name], stored_format(phase, words[name], design)
        if stored is None or stored == design.fmt:
            found[name] = port
            continue
        own = found[name] = AxiStream(design.fmt.width, port.lanes)
        sink, source = (port, own) if name in ports.sinks else (own, port)
        borders.append(stored_stream(sink=sink, source=source, stored=stored, fmt=design.fmt))
    return found, borders


@block
def _counted(given: Word, keep: Word, lanes: int) -> Any:
    """Return a bit for each byte of the elements of a beat, if their widths differ.

    All bits of an element are equal.
    """
    given_bytes, keep_bytes = len(given) // lanes, len(keep) // lanes

    @always_comb
    def spread() -> None:
        for i in range(lanes * keep_bytes):
            keep.next[i] = given[(i // keep_bytes) * given_bytes]

    return spread


@entity
def stored_stream(
    sink: AxiStream, source: AxiStream, stored: StoredFormat, fmt: FloatFormat
) -> Any:
    """Convert the elements of a stream between the stored format and the format of the arithmetic.

    sink    in   elements of either format
    source  out  the same elements in the other format, wider or rounded to nearest even

    tkeep has a bit per byte of the elements of its side. Valid and ready pass through. Latency:
    combinational. Throughput: a beat per cycle. Reset: none.
    """
    lanes = sink.lanes
    given, wanted = len(sink.tdata) // lanes, len(source.tdata) // lanes
    inward = given < wanted
    words = [bits(wanted) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(words)) if lanes > 1 else words[0]
    kept: Any = ()
    if sink.tkeep is not None:
        kept = _counted(given=sink.tkeep, keep=source.tkeep, lanes=lanes)

    @always_comb
    def hand_on() -> None:
        source.tdata.next = joined
        source.tvalid.next = sink.tvalid
        source.tlast.next = sink.tlast
        sink.tready.next = source.tready

    elements = [sink.tdata((lane + 1) * given, lane * given) for lane in range(lanes)]
    if isinstance(stored, ByteImage):
        values = stored.words(fmt)
        units = [
            byte_value(a=elements[lane], y=words[lane], values=values) for lane in range(lanes)
        ]
    elif inward:
        units = [
            fp_widen(a=elements[lane], y=words[lane], fmt=stored, target=fmt)
            for lane in range(lanes)
        ]
    else:
        units = [
            fp_convert(None, a=elements[lane], y=words[lane], fmt=fmt, target=stored)
            for lane in range(lanes)
        ]
    return kept, hand_on, units
