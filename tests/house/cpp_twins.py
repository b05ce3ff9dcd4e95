"""Twins in C++ as blocks of MyHDL, so that the tests of an array and its twin run on them, too."""

import ctypes
import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from myhdl import always

from checkout import ROOT
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.verilator_build import TWIN_FLAGS
from merp.cosim.engines.verilator_twins import CLOCK, twin_of, unit_of
from merp.hdl.conversion.convert import Configuration, Port
from merp.hdl.conversion.entity import Entity
from merp.testbenches.block.trace import flatten

OUTPUTS = {"sums_valid", "sums_data", "read_element", "gradient", "rank_copied", "rank_sums"}
NAME = "twin"
ARITHMETIC = ROOT / "hdl/behavioural"


def in_cpp(block: Entity) -> Entity:
    """A block for simulation that behaves as the twin in C++ of ``block``: the same arguments."""

    @functools.wraps(block.func)
    def array(*given: Any, **named: Any) -> Any:
        args = dict(zip(block.func.__code__.co_varnames, given, strict=False)) | named
        signals = flatten(args)
        clk = signals.pop(CLOCK)
        ports = tuple(
            Port(name, name in OUTPUTS, len(signal) or None) for name, signal in signals.items()
        )
        params = {name: value for name, value in args.items() if not flatten({name: value})}
        clock = clock_of(block, params, ports)
        read = [signal for name, signal in signals.items() if name not in OUTPUTS]
        driven = [signals[port.name] for port in ports if port.is_output]

        @always(clk.posedge)
        def compute() -> None:
            for signal, value in zip(driven, clock(read, driven), strict=True):
                signal.next = value

        return compute

    return Entity(array)


def either(block: Entity, *of_rtl: pytest.MarkDecorator) -> list[Any]:
    """A block, its twin in Python and its twin in C++, as parameters of a test.

    ``of_rtl`` are further marks of the block itself.
    """
    cpp = pytest.param(in_cpp(block), marks=pytest.mark.verilator, id="cpp")
    return [
        pytest.param(block, marks=of_rtl, id="rtl"),
        pytest.param(block.twin, id="behavioural"),
        cpp,
    ]


def clock_of(
    block: Entity, params: Mapping[str, Any], ports: tuple[Port, ...]
) -> Callable[[list[Any], list[Any]], list[int]]:
    """An edge of the clock of a new object: signals that it reads and drives; what it drives."""
    header = twin_of(block)
    assert header is not None
    text = unit_of(NAME, header, Configuration(block, params, ports), set())
    library = loaded(text)
    made, edge = library[f"{NAME}_made"], library[f"{NAME}_clock"]
    made.restype = ctypes.c_void_p
    twin = ctypes.c_void_p(made())

    def clock(read: list[Any], driven: list[Any]) -> list[int]:
        inputs = [words(int(signal), len(signal) or 1) for signal in read]
        outputs = [words(0, len(signal) or 1) for signal in driven]
        edge(twin, *inputs, *outputs)
        return [int.from_bytes(output.raw, "little") for output in outputs]

    return clock


def words(value: int, bits: int) -> Any:
    """A port as DPI hands it over."""
    size = -(-bits // 32) * 4
    return ctypes.create_string_buffer(value.to_bytes(size, "little"), size)


def cpp(text: str) -> ctypes.CDLL:
    """C++ that includes headers of the arithmetic, compiled as for Verilator."""
    return loaded(re.sub(r'(?<=#include ")', f"{ARITHMETIC}/", text))


@functools.cache
def loaded(text: str) -> ctypes.CDLL:
    """C++, compiled as for Verilator."""
    with TemporaryDirectory() as folder:
        source, library = Path(folder, "twin.cpp"), Path(folder, "twin.so")
        source.write_text(text, encoding="ascii")
        flags = [*TWIN_FLAGS, "-shared", "-fPIC"]
        done = run(["g++", *flags, str(source), "-o", str(library)])
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))
