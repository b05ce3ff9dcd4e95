"""Examine an installation: Python, packages, extras, programs and usable engines."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from merp.tools.doctor.packages import OWN, Package, extras, packages
from merp.tools.doctor.programs import Program, answer, programs

SYSTEM = "Linux x86_64"
"""The supported system, as ``uname`` calls it."""

ENABLES: Mapping[str, str] = {
    "hdl": "--engine verilator, ghdl; merp.cocotb; FST files",
    "board": "simulated boards with DDR3 memory",
    "litex": "system --simulate, --build",
    "onnx": "import, export-weights; ONNX models as NETWORK",
    "train": "train, formats: --data digits",
    "fpga": "resources, calibrate",
    "search": "explore --method nsga2",
    "cluster": "train --architecture chain --mpi",
    "sweep": "sweep --dask",
    "notebook": "the notebooks of the documentation",
    "docs": "make docs",
    "bench": "make bench, with PyTorch",
    "dev": "make test",
    "full": "make test-full",
}
"""The purpose of each extra."""

OWN_WORK = frozenset({"bench", "docs", "dev", "full"})
"""Extras for work on merp itself."""

_PROGRAMS: Mapping[str, Sequence[str]] = {
    "myhdl": (),
    "verilator": ("verilator", "g++", "make"),
    "ghdl": ("ghdl",),
}
"""Programs that each engine starts."""

COCOTB = "cocotb"

_DRIVEN = "ghdl"
"""The engine that cocotb drives."""

_MINOR = re.compile(r"Programming Language :: Python :: (3\.\d+)")


@dataclass(frozen=True)
class Extra:
    """An extra of merp, with its packages."""

    name: str
    packages: Sequence[Package]

    @property
    def wrong(self) -> list[Package]:
        """Packages that are missing, or installed in a version that is not allowed."""
        return [each for each in self.packages if not each.right]

    @property
    def install(self) -> str:
        """The command line that completes it."""
        return f"pip install '{OWN}[{self.name}]'"


class Examination:
    """The state of this installation. Each part is looked up when it is first used."""

    version = metadata.version(OWN)
    python = platform.python_version()
    system = f"{platform.system()} {platform.machine()}"

    @cached_property
    def pythons(self) -> list[str]:
        """Minor versions of Python that are supported, from the oldest on."""
        classifiers = metadata.metadata(OWN).get_all("Classifier") or []
        found = [match[1] for each in classifiers if (match := _MINOR.fullmatch(each))]
        return sorted(found, key=lambda minor: int(minor.partition(".")[2]))

    @property
    def supported(self) -> bool:
        """Whether Python and system are supported."""
        minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return self.system == SYSTEM and minor in self.pythons

    @cached_property
    def required(self) -> list[Package]:
        """Packages that merp always requires."""
        return packages()

    @property
    def wrong(self) -> list[Package]:
        """Required packages that are missing, or installed in a version that is not allowed."""
        return [each for each in self.required if not each.right]

    @cached_property
    def extras(self) -> list[Extra]:
        """All extras."""
        return [Extra(name, packages(name)) for name in extras()]

    @cached_property
    def programs(self) -> Mapping[str, Program]:
        """All programs, by name."""
        return programs()

    @cached_property
    def lacking(self) -> dict[str, list[str]]:
        """The lacking packages and programs of each engine; a usable engine lacks nothing."""
        found = {
            engine: [
                *(each.name for each in self.wrong),
                *(name for name in names if not self.programs[name].works),
            ]
            for engine, names in _PROGRAMS.items()
        }
        found[_DRIVEN] += self._lacking_cocotb()
        return found

    def _lacking_cocotb(self) -> list[str]:
        """Return cocotb, or the library that it needs, if it is not usable."""
        if any(each.name == COCOTB and each.right for x in self.extras for each in x.packages):
            return [] if _has_libpython() else ["libpython"]
        return [COCOTB]

    @property
    def has_pip(self) -> bool:
        """Whether pip is installed."""
        return find_spec("pip") is not None

    def json(self) -> dict[str, Any]:
        """The answer for programs."""
        return {
            "merp": self.version,
            "python": self.python,
            "system": self.system,
            "supported": self.supported,
            "pip": self.has_pip,
            "right": not self.wrong,
            "packages": _by_name(self.required),
            "extras": {
                each.name: {
                    "complete": not each.wrong,
                    "enables": ENABLES.get(each.name, ""),
                    "install": each.install,
                    "packages": _by_name(each.packages),
                }
                for each in self.extras
            },
            "programs": {
                name: {
                    "path": each.path,
                    "version": each.version,
                    "works": each.works,
                    "enables": each.known.enables,
                    "install": each.known.install,
                }
                for name, each in self.programs.items()
            },
            "engines": {
                engine: {"ready": not lacks, "lacks": lacks}
                for engine, lacks in self.lacking.items()
            },
        }


def _by_name(some: Sequence[Package]) -> dict[str, Any]:
    return {
        each.name: {"version": each.version, "allowed": each.allowed, "right": each.right}
        for each in some
    }


def _has_libpython() -> bool:
    """Whether cocotb finds the shared library of this Python; cocotb's package looks for it."""
    if "LIBPYTHON_LOC" in os.environ:
        return True
    return bool((answer([sys.executable, "-P", "-m", "find_libpython"]) or "").strip())
