"""Read the kernels of delta propagation back from its CUs, in the order of their stream.

The kernel update of the same pass therefore needs no second read from memory.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.kernels import KernelRead, LoadConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT


@entity
def kernel_reader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    config: LoadConfig,
    read: KernelRead,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Read the kernels that ``delta_loader`` has written transposed and rotated.

    final_issue  in   the last slot of the run is issued; from then on the reader uses the memories
    config       in   as in ``delta_loader``
    read         out  address of an element, and back the element
    source       out  kernel words in the order m, n, row, column

    Latency: SLOT, kernel_read_latency and three cycles from final_issue. Throughput: a word per
    cycle. Reset, and start: nothing is read.
    """
    n_cu, groups, width = design.n_cu, design.groups, design.fmt.width
    last_tap, latency = design.taps - 1, design.kernel_read_latency
    places = latency + CREDIT_RETURN

    waiting = count(SLOT)
    walking, some, advance = flag(), flag(), flag()
    tap = count(last_tap)
    channel = count(design.max_maps)
    cu = count(n_cu)
    group = count(groups)
    addr = count(design.kernel_words + groups)
    last_map, last, late_last = flag(), flag(), flag()
    clear, push, credit, take = flag(), flag(), flag(), flag()
    found, head = bits(width + 1), bits(width + 1)
    joined = ConcatSignal(late_last, read.element)

    @always_comb
    def place() -> None:
        last_map.next = group + 1 == config.groups and cu + 1 == config.last_cus

    @always_comb
    def tell() -> None:
        clear.next = rst or start
        advance.next = walking and some
        last.next = last_map and tap == 0 and channel + 1 == config.inputs
        read.enable.next = walking
        read.addr.next = addr
        read.cu.next = cu
        read.tap.next = tap

    @always(clk.posedge)
    def walk() -> None:
        if waiting != 0:
            waiting.next = waiting - 1
            walking.next = waiting == 1
        if final_issue:
            waiting.next = SLOT
        if advance:
            if tap != 0:
                tap.next = tap - 1
            else:
                tap.next = last_tap
                if last:
                    walking.next = False
                elif last_map:
                    cu.next = 0
                    group.next = 0
                    channel.next = channel + 1
                    addr.next = addr + 1
                elif cu + 1 < n_cu:
                    cu.next = cu + 1
                else:
                    cu.next = 0
                    group.next = group + 1
                    addr.next = addr + 1
        if rst or start:
            waiting.next = 0
            walking.next = False
            tap.next = last_tap
            channel.next = 0
            cu.next = 0
            group.next = 0
            addr.next = 0

    @always_comb
    def join() -> None:
        found.next = joined

    @always_comb
    def hand_on() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        take.next = source.ready

    aligned = [
        valid_delay(clk, clear, d=advance, q=push, cycles=latency),
        delay(clk, d=last, q=late_last, cycles=latency),
    ]
    space = credit_gate(clk, clear, taken=advance, freed=credit, some=some, places=places)
    waiting_words = credit_fifo(
        clk,
        clear,
        push=push,
        data=found,
        head=head,
        head_valid=source.valid,
        take=take,
        credit=credit,
        words=places,
    )
    return place, tell, walk, join, hand_on, aligned, space, waiting_words
