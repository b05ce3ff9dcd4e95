"""What every top tells of a run."""

from __future__ import annotations

from merp.hdl.base.signals import bits, flag

STATUS_WIDTH = 40


class Status:
    """What a top tells: progress, and the counters that the report is audited against.

    Counters restart with ``start``. ``done`` rises after the last output word and stays until the
    next start. total = issue + fill + drain + the three stalls.
    """

    def __init__(self) -> None:
        self.busy = flag()
        self.done = flag()
        self.framing_error = flag()  # an input's last came early or late; sticky until start
        self.total = bits(STATUS_WIDTH)  # cycles
        self.kernel_load = bits(STATUS_WIDTH)
        self.issue = bits(STATUS_WIDTH)
        self.fill = bits(STATUS_WIDTH)
        self.drain = bits(STATUS_WIDTH)
        self.stall_input = bits(STATUS_WIDTH)
        self.stall_output = bits(STATUS_WIDTH)
        self.stall_hazard = bits(STATUS_WIDTH)
        self.useful = bits(STATUS_WIDTH)  # CU slots that computed something
