"""The request of a layout, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from merp.tools.common import fields
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import Flag, Named, Place, WholeOption
from merp.tools.common.request import option

ADDRESS_BITS = 32
"""Bits of an address of a memory whose size is not given, as usual for a port of an accelerator."""


def _memory() -> str:
    from merp.tools.common.boards import sized_names  # only help pages list them

    return (
        f"place the arrays in the memory of a shipped board ({', '.join(sized_names())}) or of a "
        f"TOML file with memory.mib (default: addresses of {ADDRESS_BITS} bits)"
    )


@dataclass(frozen=True)
class LayoutFields:
    """The keywords of the Python method; the verb has them, too."""

    images: int = option(
        WholeOption(1, MOST_BATCH),
        "images of a step (default %(default)s)",
        default=1,
        metavar="N",
        says=f"images of a step, 1 to {MOST_BATCH}.",
    )
    _: KW_ONLY
    momentum: bool = option(
        Flag(),
        "also place the velocities of kernels and biases",
        says="also place the velocities of kernels and biases.",
    )
    board: Place | None = option(
        Named(),
        _memory,
        metavar="BOARD",
        says="a shipped board or a TOML file, whose memory limits the addresses; by default they "
        f"have {ADDRESS_BITS} bits.",
    )


@dataclass(frozen=True, kw_only=True)
class LayoutOptions(LayoutFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    all: bool = fields.shows_more("print every array, not only the largest ones")
