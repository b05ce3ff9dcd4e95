"""Scripts for Vivado: an IP for parts of AMD, and a block design for boards that Vivado knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.board import Board
from merp.models.fpga.order_codes import FAMILIES, family_of
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import Loader
from merp.tools.common.shipped import shipped_names
from merp.tools.fpga.export.package import render
from merp.tools.fpga.system.planned_system import PlannedStep, PlannedSystem

FOLDER: Final = "vivado"

MOST_OUTSTANDING: Final = 32
"""The IP declares at most this number of outstanding transactions."""

LEAST_ARENA: Final = 1 << 20
"""Fewest bytes of an arena under PYNQ."""


@dataclass(frozen=True, kw_only=True)
class BlockDesign:
    """A block design around the accelerator.

    Attributes:
        design: its host and its memory; a template in ``export/vivado/designs``.
        extra: files in addition to those of every block design.
        memory_mhz: clock of the memory's port from the clock wizard; None: memory makes its own.
        memory_mib: memory that the accelerator can see at most, 2^20 bytes.
        memory_width: the width of the memory's port, in words.
        registers_at: address of the registers for the host.
        host_in_memory: whether the host reaches memory by the same bus as the registers.
    """

    design: str
    extra: tuple[str, ...] = ()
    memory_mhz: int | None
    memory_mib: int
    memory_width: str
    registers_at: str
    host_in_memory: bool = False


MIG: Final = BlockDesign(
    design="mig",
    extra=("host.tcl",),
    memory_mhz=None,
    memory_mib=2048,
    memory_width="the width that the board files give MIG",
    registers_at="0x80000000",
    host_in_memory=True,
)
DESIGNS: Final[Mapping[str, BlockDesign]] = {
    "zynq": BlockDesign(
        design="zynq",
        memory_mhz=150,
        memory_mib=1024,
        memory_width="the 64 bits of S_AXI_HP0",
        registers_at="0x40000000",
    ),
    "zynquplus": BlockDesign(
        design="zynquplus",
        memory_mhz=250,
        memory_mib=2048,
        memory_width="the 128 bits of S_AXI_HP0_FPD",
        registers_at="0xA0000000",
    ),
    "artix7": MIG,
    "kintex7": MIG,
    "virtex7": MIG,
}
"""Block designs by the family of the part, as Vivado names it."""

WRAPPER: Final = "icape2.v"
FLASH: Final = "flash.tcl"
EVERY: Final = ("ip.tcl",)
BUILD: Final = ("build.tcl", "constraints.xdc")
PYNQ: Final = ("overlay.py", "train.ipynb")


def block_design(board: Board) -> BlockDesign | None:
    """Return the block design for a board; None if its file has no ``[vivado]``.

    Raises:
        BadInput: there is no block design for its part.
    """
    if board.vivado is None:
        return None
    family = family_of(board.part.order_code)
    if family is None or family.name not in DESIGNS:
        titles = ", ".join(each.title for each in FAMILIES if each.name in DESIGNS)
        raise BadInput(
            f"{given('board', board.name)}: vivado: part {board.part.name}: no block design: "
            f"allowed are {titles}"
        )
    return DESIGNS[family.name]


def vivado_values(step: PlannedStep, planned: PlannedSystem) -> dict[str, Any]:
    """Return the values of the scripts of a bitstream; ``scripts`` has the names of the files.

    There are none if Vivado does not build for the part.
    """
    board, interface = step.board, planned.system.design.interface
    family, design = family_of(board.part.order_code), block_design(board)
    if family is None:
        return {"scripts": ()}
    pynq = board.vivado is not None and board.vivado.pynq and len(step.systems) == 1
    icap = planned.system.design.loader == Loader.ICAPE2
    every = (*EVERY, WRAPPER) if icap else EVERY
    found = {
        "scripts": every,
        "flash": board.flash if icap else None,
        "loading": _loading(step, planned) if icap else {},
        "design": None,
        "pynq": pynq,
        "order_code": board.part.order_code,
        "family": family.name,
        "clock_mhz": f"{board.clock_mhz:g}",
        "address_space": f"{1 << interface.port.address_bits - 30}G",
        "reads": _outstanding(interface.readers),
        "writes": _outstanding(interface.writers),
        "arena": _arena(step),
        "loaded": _loaded(step.network.name),
        "offsets": {each.name: each.offset for each in planned.system.host.registers},
    }
    if design is None or board.vivado is None:
        return found
    return found | asdict(design) | {
        "scripts": (*every, *BUILD, *design.extra, *(PYNQ if pynq else ())),
        "board_part": board.vivado.board_part,
        "memory_mib": min(design.memory_mib, board.memory_mib or design.memory_mib),
    }  # fmt: skip


def _loading(step: PlannedStep, planned: PlannedSystem) -> dict[str, int]:
    """Return the hash of the next accelerator, for each list of a bitstream that loads it."""
    hashes = {each.name: each.system.host["configuration"].reset for each in step.systems}
    return {name: hashes[step.loading[name]] for name in planned.lists if name in step.loading}


def flash_values(step: PlannedStep) -> dict[str, Any]:
    """Return the values of the page and the script of several bitstreams."""
    board, design = step.board, block_design(step.board)
    return {
        "flash": board.flash,
        "built": design is not None,
        "arena": _arena(step),
        "processor": design is not None and not design.host_in_memory,
    }


def write_flash(folder: Path, values: Mapping[str, Any]) -> None:
    """Write the script that joins all bitstreams for flash, if Vivado builds them for flash."""
    if values["flash"] is not None and values["built"]:
        text = render(f"{FOLDER}/{FLASH}.jinja", values)
        (folder / FLASH).write_text(text, encoding="ascii")


def _arena(step: PlannedStep) -> int:
    return max(LEAST_ARENA, 1 << (step.end - 1).bit_length())


def _outstanding(movers: Iterable[tuple[str, Mover]]) -> int:
    return min(MOST_OUTSTANDING, sum(mover.bursts for _, mover in movers))


def _loaded(network: str) -> str:
    """Return the argument of ``merp.load``."""
    return network if network in shipped_names() else f"{network}.toml"


def write_vivado(folder: Path, values: Mapping[str, Any]) -> None:
    """Write the scripts of a bitstream into a new folder in ``folder``, if there are any.

    Args:
        folder: the folder of the package.
        values: values of the package, with ``vivado_values``.
    """
    place = folder / FOLDER
    if values["scripts"]:
        place.mkdir()
    for name in values["scripts"]:
        (place / name).write_text(render(f"{FOLDER}/{name}.jinja", values), encoding="ascii")
