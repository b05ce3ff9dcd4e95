"""Parameters of the interface between the streams of an engine and memory."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover


@dataclass(frozen=True, kw_only=True)
class InterfaceDesign:
    """The streams that share a port to memory, fixed at elaboration.

    Attributes:
        port: the port.
        readers: name and mover of each stream that is read; its place is its number on ARID.
        writers: the same of each stream that is written, with its number on AWID.

    Raises:
        ValueError: there are no streams of a direction or too many, two with one name, or a mover
            of another port.
    """

    port: MemoryPort
    readers: tuple[tuple[str, Mover], ...]
    writers: tuple[tuple[str, Mover], ...]

    def __post_init__(self) -> None:
        """Check the streams."""
        most = 1 << self.port.id_bits
        for direction, movers in (("readers", self.readers), ("writers", self.writers)):
            if not 1 <= len(movers) <= most:
                raise ValueError(f"{direction} must be 1 to {most} streams, not {len(movers)}")
        names = [name for name, _ in (*self.readers, *self.writers)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"streams must have different names, not {', '.join(twice)} twice")
        if any(mover.port != self.port for _, mover in (*self.readers, *self.writers)):
            raise ValueError("every mover must have the port of the interface")
