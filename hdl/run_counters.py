"""The counters of a run: words per port and cycles by cause.

What they count is what the traffic report is audited against, so they look at the handshakes on
the ports and at the sequencer's verdicts, and at nothing else.
"""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.bundles import AxiStream, Status, flag
from merp.hdl.entity import entity


@entity
def run_counters(
    clk: Any,
    rst: Any,
    start: Any,
    s_axis_map: AxiStream,
    s_axis_kernel: AxiStream,
    s_axis_bias: AxiStream,
    m_axis_map: AxiStream,
    loaded: Any,
    complete: Any,
    output_done: Any,
    issue: Any,
    useful: Any,
    stall_input: Any,
    stall_output: Any,
    stall_hazard: Any,
    final_issue: Any,
    idle: Any,
    map_error: Any,
    load_error: Any,
    status: Status,
) -> Any:
    """Count a run's words and cycles, and tell when it is over.

    total runs from the first accepted map word to the last output word, both included (or to the
    last slot, where pooling leaves out the last positions and it comes later). Each of its cycles
    is one of: issue, fill (before the first issue), drain (after the last one), or a stall.

    Reset: no run, counters at zero. They restart with start.
    """
    running = flag()
    counting = flag()
    issued = flag()
    exhausted = flag()  # the last slot was issued
    sent = flag()  # the last word has left

    @always(clk.posedge)
    def words() -> None:
        if s_axis_map.tvalid and s_axis_map.tready:
            status.map_in.next = status.map_in + 1
        if s_axis_kernel.tvalid and s_axis_kernel.tready:
            status.kernel.next = status.kernel + 1
        if s_axis_bias.tvalid and s_axis_bias.tready:
            status.bias.next = status.bias + 1
        if m_axis_map.tvalid and m_axis_map.tready:
            status.map_out.next = status.map_out + 1
        if start or rst:
            status.map_in.next = 0
            status.kernel.next = 0
            status.bias.next = 0
            status.map_out.next = 0

    @always(clk.posedge)
    def cycles() -> None:
        if running and not loaded:
            status.kernel_load.next = status.kernel_load + 1
        if counting or (s_axis_map.tvalid and s_axis_map.tready and not issued):
            counting.next = True
            status.total.next = status.total + 1
            if issue:
                issued.next = True
                status.issue.next = status.issue + 1
                status.useful.next = status.useful + useful
                if final_issue:
                    exhausted.next = True
            elif exhausted:
                status.drain.next = status.drain + 1
            elif not issued:
                status.fill.next = status.fill + 1
            elif stall_input:
                status.stall_input.next = status.stall_input + 1
            elif stall_output:
                status.stall_output.next = status.stall_output + 1
            elif stall_hazard:
                status.stall_hazard.next = status.stall_hazard + 1
            if m_axis_map.tvalid and m_axis_map.tready and m_axis_map.tlast:
                sent.next = True
                if exhausted or final_issue:
                    counting.next = False
            if sent and final_issue:
                counting.next = False
        if start or rst:
            counting.next = False
            issued.next = False
            exhausted.next = False
            sent.next = False
            status.total.next = 0
            status.kernel_load.next = 0
            status.issue.next = 0
            status.useful.next = 0
            status.fill.next = 0
            status.drain.next = 0
            status.stall_input.next = 0
            status.stall_output.next = 0
            status.stall_hazard.next = 0

    @always(clk.posedge)
    def progress() -> None:
        status.framing_error.next = map_error or load_error
        status.busy.next = running
        if running and loaded and complete and output_done and idle:
            running.next = False
            status.busy.next = False
            status.done.next = True
        if start:
            running.next = True
            status.busy.next = True
            status.done.next = False
        if rst:
            running.next = False
            status.busy.next = False
            status.done.next = False
            status.framing_error.next = False

    return words, cycles, progress
