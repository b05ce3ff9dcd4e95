"""The register map of a top with its AXI shell: one description for hardware and software.

These are generated from it: the hardware (``hdl/axi/axi_registers.py``), the documentation page,
the C header and the Python constants. A register is a word of 32 bits. Registers follow each other
without gaps in this order: registers that only the hardware writes, registers that software writes,
counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from merp.models.base.counters import meaning_of

WORD_BYTES = 4
ADDRESS_WIDTH = 12
"""Bits of an address: the registers of one top share 4 KiB."""

IDENT = 0x4D455250  # "MERP"
FLAGS = ("busy", "done", "framing_error")
"""Status ports of a top that are bits of the register ``status``, from bit 0 on."""

STATUS = (*FLAGS, "aborting")
"""Bits of the register ``status``, from bit 0 on: those of the top, and that of the software
reset.
"""

CONTROL = ("start", "abort")
"""Bits of the register ``control``, from bit 0 on."""

ABORT_CYCLES = 16
"""Cycles for which ``aborting`` is active. AMD requires as many cycles of reset for AXI blocks, and
a copied or pipelined tree of the engine's reset needs fewer.
"""

ERRORS = ("illegal_value", "write_refused", "start_refused")
"""Bits of the register ``error``, from bit 0 on."""


@dataclass(frozen=True)
class Register:
    """One register.

    Attributes:
        name: in lower case; for a setting or a counter, the flattened name of its port.
        offset: address, in bytes.
        access: ``ro``, ``rw``, ``wo`` (reads as 0) or ``w1c`` (a bit is cleared by writing 1).
        least, most: the range of values that may be written, or that a read-only register may
            contain.
        reset: value after reset.
        meaning: one line.
    """

    name: str
    offset: int
    access: str
    least: int
    most: int
    reset: int
    meaning: str


@dataclass(frozen=True, repr=False)
class RegisterMap:
    """All registers of a top, in the order of their offsets.

    Attributes:
        top: name of the entity.
        registers: all of them.
        settings: number of run-time registers of the top.
        counters: number of its counters, with two registers each.

    Raises:
        ValueError: the registers do not fit the address space.
    """

    top: str
    registers: tuple[Register, ...]
    settings: int
    counters: int

    def __post_init__(self) -> None:
        """Check that every register has an address."""
        size, space = WORD_BYTES * len(self.registers), 1 << ADDRESS_WIDTH
        if size > space:
            raise ValueError(f"{self.top}: {size} bytes of registers, at most {space} are allowed")

    def __repr__(self) -> str:
        """Return one line with a hash of all registers, which identifies the map of exported
        hardware. Texts do not count: another wording is the same hardware.
        """
        bare = [replace(register, meaning="") for register in self.registers]
        digest = hashlib.sha256(repr(bare).encode()).hexdigest()
        return f"RegisterMap({self.top}, {len(self.registers)} registers, sha256 {digest[:16]})"

    def __getitem__(self, name: str) -> Register:
        """Return the register of that name."""
        return self.registers[self.index(name)]

    def index(self, name: str) -> int:
        """Return the index of a register: its offset in words."""
        return [register.name for register in self.registers].index(name)

    @property
    def first_setting(self) -> int:
        """Index of the first run-time register; the others follow."""
        return len(self.registers) - 2 * self.counters - self.settings

    @property
    def first_counter(self) -> int:
        """Index of the first counter's low word; its high word and the other counters follow."""
        return len(self.registers) - 2 * self.counters

    @property
    def first_writable(self) -> int:
        """Index of the first writable register; all registers up to the counters are writable."""
        return next(i for i, each in enumerate(self.registers) if each.access != "ro")


def register_map(
    top: str,
    version: str,
    parameters: str,
    settings: Settings,
    counters: Mapping[str, int],
    counts: Callable[[str], str] = meaning_of,
) -> RegisterMap:
    """Lay out the registers of a top.

    Args:
        top: name of the entity.
        version: of the package, ``major.minor.patch``.
        parameters: text that identifies the elaboration; the hardware contains its hash as a
            register.
        settings: run-time registers by the flattened name of their port.
        counters: width in bits, above 32, by the name of the status field.
        counts: meaning of each counter, in one line, by that name.
    """
    places = (STATUS, CONTROL, ERRORS)
    digest = hashlib.sha256(repr((top, parameters, settings, counters, places)).encode())
    flags, controls, errors = (
        ", ".join(f"bit {i}: {name}" for i, name in enumerate(bits)) for bits in places
    )
    all_errors = (1 << len(ERRORS)) - 1
    rows = [
        _constant("ident", IDENT, '"MERP"'),
        _constant("version", _packed(version), f"of the package, {version}: major, minor, patch"),
        _constant("configuration", int(digest.hexdigest()[:8], 16), "hash of the elaboration"),
        Register("status", 0, "ro", 0, (1 << len(STATUS)) - 1, 0, flags),
        Register("control", 0, "wo", 0, WORD_MAX, 0, controls),
        Register("error", 0, "w1c", 0, all_errors, 0, errors),
        Register("interrupt", 0, "w1c", 0, 1, 0, "bit 0: a run has ended"),
        Register("interrupt_enable", 0, "rw", 0, 1, 0, "bit 0: the line follows interrupt"),
    ]
    for name, (least, most, meaning) in settings.items():
        rows.append(Register(name, 0, "rw", least, most, least, meaning))
    for name, width in counters.items():
        rows.append(Register(f"status_{name}", 0, "ro", 0, WORD_MAX, 0, counts(name)))
        top_bits = Register(
            f"status_{name}_high", 0, "ro", 0, (1 << width - 32) - 1, 0, "its bits from 32 on"
        )
        rows.append(top_bits)
    registers = tuple(replace(row, offset=WORD_BYTES * i) for i, row in enumerate(rows))
    return RegisterMap(top, registers, len(settings), len(counters))


def _constant(name: str, value: int, meaning: str) -> Register:
    return Register(name, 0, "ro", value, value, value, meaning)


def _packed(version: str) -> int:
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    return major << 16 | minor << 8 | patch


def check_settings(settings: Sequence[tuple[str, int]], known: Settings) -> Settings:
    """Return the settings of a top's configuration ports, given as (name, bits).

    Raises:
        ValueError: a port has no known range, or is too narrow for it.
    """
    found: dict[str, Setting] = {}
    for name, width in settings:
        if name not in known:
            raise ValueError(f"{name}: a configuration port without a legal range")
        if known[name].most >> width:
            raise ValueError(f"{name}: {width} bits do not hold {known[name].most}")
        found[name] = known[name]
    return found


WORD_MAX = (1 << 32) - 1  # of a register, which is a word of the bus


class Setting(NamedTuple):
    """A run-time register: its smallest and largest legal value, and its meaning."""

    least: int
    most: int
    meaning: str


Settings = Mapping[str, Setting]
