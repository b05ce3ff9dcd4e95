"""Self-test of a board: its design, whether a list ends, and how the host learns of its end."""

from __future__ import annotations

from merp.cosim.board.driver import Board
from merp.cosim.board.lists import WORD_BYTES, PlacedList
from merp.cosim.board.system import System
from merp.models.base.errors import CheckFailed
from merp.models.base.register_map import STATUS
from merp.models.memory import commands as make
from merp.models.memory.params.commands import Failure
from merp.models.memory.walk import Walk

LIMIT = 10_000
"""Cycles that a list of some accesses of registers may take."""

DESIGN = "ident", "configuration"
"""Registers that identify an accelerator, and an engine."""

POLLED = "self-test: the list ended, but no interrupt came: connect it, or poll the status register"
WIRED = "self-test: the list ended, and the interrupt came"


def check_design(board: Board, system: System) -> None:
    """Check the registers of the host that identify the accelerator.

    Raises:
        CheckFailed: it is another one.
    """
    for name in DESIGN:
        found, wanted = board.read32(system.host[name].offset), system.host[name].reset
        if found != wanted:
            raise CheckFailed(f"self-test: {name} is {found:#010x}, not {wanted:#010x}")


def self_test(board: Board, system: System) -> str:
    """Play a list that checks the engines, and return in one line how the host learns of its end.

    The board must allow accesses of registers at any time. The list is in a buffer of its own.

    Raises:
        CheckFailed: accelerator or engine is another one, the list does not end, or the interrupt
            is high without a list.
    """
    host = system.host
    check_design(board, system)
    board.write32(host["interrupt"].offset, 1)
    if _rises(board, 0):
        raise CheckFailed("self-test: the interrupt is high without a list")
    checks = [
        make.expect(
            engine.first_register + engine.registers.index(name), engine.registers[name].reset
        )
        for engine in system.engines
        for name in DESIGN
    ]
    commands = [*checks, make.END]
    place = board.alloc(len(make.encoded(commands)) * WORD_BYTES)
    listed = PlacedList(system, (), Walk(0, 1), place.address, commands)
    board.to_device(place, listed.words)
    for offset, value in listed.ring:
        board.write32(offset, value)
    came = _rises(board, LIMIT)
    status = board.read32(host["status"].offset)
    board.write32(host["interrupt"].offset, 1)
    if not status >> STATUS.index("done") & 1:
        raise CheckFailed(f"self-test: a list did not end: status is {status:#x}")
    failure = Failure(board.read32(host["status_failure"].offset))
    if failure == Failure.UNEXPECTED:
        at = board.read32(host["status_commands"].offset) - 1
        engine, name = system.engines[at // len(DESIGN)], DESIGN[at % len(DESIGN)]
        raise CheckFailed(
            f"self-test: engine {engine.name}: {name} is not {engine.registers[name].reset:#010x}"
        )
    if failure:
        raise CheckFailed(f"self-test: the list failed: {failure.name.lower()}")
    return WIRED if came else POLLED


def _rises(board: Board, limit: int) -> bool:
    try:
        board.wait(limit)
    except TimeoutError:
        return False
    return True
