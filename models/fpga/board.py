"""A board: a part, the memory beside it, and the clock of the engine; ``tools/data/boards``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from merp.models.errors import BadInput
from merp.models.fpga.parts import PARTS, Part
from merp.models.params.toml_section import Section, read_toml

LOAD_MBYTES_S = 132.0
"""16 bit at 66 MHz. source: CNN-MERP section VI"""


@dataclass(frozen=True, kw_only=True)
class Board:
    """Where a network runs.

    Attributes:
        name: as printed. part: its FPGA.
        clock_mhz: of the engine.
        gbytes_s: peak of the external memory, 10^9 bytes a second.
        efficiency: share of the peak that streams reach, above 0, at most 1.
        load_mbytes_s: at which a bitstream is loaded, 10^6 bytes a second.
    """

    name: str
    part: Part
    clock_mhz: float
    gbytes_s: float
    efficiency: float
    load_mbytes_s: float = LOAD_MBYTES_S

    @property
    def bytes_per_cycle(self) -> float:
        """That the memory moves in a cycle of the engine."""
        return self.gbytes_s * 1e3 * self.efficiency / self.clock_mhz

    @property
    def load_seconds(self) -> float:
        """Of one bitstream."""
        return self.part.configuration_bits / 8 / (self.load_mbytes_s * 1e6)


def read_board(path: Path) -> Board:
    """Read the board file ``path`` (TOML).

    Raises:
        BadInput: unreadable, not TOML, an unknown key, a value out of range, or a part whose
            capacities are not known.
    """
    file = path.name
    root = Section(file, "file", read_toml(path))
    head, memory = root.table("board"), root.table("memory")
    loads = root.table("configuration") if root.has("configuration") else None
    name = head.name(())
    part = head.text("part")
    if part not in PARTS:
        raise BadInput(
            f"{file}: {head.where}: part = {part!r}: must be one of {', '.join(PARTS)}, whose "
            "capacities are known"
        )
    found = Board(
        name=name,
        part=PARTS[part],
        clock_mhz=head.number("clock_mhz", 1, 2000),
        gbytes_s=memory.number("gbytes_s", 0.001, 10_000),
        efficiency=memory.number("efficiency", 0.01, 1),
        load_mbytes_s=LOAD_MBYTES_S if loads is None else loads.number("mbytes_s", 0.01, 100_000),
    )
    for section in (head, memory, *([loads] if loads else []), root):
        section.finish()
    return found
