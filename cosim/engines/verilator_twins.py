"""Behavioural C++ models of arrays, which Verilator calls at each clock edge in place of their RTL.

The C++ model of a block is next to its behavioural Python model under the same stem: ``cu_array.h``
next to ``cu_array.py``. It is a class template, ``Twin<Of>``. ``Of`` has the parameters of one
entity (a dataclass becomes a struct) and the constants in capitals of the Python module.
``clock(in, out)`` is a clock edge. The members of ``in`` and ``out`` are the ports, by name.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import merp.hdl.behavioural
from merp.hdl.conversion.exports import Configuration, Export, Port
from merp.hdl.conversion.scope import Scope

CLOCK = "clk"
_INCLUDE = re.compile(r'^#include "(\S+)"\n', re.MULTILINE)
_ONCE = "#pragma once\n"
_INT = 1 << 31

_VECTORS = """\
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define VECTORS [[gnu::target_clones("avx2", "default"), gnu::flatten]]
#else
#define VECTORS
#endif
"""
"""Vector code for two kinds of processors in one executable, which chooses at its start.

Machines with different processors may share the cache.
"""


@dataclass(frozen=True)
class Twinned:
    """A design in which C++ objects replace some entities.

    Attributes:
        files: Verilog in dependency order; a replaced entity is a module that calls the object.
        units: complete C++ of each replaced entity, by the name of the entity.
        scope: the tree of instances, in which replaced entities are empty.
        sources: files from which the C++ was read.
    """

    files: tuple[Path, ...]
    units: Mapping[str, str]
    scope: Scope
    sources: frozenset[Path]


def plain(export: Export) -> Twinned:
    """Return the design as it was converted."""
    return Twinned(export.files, {}, export.scope, frozenset())


def twinned(export: Export) -> Twinned:
    """Replace each entity that has a C++ model, and its Verilog file.

    Files of entities that are no longer instantiated are omitted.
    """
    units: dict[str, str] = {}
    sources: set[Path] = set()
    files = {path.stem: path for path in export.files}
    for name, (configuration, *_) in export.configurations.items():
        header = twin_of(configuration.block)
        if header is not None:
            units[name] = unit_of(name, header, configuration, sources)
            files[name].write_text(_module(name, configuration.ports), encoding="ascii")
    used = set(_used(export, export.top, units))
    return Twinned(
        tuple(path for name, path in files.items() if name in used),
        {name: text for name, text in units.items() if name in used},
        _scope(export.scope, export, units),
        frozenset(sources),
    )


def twin_of(block: Any) -> Path | None:
    """Return the file of the C++ model of a block, or None."""
    twin = getattr(block, "twin", None)
    if twin is None:
        return None
    header = Path(str(inspect.getsourcefile(twin.func))).with_suffix(".h")
    return header if header.exists() else None


def _used(export: Export, name: str, units: Mapping[str, str]) -> Iterator[str]:
    yield name
    if name not in units:
        for child in export.children[name]:
            yield from _used(export, child, units)


def _scope(scope: Scope, export: Export, units: Mapping[str, str]) -> Scope:
    if scope.entity in units:
        [configuration] = export.configurations[scope.entity]
        ports = {port.name: scope.signals[port.name] for port in configuration.ports}
        return Scope({}, ports, scope.entity)
    inside = {name: _scope(each, export, units) for name, each in scope.inside.items()}
    return dataclasses.replace(scope, inside=inside)


def _module(name: str, ports: Sequence[Port]) -> str:
    """Return a module with these ports that calls the C++ object."""
    inputs = [port for port in ports if not port.is_output and port.name != CLOCK]
    outputs = [port for port in ports if port.is_output]
    declared = [
        f"    {'output reg ' if port.is_output else 'input  wire'} {_range(port)}{port.name}"
        + (" = 0" if port.is_output else "")
        for port in ports
    ]
    formals = [
        "        input chandle object",
        *(f"        input bit [{_bits(port) - 1}:0] {port.name}" for port in inputs),
        *(f"        output bit [{_bits(port) - 1}:0] {port.name}" for port in outputs),
    ]
    actuals = ["object", *(port.name for port in inputs), *(f"next_{p.name}" for p in outputs)]
    lines = [
        f"module {name} (",
        ",\n".join(declared),
        ");",
        f'    import "DPI-C" function chandle {name}_made();',
        f'    import "DPI-C" function void {name}_clock(',
        ",\n".join(formals),
        "    );",
        "    /* verilator tracing_off */",
        "    chandle object;",
        *(f"    bit [{_bits(port) - 1}:0] next_{port.name};" for port in outputs),
        "    /* verilator tracing_on */",
        f"    initial object = {name}_made();",
        f"    always @(posedge {CLOCK}) begin",
        f"        {name}_clock({', '.join(actuals)});",
        *(f"        {port.name} <= next_{port.name};" for port in outputs),
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _bits(port: Port) -> int:
    return port.width or 1


def _range(port: Port) -> str:
    return "" if port.width is None else f"[{port.width - 1}:0] "


def unit_of(name: str, header: Path, configuration: Configuration, sources: set[Path]) -> str:
    """Return the C++ of one entity.

    It includes its model, its parameters, and the functions that its module calls.
    """
    inputs = [p for p in configuration.ports if not p.is_output and p.name != CLOCK]
    outputs = [p for p in configuration.ports if p.is_output]
    formals = [
        "void* object",
        *(f"const uint32_t* {port.name}" for port in inputs),
        *(f"uint32_t* {port.name}" for port in outputs),
    ]
    lines = [
        "struct Of {",
        *members(configuration.parameters.items()),
        *members(_numbers(configuration.block.twin)),
        "};",
        "struct Inputs {",
        *(f"Input<{_bits(port)}> {port.name};" for port in inputs),
        "};",
        "struct Outputs {",
        *(f"Output<{_bits(port)}> {port.name};" for port in outputs),
        "};",
        "struct Object {",
        "Twin<Of> twin;",
        "Outputs out;",
        "};",
        "}  // namespace",
        f'extern "C" void* {name}_made() {{ return new Object; }}',
        f'extern "C" VECTORS void {name}_clock({", ".join(formals)}) {{',
        "Object& of = *static_cast<Object*>(object);",
        f"of.twin.clock(Inputs{{{', '.join(f'{{{port.name}}}' for port in inputs)}}}, of.out);",
        *(f"of.out.{port.name}.give({port.name});" for port in outputs),
        "}",
    ]
    included = _included(header, sources, set())
    return "\n".join((included, _VECTORS, "namespace {", *lines)) + "\n"


def _included(path: Path, sources: set[Path], known: set[Path]) -> str:
    """Return a file with all its included files, each once. The result is a complete unit."""
    known.add(path)
    sources.add(path)

    def file_of(found: re.Match[str]) -> str:
        folders = path.parent, Path(merp.hdl.behavioural.__path__[0])
        inner = next(f / found[1] for f in folders if (f / found[1]).exists())
        return "" if inner in known else _included(inner, sources, known)

    return _INCLUDE.sub(file_of, path.read_text(encoding="ascii").replace(_ONCE, ""))


def _numbers(twin: Any) -> Iterator[tuple[str, Any]]:
    """Yield the constants in capitals of the module of a C++ model."""
    for name, value in vars(inspect.getmodule(twin.func)).items():
        if name.isupper() and type(value) is int:
            yield name, value


def members(named: Any, *around: type) -> Iterator[str]:
    """Yield values as members of a struct, except values without a C++ type."""
    for name, value in named:
        if isinstance(value, bool):
            yield f"static constexpr bool {name} = {str(value).lower()};"
        elif isinstance(value, int):
            kind = "int" if -_INT <= value < _INT else "int64_t"
            yield f"static constexpr {kind} {name} = {value};"
        elif isinstance(value, str):
            yield f'static constexpr std::string_view {name} = "{value}";'
        elif dataclasses.is_dataclass(value) and not isinstance(value, (type, *around)):
            yield f"struct {name} {{"
            yield from members(_values(value), *around, type(value))
            yield "};"


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields and properties of a dataclass."""
    for name in sorted(field.name for field in dataclasses.fields(value)):
        yield name, getattr(value, name)
    for name, member in inspect.getmembers(type(value), lambda each: isinstance(each, property)):
        if not name.startswith("_"):
            yield name, member.__get__(value)
