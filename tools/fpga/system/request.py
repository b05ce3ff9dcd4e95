"""The request of an accelerator, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from merp.tools.common import fields
from merp.tools.common.kinds import File, Flag, Listener, Place, Told
from merp.tools.common.request import again, keyword, needed, option
from merp.tools.fpga.layout.request import LayoutFields

BOARD = "kc705"
"""The board of a system, unless another one is requested."""


def _board() -> str:
    from merp.tools.common.boards import sized_names  # only help pages list them

    return (
        f"a shipped board ({', '.join(sized_names())}) or a TOML file with memory.mib: its part "
        f"limits the engines of a bitstream, its memory the arrays (default: {BOARD})"
    )


@dataclass(frozen=True)
class SystemFields(LayoutFields):
    """The keywords of the Python method; the verb has them, too."""

    _: KW_ONLY
    board: Place = again(
        LayoutFields,
        "board",
        default=BOARD,
        help=_board,
        says="a shipped board or a TOML file. Its part limits the engines of a bitstream, its "
        f"memory the addresses. The default is {BOARD}.",
    )
    simulate: bool = option(
        Flag(),
        "run the LiteX system in Verilator until its firmware has trained",
        says="run the LiteX system in Verilator until its firmware has trained.",
    )
    build: bool = option(
        Flag(),
        "write the bitstream of the LiteX system",
        says="write the bitstream of the LiteX system.",
    )


@dataclass(frozen=True, kw_only=True)
class SystemOptions(SystemFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    output: Path = fields.output(
        "package",
        "folder of the package; it replaces an earlier package there",
        required=True,
    )


@dataclass(frozen=True)
class SystemKeywords(SystemFields):
    """The keywords of the Python method."""

    output: Place = field(
        kw_only=True,
        metadata=needed(File(), "folder of the package, which replaces an earlier package there."),
    )
    _: KW_ONLY
    progress: Listener | None = keyword(Told(), "called with lines about the progress.")
