"""Memory of a simulated board: LiteDRAM's controller and its model of DDR3 memory, as Verilog.

LiteDRAM has the licence BSD-2-Clause. Its Verilog is generated on the user's machine and cached.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from merp.cosim.engines.programs.build_cache import Entry
from merp.hdl.memory.axi4 import Axi4
from merp.models.base.errors import BadInput
from merp.models.base.whole_numbers import check_ranges
from merp.models.memory.bus_record import MemoryFacts
from merp.models.memory.params.memory_port import BYTE, MemoryPort

MODULE = "merp_dram"
PREFIX = "axi_"
ID_BITS = 8
ADDRESS_BITS = 32
PHASES = 4
"""DRAM clocks in a cycle of the controller; a DDR memory moves two words in each."""

COMMANDS = "commands"
"""Output of the module: the commands of a cycle, which the controller gives to the memory. Each
phase has ``COMMAND_BITS``: a bit for each of ``KINDS``, then the bank.
"""

KINDS = {"activate": (0, 1, 1), "read": (1, 0, 1), "write": (1, 0, 0)}
"""Commands of DDR3 (JESD79-3F, 4.1): levels of RAS#, CAS# and WE#."""

BANK_BITS = 3
COMMAND_BITS = len(KINDS) + BANK_BITS
"""Bits of a command; every DDR3 memory has eight banks."""

PACKAGES = ("litedram", "litex", "migen")
VERILOG, GEOMETRY = "dram.v", "geometry.json"
_COMMENT = re.compile(r"\s*//.*")  # LiteX writes the date and a commit into its comments
_BANK = re.compile(r"^reg \[(\d+):0\] (mem(?:_\d+)?)\[0:(\d+)\];$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Dram:
    """A DDR3 memory and its controller.

    Attributes:
        module: name of a DDR3 module in ``litedram.modules``. It determines rows and timing.
        data_bits: bits of the memory's data bus: 8, 16, 32 or 64.
        clock_mhz: clock of the controller and of the accelerator, in MHz. The memory's own clock is
            four times as fast.

    Raises:
        ValueError: a field is out of range; the message names it and the allowed values.
    """

    module: str = "MT41K128M16"
    data_bits: int = 16
    clock_mhz: int = 100

    def __post_init__(self) -> None:
        """Check the fields."""
        if type(self.data_bits) is not int or self.data_bits not in (8, 16, 32, 64):
            raise ValueError(f"data_bits must be 8, 16, 32 or 64, not {self.data_bits}")
        check_ranges(self, {"clock_mhz": (50, 200)})

    @property
    def port_bits(self) -> int:
        """Bits of a beat of the AXI4 port."""
        return 2 * PHASES * self.data_bits

    @classmethod
    def with_port(cls, bits: int) -> Dram:
        """Return the memory whose port has beats of ``bits`` bits: 64, 128, 256 or 512.

        Raises:
            ValueError: it is another number.
        """
        return cls(data_bits=bits // (2 * PHASES))

    @classmethod
    def of(cls, facts: MemoryFacts) -> Dram:
        """Return the memory of these facts."""
        return cls(module=facts.module, data_bits=facts.data_bits, clock_mhz=facts.clock_mhz)

    @property
    def facts(self) -> MemoryFacts:
        """The facts of the memory for a record."""
        return MemoryFacts(self.module, self.data_bits, self.clock_mhz, self.port_bits // BYTE)


@dataclass(frozen=True, kw_only=True)
class GeneratedDram:
    """The Verilog of a memory, and the place of each byte in it.

    Consecutive bytes fill a row of a bank, then the same row of the next bank, then the next row.

    Attributes:
        verilog: the file, with one module.
        key: fingerprint of the file.
        beat_bytes: bytes of a beat, and of a word of the model.
        row_bytes: bytes of a row of one bank.
        banks: number of banks.
        rows: rows of a bank.
        arrays: the Verilog array of each bank.
    """

    verilog: Path
    key: str
    beat_bytes: int
    row_bytes: int
    banks: int
    rows: int
    arrays: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of the memory; its addresses begin at 0."""
        return self.row_bytes * self.banks * self.rows


def generated(dram: Dram) -> GeneratedDram:
    """Return the Verilog of a memory, from the cache if it was generated before.

    Raises:
        BadInput: LiteDRAM is not installed, has no such module, or the cache cannot be used.
    """
    try:
        versions = [metadata.version(name) for name in PACKAGES]
    except metadata.PackageNotFoundError as error:
        raise BadInput(
            f"{error.name}: package not found, install it with: pip install 'merp[board]'"
        ) from None
    source = Path(__file__).read_text(encoding="utf-8")
    key = hashlib.sha256(repr((dram, versions, source)).encode()).hexdigest()
    folder = Entry("dram", key).kept(lambda made: _write(dram, made))
    kept = json.loads((folder / GEOMETRY).read_text(encoding="ascii"))
    arrays = tuple(kept.pop("arrays"))
    return GeneratedDram(verilog=folder / VERILOG, key=key, arrays=arrays, **kept)


def _write(dram: Dram, folder: Path) -> None:
    text, (banks, rows, columns) = _converted(dram)
    plain = "".join(f"{line}\n" for line in _COMMENT.sub("", text).splitlines() if line.strip())
    (folder / VERILOG).write_text(plain, encoding="ascii")
    row_bytes = columns * dram.data_bits // BYTE
    beat_bytes = dram.port_bits // BYTE
    found = _BANK.findall(plain)
    words = row_bytes * rows // beat_bytes
    wanted = (str(dram.port_bits - 1), str(words - 1))
    arrays = [name for high, name, last in found if (high, last) == wanted]
    if len(arrays) != banks:
        raise RuntimeError(f"LiteDRAM's model has {len(arrays)} arrays, not one for each bank")
    geometry = {
        "beat_bytes": beat_bytes, "row_bytes": row_bytes, "banks": banks, "rows": rows,
        "arrays": arrays,
    }  # fmt: skip
    (folder / GEOMETRY).write_text(json.dumps(geometry), encoding="ascii")


def _converted(dram: Dram) -> tuple[str, tuple[int, int, int]]:
    """Return the Verilog, and the banks, rows and columns of the memory."""
    # The packages are an extra, and take a second to import.
    from litedram.core.controller import LiteDRAMController
    from litedram.core.crossbar import LiteDRAMCrossbar
    from litedram.frontend.axi import LiteDRAMAXI2Native, LiteDRAMAXIPort
    from litedram.phy.model import SDRAMPHYModel
    from litex.gen.fhdl import verilog
    from migen import Cat, ClockDomain, Module, Signal

    hertz = dram.clock_mhz * 1_000_000
    chip = _module(dram.module)(hertz, f"1:{PHASES}")
    design = Module()
    phy = SDRAMPHYModel(chip, data_width=dram.data_bits, clk_freq=hertz)
    controller = LiteDRAMController(phy.settings, chip.geom_settings, chip.timing_settings, hertz)
    crossbar = LiteDRAMCrossbar(controller.interface)
    native = crossbar.get_port()
    axi = LiteDRAMAXIPort(native.data_width, ADDRESS_BITS, id_width=ID_BITS)
    design.submodules += phy, controller, crossbar, LiteDRAMAXI2Native(axi, native)
    design.comb += controller.dfi.connect(phy.dfi)
    design.clock_domains.cd_sys = ClockDomain("sys")
    commands = Signal(PHASES * COMMAND_BITS, name_override=COMMANDS)
    phases = [_commands(phase, Cat) for phase in controller.dfi.phases]
    design.comb += commands.eq(Cat(*phases))
    pins = {design.cd_sys.clk, design.cd_sys.rst, commands}
    for name in vars(Axi4(MemoryPort(data_bits=dram.port_bits))):
        channel = next(each for each in ("aw", "w", "b", "ar", "r") if name.startswith(each))
        signal = getattr(getattr(axi, channel), name.removeprefix(channel))
        signal.name_override = f"{PREFIX}{name}"
        pins.add(signal)
    text = str(verilog.convert(design, pins, name=MODULE))
    return text, (chip.nbanks, chip.nrows, chip.ncols)


def _commands(phase: Any, cat: Any) -> Any:
    """Return the command of a phase of the DFI; ``cat`` concatenates signals."""
    pins = phase.ras_n, phase.cas_n, phase.we_n
    kinds = []
    for levels in KINDS.values():
        found = ~phase.cs_n
        for pin, level in zip(pins, levels, strict=True):
            found &= pin if level else ~pin
        kinds.append(found)
    return cat(*kinds, phase.bank)


def _module(name: str) -> Any:
    """Return a DDR3 module of LiteDRAM.

    Raises:
        BadInput: there is none of this name.
    """
    from litedram import modules

    found = getattr(modules, name, None)
    if getattr(found, "memtype", None) != "DDR3":
        raise BadInput(
            f"module {name}: allowed is a DDR3 module of litedram.modules, such as MT41K128M16"
        )
    return found
