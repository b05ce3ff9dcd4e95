"""The loads of bitstreams in a step: who loads them, and from which flash addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.board import Board
from merp.models.memory.params.subsystem import Loader


def loader_of(board: Board) -> Loader:
    """Return the part that loads bitstreams on a board if a step has several."""
    return Loader.HOST if board.flash is None else Loader.ICAPE2


@dataclass(frozen=True)
class FlashPlace:
    """The place of a bitstream in flash.

    Attributes:
        address: byte address of its first byte.
        bytes: its size without compression.
        boot_word: word for the register WBSTAR, which boots from there.
    """

    address: int
    bytes: int
    boot_word: int

    def json(self) -> dict[str, Any]:
        """Return the keys of ``step.json``."""
        return {
            "flash_address": self.address, "flash_bytes": self.bytes, "boot_word": self.boot_word,
        }  # fmt: skip


@dataclass(frozen=True)
class Loads:
    """The loads of a step.

    Attributes:
        loader: part that loads bitstreams.
        words: the word of the command that loads a bitstream, by its name: for the host its number,
            otherwise its word for WBSTAR.
        flash: the places of all bitstreams, if they are in flash.
    """

    loader: Loader
    words: dict[str, int]
    flash: dict[str, FlashPlace]


def planned_loads(board: Board, network: str, names: Sequence[str]) -> Loads:
    """Return the loads of several bitstreams. The first one is at the begin of the flash.

    Raises:
        BadInput: they do not fit the flash of the board.
    """
    flash, bits = board.flash, board.part.configuration_bits
    if flash is None:
        return Loads(Loader.HOST, {name: at for at, name in enumerate(names)}, {})
    slot, most = flash.slot(bits), flash.most(bits)
    if len(names) > most:
        raise BadInput(
            f"{network}: {given('board', board.name)}: {len(names)} bitstreams of {bits // 8:,} "
            f"bytes: allowed are {most} in its flash of {flash.mib} MiB"
        )
    begins = {name: slot * at for at, name in enumerate(names)}
    words = {name: flash.boot_word(begin) for name, begin in begins.items()}
    places = {
        name: FlashPlace(begin + flash.dummy_bytes, bits // 8, words[name])
        for name, begin in begins.items()
    }
    return Loads(Loader.ICAPE2, words, places)
