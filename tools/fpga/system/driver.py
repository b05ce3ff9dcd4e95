"""The C driver of an accelerator, and the tables from which it encodes its lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from merp.cosim.board.lists import WORD_BYTES, Moved
from merp.cosim.board.system import BoardEngine
from merp.models.base.names import identifier
from merp.models.memory import commands as make
from merp.models.memory.layout import ALIGN
from merp.models.memory.params.commands import ENGINE, MOST_WORDS, WALK_WORDS, Failure, Operation
from merp.models.memory.params.subsystem import LIST
from merp.models.memory.walk import Walk
from merp.models.network.phase import UPDATE
from merp.models.network.phases import PHASES
from merp.tools.fpga.bitstream.register_files import c_defines
from merp.tools.fpga.export.package import render
from merp.tools.fpga.system.planned_system import PlannedStep, PlannedSystem

FOLDER: Final = "driver"
SOURCES: Final = "merp.h", "merp.c"
TABLES: Final = "system.h"

PREFIX: Final = "update_config_"
UPDATES: Final = tuple(f"{PREFIX}{name}" for name in ("rate", "update_shift", "momentum", "seed"))
"""Settings of kernel updates that a driver may change from step to step."""

NONE: Final = (1 << 16) - 1
"""In place of the index of a setting that an engine lacks."""

BASE_WORDS: Final = 2
"""Words of the address of a walk in its command."""


def write_driver(folder: Path, step: PlannedStep, planned: PlannedSystem, title: str) -> None:
    """Write the driver of a bitstream into a new folder in ``folder``.

    Args:
        folder: the folder of the package.
        step: the step of all bitstreams.
        planned: the accelerator of this bitstream.
        title: title of the package, in one line.
    """
    place = folder / FOLDER
    place.mkdir()
    loader = step.loads and step.loads.loader.value
    values = {"title": title, "version": version("merp"), "loader": loader}
    values |= tables(step, planned)
    for name in (*SOURCES, TABLES):
        (place / name).write_text(render(f"{FOLDER}/{name}", values), encoding="ascii")


def tables(step: PlannedStep, planned: PlannedSystem) -> dict[str, Any]:
    """Return the tables of a bitstream, as the template of the header needs them."""
    layout, design = step.memory.layout, planned.system.design
    first = layout.first
    streams = [*design.numbers, LIST]
    layers = [layer.name for layer in step.network.layers]
    made = _Rows(list(layout.arrays), layout.addresses, layers)
    words = step.loads.words if step.loads else {}
    for name in planned.lists:
        load = (words.get(step.loading.get(name, ""), NONE),) if words else ()
        made.add(planned, name, first, load)
    return {
        "registers": list(c_defines(planned.system.host)),
        "constants": {
            **{f"OPERATION_{each.name}": int(each) for each in Operation},
            "MOST_WORDS": MOST_WORDS, "WALK_WORDS": WALK_WORDS, "ENGINE_REGISTERS": ENGINE,
            "NONE": NONE,
        },
        "align": ALIGN,
        "bytes": step.end - first,
        "address": first,
        "enums": {
            "array": constants(layout.arrays),
            "layer": constants(layers),
            "list": constants(planned.lists),
            "update": constants(name.removeprefix(PREFIX) for name in UPDATES),
            "stream": constants(streams),
            "failure": [each.name for each in Failure],
        },
        "streams": streams,
        "failures": [each.name.lower() for each in Failure],
        "arrays": [
            {"name": name, "offset": layout.addresses[name] - first, "bytes": each.size}
            for name, each in layout.arrays.items()
        ],
        "engines": [_engine(each) for each in planned.system.engines],
        "settings": list(made.settings),
        "shapes": list(made.shapes),
        "walks": made.walks,
        "passes": made.passes,
        "lists": made.lists,
    }  # fmt: skip


def constants(names: Iterable[str]) -> list[str]:
    """Return a name in C for each name. Names that become equal get a number."""
    found: list[str] = []
    for name in names:
        plain = wanted = identifier(name).upper()
        number = 1
        while wanted in found:
            number += 1
            wanted = f"{plain}_{number}"
        found.append(wanted)
    return found


def _engine(engine: BoardEngine) -> dict[str, Any]:
    registers = engine.registers
    names = [each.name for each in registers.registers]
    settings = names[registers.first_setting : registers.first_counter]
    return {
        "name": engine.name,
        "hash": registers["configuration"].reset,
        "registers": [
            registers.index("configuration"),
            registers.first_setting, registers.settings,
            *map(registers.index, ("error", "interrupt", "control", "status")),
            registers.first_counter, engine.counters,
        ],
        "updates": [settings.index(name) if name in settings else NONE for name in UPDATES],
    }  # fmt: skip


class _Rows:
    """Rows of passes. Equal settings, and equal shapes of walks, are one row.

    Attributes:
        settings: index of the first element of each row.
        shapes: number of each row.
        walks, passes, lists: the other rows.
    """

    def __init__(
        self, arrays: Sequence[str], addresses: Mapping[str, int], layers: Sequence[str]
    ) -> None:
        """Begin with no row; arrays and layers have their numbers by their order."""
        self._arrays, self._addresses, self._layers = arrays, addresses, layers
        self._elements = 0  # of all rows of settings
        self.settings: dict[tuple[int, ...], int] = {}
        self.shapes: dict[tuple[int, ...], int] = {}
        self.walks: list[tuple[int, ...]] = []
        self.passes: list[dict[str, Any]] = []
        self.lists: list[tuple[int, ...]] = []

    def add(
        self, planned: PlannedSystem, name: str, first: int, load: tuple[int, ...] = ()
    ) -> None:
        """Add a list.

        ``first`` is the address of the arena, ``load`` the word of the bitstream to load.
        """
        placed, row = planned.lists[name], planned.list_row(name)
        records = placed.records
        self.lists.append(
            (
                placed.address - first, row["words"],
                records.base * WORD_BYTES - first, self._shape(records, 0),
                len(self.passes), len(placed.passes), row["cycle_limit"], *load,
            )
        )  # fmt: skip
        found = zip(
            planned.plan.lists[name], placed.passes, placed.begins, row["passes"], strict=True
        )
        for each, on_board, command, facts in found:
            walks = [
                self._walk(on_board.engine, stream, moved, each.parts[stream].array)
                for stream, moved in on_board.moves.items()
            ]
            numbers = (
                self._settings(tuple(on_board.config[setting] for setting in on_board.settings)),
                len(self.walks), facts["settings"]["word"], command,
                self._layers.index(each.layer), on_board.engine.number, len(walks),
                int(UPDATE in PHASES[each.phase].does),
            )  # fmt: skip
            self.walks += walks
            self.passes.append({"name": str(each), "row": numbers})

    def _walk(self, engine: BoardEngine, stream: str, moved: Moved, array: str) -> tuple[int, ...]:
        number, mover = engine.movers[stream]
        base = moved.walk.base - self._addresses[array] // mover.word_bytes
        shift = mover.word_bytes.bit_length() - 1
        return base, self._shape(moved.walk, moved.tail), self._arrays.index(array), number, shift

    def _shape(self, walk: Walk, tail: int) -> int:
        words = make.walk(0, walk, tail).words[BASE_WORDS:]
        return self.shapes.setdefault(words, len(self.shapes))

    def _settings(self, values: tuple[int, ...]) -> int:
        if values not in self.settings:
            self.settings[values] = self._elements
            self._elements += len(values)
        return self.settings[values]
