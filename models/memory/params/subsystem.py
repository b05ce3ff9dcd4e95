"""Parameters of the memory subsystem: streams of engines, commands, one port, its registers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from merp.models.base.elaboration import elaboration
from merp.models.base.register_map import WORD_MAX, RegisterMap, Setting, register_map
from merp.models.memory.params.commands import WORD, Failure, ProcessorDesign
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover

TOP = "memory_subsystem"
LIST, RECORDS = "list", "records"
"""Names of the streams of the processor: its list, and the registers that it records."""

STATUS_BITS = 40
STATUS = {
    "commands": "commands that were begun; the last one is the failed one",
    "failure": "why the list ended: "
    + ", ".join(f"{int(each)}: {each.name.lower()}" for each in Failure),
    "waiting": "mask of the streams that the present wait, or the last one, waits for",
    "error_stream": "number of the stream with the first error response",
    "error_address": "byte address of the burst with that response",
    "cycles": "cycles of the list",
}
"""Counters of the status and their meanings."""

LOADS = {
    "load": "1: the last list ended with the load of a bitstream",
    "bitstream": "flash address of that bitstream",
}
"""Further counters of a subsystem that loads bitstreams."""

OPTIONS = ("loader",)
"""Fields that the text of a design omits if they have their defaults."""


class Loader(Enum):
    """Part of the system that loads a bitstream when a list asks for it."""

    NONE = "none"  # lists cannot ask: the command is illegal
    HOST = "host"  # the host: an interrupt, and a register that names the bitstream
    ICAPE2 = "icape2"  # a block at the primitive ICAPE2 of AMD's 7 series

    def __repr__(self) -> str:
        """Return the text that identifies it."""
        return self.value


@dataclass(frozen=True, kw_only=True, repr=False)
class SubsystemDesign:
    """A memory subsystem, fixed at elaboration.

    Commands number streams: those that are read, those that are written, and the records.

    Attributes:
        port: the port to memory.
        readers: name and mover of each stream that an engine reads.
        writers: name and mover of each stream that an engine writes.
        engines: number of engines with registers, 1 to 16.
        record_cycles: cycles that a recorded register may wait for its place in memory.
        loader: part that loads bitstreams.

    Raises:
        ValueError: as ``InterfaceDesign`` and ``ProcessorDesign``.
    """

    port: MemoryPort
    readers: tuple[tuple[str, Mover], ...]
    writers: tuple[tuple[str, Mover], ...]
    engines: int = 1
    record_cycles: int = 1 << 16
    loader: Loader = Loader.NONE

    def __repr__(self) -> str:
        """Return the text that identifies the elaboration."""
        return elaboration("SubsystemDesign", self, OPTIONS)

    def __post_init__(self) -> None:
        """Check the fields."""
        _ = self.interface, self.processor  # both check their fields

    @cached_property
    def interface(self) -> InterfaceDesign:
        """All streams: the list is the last one that is read, the records the last written one."""
        word = Mover(port=self.port, word_bits=WORD, places=max(16, self.port.burst_beats))
        return InterfaceDesign(
            port=self.port,
            readers=(*self.readers, (LIST, word)),
            writers=(*self.writers, (RECORDS, word)),
        )

    @cached_property
    def processor(self) -> ProcessorDesign:
        """The command processor."""
        return ProcessorDesign(
            streams=len(self.numbers),
            engines=self.engines,
            address_bits=self.port.address_bits,
            record_cycles=self.record_cycles,
            loads=self.loads,
        )

    @property
    def loads(self) -> bool:
        """Whether lists may load bitstreams."""
        return self.loader != Loader.NONE

    @property
    def status(self) -> dict[str, str]:
        """Counters of the status and their meanings."""
        return STATUS | LOADS if self.loads else STATUS

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of each stream in commands, by its name."""
        names = [name for name, _ in (*self.readers, *self.writers)]
        return {name: number for number, name in enumerate([*names, RECORDS])}

    def registers(self, version: str) -> RegisterMap:
        """Return the registers of the host, for a version of the package."""
        settings = {
            "list_low": Setting(0, WORD_MAX - 3, "byte address of the list, its bits 31 to 0"),
            "list_high": Setting(0, (1 << self.port.address_bits - WORD) - 1, "its other bits"),
            "list_words": Setting(0, WORD_MAX, "words of the list"),
        }
        status = self.status
        counters = dict.fromkeys(status, STATUS_BITS)
        return register_map(TOP, version, repr(self), settings, counters, status.__getitem__)
