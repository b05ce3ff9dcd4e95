"""The engine: a walk over pixels and maps around one multiplier and one adder."""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import always, always_comb

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.arithmetic.relu import relu
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import AxiStream, bits, count, flag
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from pointwise.design import ADD, COUNTERS, MULTIPLY, STEP, TABLE, WORDS, Design

WIDTH = 40
IDLE, LOAD, PIXEL, DELTA, MULTIPLY_ADD, GIVE, KERNEL = range(7)


class Status:
    """Flags and counters of a run.

    busy           out  a run is under way
    done           out  the last word has left; until the next start
    framing_error  out  an input's last came with a wrong word; until the next start
    """

    def __init__(self, _: Design) -> None:
        self.busy, self.done, self.framing_error = flag(), flag(), flag()
        vars(self).update({name: bits(WIDTH) for name in (*(c.name for c in COUNTERS), *WORDS)})


def _stream(words: str) -> Member[Design]:
    return Member(WORDS[words], lambda design: AxiStream(design.fmt.width), words=words)


class PointwisePorts(DesignPorts[Design]):
    """Ports of the engine."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", lambda design: RegisterBundle(TABLE, design)),
        *map(_stream, WORDS),
        Member("status", Status),
    )
    WORDS = tuple(WORDS)


@entity
def pointwise(clk: Bit, rst: Bit, start: Bit, ports: PointwisePorts, design: Design) -> Any:
    """Run a 1 x 1 convolution, or the update of its kernels, one multiply-add at a time.

    start          in   pulse: a run begins; registers are stable from here to done
    s_axis_map     in   maps, pixel by pixel
    s_axis_delta   in   deltas of the sums, pixel by pixel; in kernel update alone
    s_axis_kernel  in   of each output map its bias, then its kernel elements
    m_axis_map     out  output maps, pixel by pixel; in forward propagation alone
    m_axis_kernel  out  new biases and kernel elements, in the order of the old ones

    Latency: a multiply-add takes STEP cycles; nothing else runs meanwhile. Reset: no run.
    """
    width = design.fmt.width
    config, status = ports.config, ports.status
    map_in, delta_in, kernel_in = ports.s_axis_map, ports.s_axis_delta, ports.s_axis_kernel
    map_out, kernel_out = ports.m_axis_map, ports.m_axis_kernel
    state, step = count(KERNEL), count(STEP)
    at, inner, outer = count(design.elements), count(design.inputs + 1), count(design.elements)
    pixels, first, final, finishing = bits(31), flag(), flag(), flag()
    stored, x, a, b, c, product, total, kept = (bits(width) for _ in range(8))
    held, positive, factor, one = bits(width), bits(width), bits(width), design.fmt.one
    write, write_x, data = flag(), flag(), bits(width)
    index, place = count(design.inputs), count(design.elements - 1)
    end_of_row, end_of_rows, computed = flag(), flag(), flag()

    @always_comb
    def look() -> None:
        end_of_row.next = inner == config.inputs
        end_of_rows.next = outer + 1 == config.outputs
        computed.next = state == MULTIPLY_ADD and step == STEP - 1
        map_in.tready.next = state == PIXEL
        delta_in.tready.next = state == DELTA
        kernel_in.tready.next = state == LOAD or state == KERNEL
        status.busy.next = state != IDLE

    @always_comb
    def address() -> None:
        index.next = 0
        if inner <= design.inputs:
            index.next = inner
        place.next = 0
        if at < design.elements:
            place.next = at
        write_x.next = state == PIXEL and map_in.tvalid
        write.next = (state == LOAD and kernel_in.tvalid) or (
            computed and config.update and not finishing
        )
        data.next = total
        if state == LOAD:
            data.next = kernel_in.tdata

    @always_comb
    def choose() -> None:
        # An output is a sum over its row; a gradient keeps its place in memory.
        a.next = stored
        b.next = x
        c.next = kept
        if config.update:
            a.next = held
            if inner == 0:
                b.next = one
            c.next = stored
            if first:
                c.next = 0
            if finishing:
                a.next = factor
                b.next = stored
                c.next = held

    @always_comb
    def hand_out() -> None:
        factor.next = config.rate
        map_out.tdata.next = positive
        map_out.tvalid.next = state == GIVE and not finishing
        map_out.tlast.next = final and end_of_rows
        kernel_out.tdata.next = kept
        kernel_out.tvalid.next = state == GIVE and finishing
        kernel_out.tlast.next = end_of_rows and end_of_row

    @always(clk.posedge)
    def walk() -> None:
        advance = False
        if state == LOAD and kernel_in.tvalid:
            if kernel_in.tlast != (end_of_row and end_of_rows):
                status.framing_error.next = True
            advance = True
        if state == PIXEL and map_in.tvalid:
            if map_in.tlast != (final and inner == config.inputs):
                status.framing_error.next = True
            inner.next = inner + 1
            if end_of_row:
                inner.next = 0
                state.next = MULTIPLY_ADD
                if config.update:
                    state.next = DELTA
        if state == DELTA and delta_in.tvalid:
            if delta_in.tlast != (final and end_of_rows):
                status.framing_error.next = True
            held.next = delta_in.tdata
            state.next = MULTIPLY_ADD
        if state == KERNEL and kernel_in.tvalid:
            if kernel_in.tlast != (end_of_row and end_of_rows):
                status.framing_error.next = True
            held.next = kernel_in.tdata
            state.next = MULTIPLY_ADD
        if state == MULTIPLY_ADD:
            step.next = step + 1
            if computed:
                step.next = 0
                kept.next = total
                if inner == 0 and not config.update:
                    kept.next = stored
                if finishing or (end_of_row and not config.update):
                    state.next = GIVE
                else:
                    advance = True
        if state == GIVE:
            if finishing and kernel_out.tready:
                state.next = KERNEL
                advance = True
            if not finishing and map_out.tready:
                advance = True
        if advance:
            at.next = at + 1
            inner.next = inner + 1
            if end_of_row:
                inner.next = 0
                outer.next = outer + 1
                if state != LOAD and not finishing:
                    state.next = MULTIPLY_ADD
                    if config.update:
                        state.next = DELTA
                if end_of_rows:
                    at.next = 0
                    outer.next = 0
                    inner.next = 1
                    state.next = PIXEL
                    if state != LOAD and not finishing:
                        first.next = False
                        pixels.next = pixels - 1
                        final.next = pixels == 2
                        if final:
                            inner.next = 0
                            finishing.next = True
                            state.next = KERNEL
                    if finishing or (state != LOAD and final and not config.update):
                        state.next = IDLE
                        status.done.next = True
        if state != IDLE:
            status.total.next = status.total + 1
            if state == MULTIPLY_ADD and step == 0:
                status.issue.next = status.issue + 1
                if inner != 0 and not finishing:
                    status.useful.next = status.useful + 1
            elif state == MULTIPLY_ADD:
                status.stall_step.next = status.stall_step + 1
            else:
                status.stall_word.next = status.stall_word + 1
        if start:
            state.next = LOAD
            inner.next = 0
            if config.update:
                state.next = PIXEL
                inner.next = 1
            at.next = 0
            outer.next = 0
            step.next = 0
            pixels.next = config.pixels
            first.next = True
            final.next = config.pixels == 1
            finishing.next = False
            status.done.next = False
            status.framing_error.next = False
            status.total.next = 0
            status.issue.next = 0
            status.useful.next = 0
            status.stall_step.next = 0
            status.stall_word.next = 0
        if rst:
            state.next = IDLE
            status.done.next = False

    parts = (
        dual_port_ram(
            clk, write=write, write_addr=place, data=data, read_addr=place, word=stored,
            words=design.elements,
        ),
        dual_port_ram(
            clk, write=write_x, write_addr=index, data=map_in.tdata, read_addr=index, word=x,
            words=design.inputs + 1,
        ),
        fp_mul(clk, a=a, b=b, y=product, fmt=design.fmt, latency=MULTIPLY),
        fp_add(clk, a=c, b=product, y=total, fmt=design.fmt, latency=ADD),
        relu(enable=config.relu, x=kept, y=positive),
    )  # fmt: skip
    return look, address, choose, hand_out, walk, parts, word_counters(clk, rst, start, ports)
