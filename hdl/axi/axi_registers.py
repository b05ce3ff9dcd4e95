"""Register file of a top: software writes settings and commands, and reads status and counters."""

from __future__ import annotations

from itertools import chain
from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.axi.axi_lite import RegisterRead, RegisterWrite
from merp.hdl.axi.setting_register import SettingWrite, setting_register
from merp.hdl.axi.short_word import short_word
from merp.hdl.base.signals import Bundles, bits, flag, signals_of
from merp.hdl.base.status import Status
from merp.hdl.conversion.entity import Bit, entity
from merp.models.base.register_map import ERRORS, FLAGS, RegisterMap

WORD = 32
ILLEGAL_VALUE, WRITE_REFUSED, START_REFUSED = range(len(ERRORS))


class RunControl:
    """Ports through which software starts and aborts the runs of a top."""

    def __init__(self, start: Bit, abort: Bit, aborting: Bit) -> None:
        self.start = start  # pulse: a run begins
        self.abort = abort  # pulse: the top is to be reset
        self.aborting = aborting  # the top is being reset


@entity
def axi_registers(
    clk: Bit,
    rst: Bit,
    write: RegisterWrite,
    read: RegisterRead,
    runs: RunControl,
    settings: Bundles,
    status: Status,
    interrupt: Bit,
    registers: RegisterMap,
) -> Any:
    """Keep the run-time registers of a top, start and abort its runs, and show its status.

    write, read  in   accesses of existing registers
    runs         out  start and abort of a run; in: an abort is in progress
    settings     out  every run-time register; constant during a run
    status       in   status of the top
    interrupt    out  high while the interrupt is enabled and pending

    A write of a value outside the range of its register has no effect, and sets a bit of the
    register error. So does a write to a run-time register during a run, and a start during a run or
    while error is nonzero. The registers error and interrupt keep their bits until software writes
    1 to these bits. An abort restores the reset values of error and interrupt, and cancels a start
    in the same write. Settings and interrupt_enable keep their values. The reset of the top counts
    as part of a run. Latency: start is high one cycle after its write, abort in the cycle of its
    write. Reset: every register has its reset value.
    """
    start, abort, aborting = runs.start, runs.abort, runs.aborting
    size = len(registers.registers)
    first = registers.first_setting
    words = [bits(WORD) for _ in range(size)]
    selected = [flag() for _ in range(registers.settings)]
    illegal = [flag() for _ in range(registers.settings)]
    enable_selected, enable_illegal, enable_value = flag(), flag(), flag()
    locked, strobed = flag(), flag()
    touched, outside = flag(), flag()
    done_before = flag()
    error = bits(len(ERRORS))
    pending = bits(1)
    n_settings = registers.settings
    control_at = registers.index("control")
    error_at, interrupt_at = registers.index("error"), registers.index("interrupt")
    enable_at = registers.index("interrupt_enable")

    constants = [
        short_word(value=bits(WORD, register.reset), word=words[i])
        for i, register in enumerate(registers.registers)
        if register.access == "wo" or (register.access == "ro" and register.least == register.most)
    ]
    kept = [
        setting_register(
            clk,
            rst,
            write=SettingWrite(selected[i], locked, write.data, write.strobe),
            value=signal,
            word=words[first + i],
            illegal=illegal[i],
            least=registers.registers[first + i].least,
            most=registers.registers[first + i].most,
        )
        for i, (_, signal) in enumerate(signals_of(settings))
    ]
    enable = setting_register(
        clk,
        rst,
        # It may change at any time; during reset it does not change anyway.
        write=SettingWrite(enable_selected, rst, write.data, write.strobe),
        value=enable_value,
        word=words[enable_at],
        illegal=enable_illegal,
        least=0,
        most=1,
    )
    counters = [signal for name, signal in signals_of(status) if name not in FLAGS]
    flags = ConcatSignal(aborting, status.framing_error, status.done, status.busy)
    state = [
        short_word(value=flags, word=words[registers.index("status")]),
        short_word(value=error, word=words[error_at]),
        short_word(value=pending, word=words[interrupt_at]),
    ]
    halves = [(each(WORD, 0), each(len(each), WORD)) for each in counters]
    shown = [
        short_word(value=half, word=word)
        for half, word in zip(chain(*halves), words[registers.first_counter :], strict=True)
    ]

    @always_comb
    def select() -> None:
        for i in range(n_settings):
            selected[i].next = write.enable and write.index == first + i
        enable_selected.next = write.enable and write.index == enable_at
        strobed.next = write.enable and write.strobe[0]
        abort.next = strobed and write.index == control_at and write.data[1]

    @always_comb
    def fetch() -> None:
        read.word.next = 0
        if read.index < size:
            read.word.next = words[read.index]

    @always_comb
    def judge() -> None:
        locked.next = start or status.busy or aborting
        touched.next = write.enable and write.index >= first and write.strobe != 0
        outside.next = enable_illegal
        for i in range(n_settings):
            if illegal[i]:
                outside.next = True

    @always_comb
    def tell() -> None:
        interrupt.next = pending != 0 and enable_value

    @always(clk.posedge)
    def control() -> None:
        start.next = False
        done_before.next = status.done
        if strobed:
            if write.index == error_at:
                error.next = error & ~write.data[len(ERRORS) :]
            if write.index == interrupt_at and write.data[0]:
                pending.next = 0
            if write.index == control_at and write.data[0]:
                if locked or error != 0:
                    error.next[START_REFUSED] = True
                else:
                    start.next = True
        if touched and locked:
            error.next[WRITE_REFUSED] = True
        elif outside:
            error.next[ILLEGAL_VALUE] = True
        if status.done and not done_before and not aborting:
            pending.next = 1
        if rst or abort:
            start.next = False
            done_before.next = False
            pending.next = 0
            error.next = 0

    return constants, kept, enable, state, shown, select, fetch, judge, tell, control
