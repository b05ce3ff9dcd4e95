"""Lead of the writer over the reader of un-pooling: is the newest pooled element written?

An output element needs the pooled elements whose windows hold it. The newest of them arrives last,
so the reader waits for it alone.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import count
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_ports import OutputPlace, WriteProgress
from merp.hdl.conversion.entity import Bit, Word


@block
def _lead_far(
    clk: Bit,
    start: Bit,
    open_rows: Word,
    written: WriteProgress,
    row_opens: Bit,
    newest: Word,
    at: OutputPlace,
    available: Bit,
    overlap: int,
) -> Any:
    """Decide it where ``open_rows`` windows begin with the first row of an image.

    The reader waits for the last of them. ``lead`` is the number of complete rows, counted from the
    newest one that is read. It may be negative, and is therefore kept with an offset.
    """
    offset = overlap - 1
    lead = count(2 * overlap)

    @always_comb
    def check() -> None:
        available.next = lead > offset or (
            lead == offset
            and (
                written.column > newest
                or (written.column == newest and written.channel > at.channel)
            )
        )

    @always(clk.posedge)
    def account() -> None:
        begun = intbv(0, min=0, max=overlap + 1)
        begun[:] = 0
        if row_opens:
            begun[:] = 1
            if at.last_row:
                begun[:] = open_rows
        if written.row:
            lead.next = lead + 1 - begun
        else:
            lead.next = lead - begun
        if start:
            lead.next = overlap - open_rows

    return check, account


@block
def unpool_lead(
    clk: Bit,
    start: Bit,
    config: UnpoolConfig,
    written: WriteProgress,
    row_opens: Bit,
    newest: Word,
    at: OutputPlace,
    available: Bit,
    overlap: int,
) -> Any:
    """Decide whether the newest pooled element is written.

    row_opens  in   the next row begins a window
    newest     in   column of the newest pooled element
    available  out  it is written for the map of the element
    """
    if config.has("open_rows"):
        return _lead_far(
            clk,
            start,
            open_rows=config.open_rows,
            written=written,
            row_opens=row_opens,
            newest=newest,
            at=at,
            available=available,
            overlap=overlap,
        )
    lead = count(overlap + 1)  # complete rows, counted from the newest one that is read

    @always_comb
    def check() -> None:
        # Also if no window holds the element: the newest one begun was waited for before.
        available.next = (
            lead != 0
            or written.column > newest
            or (written.column == newest and written.channel > at.channel)
        )

    @always(clk.posedge)
    def account() -> None:
        if written.row and not row_opens:
            lead.next = lead + 1
        elif row_opens and not written.row:
            lead.next = lead - 1
        if start:
            lead.next = 0

    return check, account
