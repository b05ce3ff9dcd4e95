"""Self-test of a board: whether a list ends, and how the host learns of its end."""

from __future__ import annotations

from merp.cosim.board.driver import Board
from merp.cosim.board.lists import WORD_BYTES, PlacedList
from merp.cosim.board.system import System
from merp.models.base.errors import CheckFailed
from merp.models.base.register_map import STATUS
from merp.models.memory import commands as make
from merp.models.memory.walk import Walk

LIMIT = 10_000
"""Cycles that a list of one command may take."""

POLLED = "self-test: the list ended, but no interrupt came: connect it, or poll the status register"
WIRED = "self-test: the list ended, and the interrupt came"


def self_test(board: Board, system: System) -> str:
    """Play a list of one command, and return in one line how the host learns of its end.

    The board must allow accesses of registers at any time. The list is in a buffer of its own.

    Raises:
        CheckFailed: the accelerator is another one, the list does not end, or the interrupt is
            high without a list.
    """
    host = system.host
    for name in ("ident", "configuration"):
        found, wanted = board.read32(host[name].offset), host[name].reset
        if found != wanted:
            raise CheckFailed(f"self-test: {name} is {found:#010x}, not {wanted:#010x}")
    board.write32(host["interrupt"].offset, 1)
    if _rises(board, 0):
        raise CheckFailed("self-test: the interrupt is high without a list")
    place = board.alloc(WORD_BYTES)
    empty = PlacedList(system, (), Walk(0, 1), place.address, [make.END])
    board.to_device(place, empty.words)
    for offset, value in empty.ring:
        board.write32(offset, value)
    came = _rises(board, LIMIT)
    status = board.read32(host["status"].offset)
    board.write32(host["interrupt"].offset, 1)
    if not status >> STATUS.index("done") & 1:
        raise CheckFailed(f"self-test: a list did not end: status is {status:#x}")
    return WIRED if came else POLLED


def _rises(board: Board, limit: int) -> bool:
    try:
        board.wait(limit)
    except TimeoutError:
        return False
    return True
