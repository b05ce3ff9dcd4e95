"""The border of an engine where elements lie in memory in a narrower format than its arithmetic's.

An element is widened exactly when it comes in, and rounded once when it leaves.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.byte_value import byte_value
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.arithmetic.fp_widen import fp_widen
from merp.hdl.base.signals import AxiStream, bits
from merp.hdl.conversion.entity import Word, entity
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat


def inside(port: Any, stored: StoredFormat, fmt: FloatFormat) -> Any:
    """The stream of elements of ``fmt`` behind a port, which is the port where they lie so."""
    return port if port is None or stored == fmt else AxiStream(fmt.width, port.lanes)


@block
def _counted(given: Word, keep: Word, lanes: int) -> Any:
    """A bit for each byte of a beat's elements, where these have other bytes: all of an element."""
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
    """Convert the elements of a stream between the stored format and that of the arithmetic.

    sink    in   elements of either format
    source  out  the same elements in the other one, wider or rounded to nearest even

    tkeep has a bit per byte of the elements of its side. Valid and ready pass through.
    Latency: combinational. Throughput: a beat per cycle. Reset: none.
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
