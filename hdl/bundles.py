"""Port bundles: streams, and the words that blocks hand to each other.

A bundle is a class of signals; MyHDL flattens the argument ``sink`` to ``sink_data``,
``sink_valid``, ... Every field holds raw bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from myhdl import Signal, intbv
from myhdl._Signal import _Signal

from merp.models.params.cnn_merp.design import Design


def bits(width: int, value: int = 0) -> Any:
    """Signal of ``width`` raw bits."""
    return Signal(intbv(value)[width:])


def flag(value: int = 0) -> Any:
    """Signal of a single bit."""
    return Signal(bool(value))


def count(largest: int) -> Any:
    """Signal that holds 0 to ``largest``."""
    return bits(max(1, int(largest).bit_length()))


class Stream:
    """A stream of words: a transfer happens in a cycle with ``valid`` and ``ready`` both high.

    Once valid is high, neither it nor data nor last changes until the transfer; valid never waits
    for ready.
    """

    def __init__(self, width: int) -> None:
        self.data = bits(width)
        self.valid = flag()
        self.ready = flag()
        self.last = flag()


class AxiStream:
    """The same stream under AXI4-Stream names, for the accelerator's top level."""

    def __init__(self, width: int) -> None:
        self.tdata = bits(width)
        self.tvalid = flag()
        self.tready = flag()
        self.tlast = flag()


def stream_of(axi: AxiStream) -> Stream:
    """The AXI4-Stream bundle's own signals under the names of a ``Stream``."""
    stream = Stream.__new__(Stream)
    stream.data, stream.valid = axi.tdata, axi.tvalid
    stream.ready, stream.last = axi.tready, axi.tlast
    return stream


class Bundles:
    """Bundles under a common name: the port ``map`` of ``s_axis`` flattens to ``s_axis_map``."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        vars(self).update(members)


def signals_of(bundle: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name and signal of every port that ``bundle`` flattens to, bundles inside included."""
    for name, value in vars(bundle).items():
        if isinstance(value, _Signal):
            yield prefix + name, value
        elif hasattr(value, "__dict__"):
            yield from signals_of(value, f"{prefix}{name}_")


class Slot:
    """One issue slot on its way to the CU array: which kernel word, which accumulators.

    ``first`` starts the sums at the bias, ``last`` says that they are finished. The window of a
    slot is valid one cycle after the slot (it loads while the kernel memory reads).
    """

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.kernel_addr = count(design.kernel_words - 1)
        self.acc_addr = count(design.p * design.groups - 1)
        self.group = count(design.groups - 1)
        self.first = flag()
        self.last = flag()


class Floor:
    """What the oldest open position still needs of the kept rows; rows count over all images.

    Widths come from ``position_word``, whose fields these are.
    """

    def __init__(self, row_width: int, column_width: int) -> None:
        self.valid = flag()  # there is such a position
        self.row_limit = bits(row_width)  # its first row and the d*k rows kept
        self.next_row_limit = bits(row_width)  # the same of the next row of positions
        self.column = bits(column_width)  # its first column
        self.open = flag()  # no position is left: nothing is needed any more


class Verdict:
    """The sequencer's verdict of a cycle: a slot, or the cause why there is none."""

    def __init__(self, design: Design) -> None:
        self.issue = flag()
        self.useful = count(design.n_cu)  # CUs that the slot keeps busy
        self.stall_input = flag()
        self.stall_output = flag()
        self.stall_hazard = flag()
        self.final_issue = flag()  # the run's last slot
        self.idle = flag()  # no position is left and every reserved word has left the FIFO


class KernelWrite:
    """Write port of the kernel memories: ``enable`` has a bit per CU.

    ``width`` is that of a word if its elements are not as the window's.
    """

    def __init__(self, design: Design, width: int | None = None) -> None:
        self.enable = bits(design.n_cu)
        self.addr = count(design.kernel_words - 1)
        self.data = bits(width or design.window_width)


class BiasWrite:
    """Write port of the bias memories: ``enable`` has a bit per CU."""

    def __init__(self, design: Design) -> None:
        self.enable = bits(design.n_cu)
        self.addr = count(design.groups - 1)
        self.data = bits(design.fmt.width)


class Sums:
    """Finished sums of one slot: ``data`` has ``n_cu`` words, CU 0 in the lowest bits."""

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.data = bits(design.n_cu * design.fmt.width)


class MapConfig:
    """Run-time registers of the input side; values from ``models/params/cnn_merp/registers.py``.

    A place in the ring of kept rows is (row modulo k, block of k rows modulo d): a step of x rows
    adds (x mod k, x div k mod d). Columns likewise, their blocks counted in words of n elements.
    """

    def __init__(self, design: Design) -> None:
        size, k = design.max_size, design.k
        self.images = count(design.max_images)
        self.rows = count(size)
        self.columns = count(size)
        self.inputs = count(design.max_maps)  # n
        self.out_rows = count(size)
        self.out_columns = count(size)
        self.groups = count(design.groups)  # G
        self.last_cus = count(design.n_cu)  # CUs in use in the last group
        self.stride = count(design.max_stride)
        self.pad = count(k)
        self.rows_mod = count(k)  # rows mod k
        self.rows_ring = count(design.d)  # rows div k mod d
        self.stride_mod = count(k)  # stride mod k
        self.stride_ring = count(design.d)  # stride div k mod d
        self.stride_words = count(design.max_stride * design.max_maps)  # stride div k * n
        self.pair_rows = flag()  # interleaved positions may lie in two rows or images


class BankWrite:
    """A map word on its way into the banks: row and column enables select one of them."""

    def __init__(self, design: Design) -> None:
        self.rows = bits(design.k)
        self.columns = bits(design.k)
        self.addr = count(design.d * design.row_words - 1)
        self.data = bits(design.fmt.width)


class BankRead:
    """One window's read of all banks.

    Banks left of the rotation point hold the next block of columns (``columns_next``), banks above
    it the next block of rows (``rows_next``), hence four addresses, the first digit for rows. A
    bank whose tap lies in the padding (``rows_on`` or ``columns_on`` low) gives +0.
    """

    def __init__(self, design: Design) -> None:
        reach = bank_reach(design)
        self.enable = flag()
        self.rows_on = bits(design.k)
        self.columns_on = bits(design.k)
        self.rows_next = bits(design.k)
        self.columns_next = bits(design.k)
        self.addr_00 = count(reach)
        self.addr_01 = count(reach)
        self.addr_10 = count(reach)
        self.addr_11 = count(reach)


def bank_reach(design: Design) -> int:
    """Largest read address: that of a bank in the padding runs past the memory, unread."""
    return (design.d + 1) * design.row_words + 2 * design.max_maps


class LoadConfig:
    """Run-time registers of the kernel loader."""

    def __init__(self, design: Design) -> None:
        self.inputs = count(design.max_maps)  # n
        self.groups = count(design.groups)  # G
        self.last_cus = count(design.n_cu)  # CUs in use in the last group


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


class ForwardStatus(Status):
    """Status of the forward engine, with the words (of state: bytes) that passed each port.

    ``state`` says whether state leaves.
    """

    def __init__(self, state: bool = False) -> None:
        super().__init__()
        self.map_in = bits(STATUS_WIDTH)
        self.map_out = bits(STATUS_WIDTH)
        self.kernel = bits(STATUS_WIDTH)
        self.bias = bits(STATUS_WIDTH)
        if state:
            self.state_out = bits(STATUS_WIDTH)


class DeltaStatus(Status):
    """Status of delta propagation, with the words (of state: bytes) that passed each port."""

    def __init__(self) -> None:
        super().__init__()
        self.delta_in = bits(STATUS_WIDTH)
        self.delta_out = bits(STATUS_WIDTH)
        self.kernel = bits(STATUS_WIDTH)
        self.state_in = bits(STATUS_WIDTH)


class OutputConfig:
    """Run-time registers of the super layer: ReLU and pooling geometry."""

    def __init__(self, design: Design) -> None:
        size = design.max_size
        self.images = count(design.max_images)
        self.rows = count(size)  # of the convolution's output
        self.columns = count(size)
        self.groups = count(design.groups)
        self.last_cus = count(design.n_cu)
        self.relu = flag()
        self.average = flag()  # else maximum; no pooling is a 1 x 1 maximum
        self.window = count(design.pool_window)
        self.stride = count(design.max_stride)
        self.pooled_rows = count(size)
        self.pooled_columns = count(size)
        self.scale = bits(design.fmt.width)  # RN(1 / window^2)
