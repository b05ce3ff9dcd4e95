"""An exported package in its folder: the data of a testbench, read from its files only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.phases.audit.vectors import ANY
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.file_format import PACKAGE, check_format
from merp.models.base.fixed import FIXED16, FixedFormat, Fractions
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat
from merp.testbenches.top.run import DerivedSource
from merp.testbenches.top.top import Pin, TopPorts
from merp.tools.common.owned import MANIFEST
from merp.tools.common.stored import format_of_facts

ENGINES = {"vhdl": "ghdl", "verilog": "verilator"}
"""The simulator of a package, by its language."""

HIGH = "_high"  # suffix of a counter's register with the bits from 32 on
STATUS = "status_"  # prefix of the registers of counters


@dataclass(frozen=True)
class Vectors:
    """A run in a package, and its expected results.

    Attributes:
        registers: value of each setting, by the register's name.
        inputs: input words, by stream: (words,) ``uint32``.
        outputs: expected output words, by stream; words that may have any value are masked.
        counters: expected values of counters, by the names in ``Result.counters``.
    """

    registers: Mapping[str, int]
    inputs: Mapping[str, Bits]
    outputs: Mapping[str, Bits]
    counters: Mapping[str, int]


class Package:
    """A folder that ``merp export`` wrote.

    Attributes:
        folder: its path.
        manifest: content of ``manifest.json``.
        fmt: format of the arithmetic.

    Raises:
        BadInput: the folder holds no package, or one of another version.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        path = self.folder / MANIFEST
        try:
            self.manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            check_format(f"package {folder}: {MANIFEST}", self.manifest, PACKAGE)
            streams = self.manifest["streams"]
            self.fmt = _format(self.manifest["format"])
            self._formats = {
                name: format_of_facts(each["format"])
                for name, each in streams.items()
                if "format" in each
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"package {folder}: no package that merp export has written") from error
        self._ports = {name: each["port"] for name, each in streams.items()}
        self._widths = {name: each["width"] for name, each in streams.items()}
        self._lanes = {name: each.get("lanes", 1) for name, each in streams.items()}

    @property
    def top(self) -> str:
        """Name of the entity or module with the AXI ports."""
        return str(self.manifest["top"])

    @property
    def engine(self) -> str:
        """The simulator of its language: ``ghdl`` for VHDL, ``verilator`` for Verilog."""
        return ENGINES[self.manifest["language"]]

    @property
    def files(self) -> list[Path]:
        """The hardware files in the order of compilation, with the top last."""
        order = self.manifest["compile_order"]
        return [self.folder / name for name in order if name.startswith("hdl/")]

    @property
    def inputs(self) -> list[str]:
        """Names of the input streams."""
        return [name for name in self._ports if name.startswith("s_")]

    @property
    def outputs(self) -> list[str]:
        """Names of the output streams."""
        return [name for name in self._ports if name.startswith("m_")]

    @property
    def addresses(self) -> Mapping[str, int]:
        """Address of each register in bytes, by its name."""
        addresses: dict[str, int] = self.manifest["registers"]
        return addresses

    @property
    def settings(self) -> list[str]:
        """Registers with the parameters of a layer."""
        return list(self.manifest["settings"])

    @property
    def counters(self) -> list[str]:
        """Names of the counters: words by port, cycles and slots."""
        return [
            name.removeprefix(STATUS)
            for name in self.addresses
            if f"{name}{HIGH}" in self.addresses
        ]

    @property
    def answers(self) -> dict[str, DerivedSource]:
        """Inputs whose words depend on earlier output words, with their conditions."""
        found: Mapping[str, Any] = self.manifest.get("answers", {})
        return {name: DerivedSource(**each) for name, each in found.items()}

    def counter_of(self, stream: str) -> str:
        """Return the counter of a stream's words; the stream itself if no counter counts them."""
        return str(self._ports[stream])

    def holds_numbers(self, stream: str) -> bool:
        """Return whether a stream's words are numbers; a ReLU/pooling mask has bytes."""
        return "state" not in self.counter_of(stream)

    def format_of(self, stream: str) -> StoredFormat | FixedFormat:
        """Return the format of a stream's numbers: ``fmt``, or their storage format."""
        return self._formats.get(stream, self.fmt)

    def layer(self, name: str) -> Mapping[str, Any]:
        """Return the manifest's entry of a layer: ``registers``, ``words`` by counter, ``runs``.

        Raises:
            BadInput: there is no such layer, or its passes have their own registers.
        """
        layers = {each["layer"]: each for each in self.manifest["layers"]}
        if name not in layers:
            raise BadInput(f"no layer {name!r}: allowed are {', '.join(layers)}")
        found: Mapping[str, Any] = layers[name]
        if "registers" not in found:
            raise BadInput(f"layer {name!r}: it is not one run: allowed are values of all settings")
        return found

    def passes(self, name: str = "small") -> list[str]:
        """Return the runs of ``vectors/<name>`` in order, as arguments of ``vectors``.

        Raises:
            BadInput: the package has no such vectors.
        """
        known = self.manifest["vectors"]
        if name not in known:
            raise BadInput(f"no vectors {name!r}: allowed are {', '.join(known)}")
        count = len(known[name].get("passes", ()))
        return [f"{name}/{number}" for number in range(1, count + 1)] or [name]

    def vectors(self, name: str = "small") -> Vectors:
        """Return the run in ``vectors/<name>``, one of ``passes``.

        Raises:
            BadInput: the package has no such vectors.
        """
        known = [each for vectors in self.manifest["vectors"] for each in self.passes(vectors)]
        if name not in known:
            raise BadInput(f"no vectors {name!r}: allowed are {', '.join(known)}")
        folder = self.folder / "vectors" / name
        status = _registers(folder / "status.txt")
        counters = {
            each: status[f"{STATUS}{each}"] | status[f"{STATUS}{each}{HIGH}"] << 32
            for each in self.counters
            if f"{STATUS}{each}" in status
        }
        return Vectors(
            registers=_registers(folder / "registers.txt"),
            inputs={stream: _words(folder, stream) for stream in self.inputs},
            outputs={stream: _words(folder, stream) for stream in self.outputs},
            counters=counters,
        )

    def ports(self) -> TopPorts:
        """Return the ports in the form of merp's testbenches."""
        return TopPorts(
            inputs=self._pins(self.inputs),
            outputs=self._pins(self.outputs),
            config=(),  # ports of the engine behind the registers
            status=tuple(Pin(f"{STATUS}{name}", 64) for name in self.counters),
        )

    def _pins(self, streams: Sequence[str]) -> tuple[Pin, ...]:
        return tuple(
            Pin(name, self._widths[name] * self._lanes[name], self._lanes[name]) for name in streams
        )


def _registers(path: Path) -> dict[str, int]:
    """Parse lines of address, value and name."""
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    return {name: int(value, 16) for _, value, name in rows}


def _words(folder: Path, stream: str) -> Bits:
    lines = (folder / f"{stream}.txt").read_text(encoding="ascii").split()
    words = np.array([0 if line == ANY else int(line, 16) for line in lines], np.uint32)
    if ANY not in lines:
        return words
    return np.ma.array(words, mask=[line == ANY for line in lines])


def _format(facts: Mapping[str, Any]) -> FloatFormat | FixedFormat:
    if facts.get("name") != FIXED16:
        return FloatFormat(**facts)
    layers = {name: Fractions(**each) for name, each in facts["layers"].items()}
    return FixedFormat(input=facts["input"], layers=layers, rounding=facts["rounding"])
