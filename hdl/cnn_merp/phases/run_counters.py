"""Counters of a run: cycles by cause, and the end of the run.

The report is audited against these counters. Therefore they observe only the handshakes on the
ports and the verdicts of the sequencer. The table in ``models/base/counters.py`` has their names
and meanings.
"""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.interface import DesignPorts
from merp.hdl.base.signals import AxiStream, bits, flag
from merp.hdl.base.status import Status
from merp.hdl.base.word_counters import word_counters
from merp.hdl.cnn_merp.ports.passes import RunProgress
from merp.hdl.conversion.entity import Bit, entity


@entity
def run_counters(
    clk: Bit,
    rst: Bit,
    start: Bit,
    first: AxiStream,
    run: RunProgress,
    status: Status,
) -> Any:
    """Count the cycles of a run by cause, and detect its end.

    first                  in   the stream of maps or deltas into the datapath
    ends                   in   a transfer with the last word of the run
    loaded                 in   kernels and biases are loaded
    complete               in   all words of first were accepted
    output_done            in   all words of the results were transferred
    verdict                in   verdict of the sequencer: a slot, or the cause of a stall.
    map_error, load_error  in   last of a stream arrived with a wrong word
    status                 out  all fields except the words of the ports

    total counts from the first accepted word to the last output word, both included. If pooling
    drops the last positions and the last slot is later, total counts up to this slot. Each of its
    cycles is one of: issue, fill (before the first issue), drain (after the last one), or a stall.

    Reset: no run, counters at zero. They restart with start.
    """
    ends, loaded, complete, output_done = run.ends, run.loaded, run.complete, run.output_done
    verdict, map_error, load_error = run.verdict, run.map_error, run.load_error
    running = flag()
    counting = flag()
    issued = flag()
    exhausted = flag()  # the last slot was issued
    sent = flag()  # the last word was sent

    # The events of a cycle are counted in the next one, because handshakes and verdicts are late in
    # their cycle.
    accepted, ended = flag(), flag()
    slot, final_slot = flag(), flag()
    useful = bits(len(verdict.useful))
    input_waits, output_waits, hazard_waits = flag(), flag(), flag()

    @always(clk.posedge)
    def watch() -> None:
        accepted.next = first.tvalid and first.tready
        ended.next = ends
        slot.next = verdict.issue
        final_slot.next = verdict.final_issue
        useful.next = verdict.useful
        input_waits.next = verdict.stall_input
        output_waits.next = verdict.stall_output
        hazard_waits.next = verdict.stall_hazard
        if start or rst:
            accepted.next = False

    @always(clk.posedge)
    def cycles() -> None:
        if running and not loaded:
            status.kernel_load.next = status.kernel_load + 1
        if counting or (accepted and not issued):
            counting.next = True
            status.total.next = status.total + 1
            if slot:
                issued.next = True
                status.issue.next = status.issue + 1
                status.useful.next = status.useful + useful
                if final_slot:
                    exhausted.next = True
            elif exhausted:
                status.drain.next = status.drain + 1
            elif not issued:
                status.fill.next = status.fill + 1
            elif input_waits:
                status.stall_input.next = status.stall_input + 1
            elif output_waits:
                status.stall_output.next = status.stall_output + 1
            elif hazard_waits:
                status.stall_hazard.next = status.stall_hazard + 1
            if ended:
                sent.next = True
                if exhausted or final_slot:
                    counting.next = False
            if sent and final_slot:
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
        if running and loaded and complete and output_done and verdict.idle:
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

    return watch, cycles, progress


def run_counts(
    clk: Bit, rst: Bit, start: Bit, ports: DesignPorts[Any], first: AxiStream, run: RunProgress
) -> tuple[list[Any], Any]:
    """Count words and cycles of a run, in the status of an engine."""
    return (
        word_counters(clk, rst, start, ports),
        run_counters(clk, rst, start, first=first, run=run, status=ports.status),
    )
