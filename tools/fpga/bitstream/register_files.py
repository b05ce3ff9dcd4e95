"""Register map files for software: a page, a C header, Python constants.

They are written from the same description as the hardware.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from merp.models.base.register_map import (
    CONTROL,
    ERRORS,
    STATUS,
    WORD_MAX,
    Register,
    RegisterMap,
)

BITS = {"status": STATUS, "control": CONTROL, "error": ERRORS}
"""Names of the bits of a register, from bit 0."""

CONSTANTS = ("ident", "version", "configuration")
"""Registers whose value identifies the hardware."""


def range_text(register: Register) -> str:
    """Return the values that may be written, or that may be read."""
    if register.least == register.most:
        return f"{register.most:#010x}" if register.access == "ro" else str(register.most)
    if register.most == WORD_MAX:
        return "any word"
    return f"{register.least} to {register.most}"


def markdown(registers: RegisterMap, values: Mapping[str, int], layer: str) -> str:
    """Return a page; ``values`` are the settings of ``layer``, by name."""
    lines = [
        f"# Registers of `{registers.top}`",
        "",
        "Words of 32 bits. `ro` is read only; `wo` reads as 0; in `w1c` a bit is cleared by writing"
        " 1 to it.",
        "",
        f"| offset | register | access | range | reset | {layer} | |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in registers.registers:
        value = values.get(each.name, "")
        lines.append(
            f"| {each.offset:#05x} | `{each.name}` | {each.access} | {range_text(each)} "
            f"| {each.reset:#x} | {value} | {each.meaning} |"
        )
    return "\n".join(lines) + "\n"


def c_header(registers: RegisterMap, values: Mapping[str, int], layer: str) -> str:
    """Return a C99 header: offsets, bits, ranges, settings of ``layer``, counter access."""
    top = registers.top
    guard = f"{top.upper()}_H"
    lines = [
        f"/* Registers of {top}: offsets in bytes. Generated; do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
    ]
    lines += [
        *c_defines(registers),
        "",
        *(_c_settings(top, values, layer) if values else ()),
        "/* Reads a counter by the offset of its lowest word, also while it counts. */",
        f"static inline uint64_t {top}_counter(const volatile void *base, uint32_t offset)",
        "{",
        "    const volatile uint32_t *word = (const volatile uint32_t *)base + offset / 4;",
        "    uint32_t high, low;",
        "    do {",
        "        high = word[1];",
        "        low = word[0];",
        "    } while (high != word[1]);",
        "    return (uint64_t)high << 32 | low;",
        "}",
        "",
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


def c_defines(registers: RegisterMap) -> Iterator[str]:
    """Yield the macros of a C header: offsets, bits and ranges."""
    prefix = registers.top.upper()
    for each in registers.registers:
        yield (
            f"#define {prefix}_{each.name.upper()} {each.offset:#05x}u"
            f" /* {each.access}, {range_text(each)}: {each.meaning} */"
        )
    yield ""
    for name, value in _values(registers):
        yield f"#define {prefix}_{name.upper()} {value:#x}u"


def _c_settings(top: str, values: Mapping[str, int], layer: str) -> Iterator[str]:
    yield f"/* The settings of {layer}. */"
    yield f"static const struct {{ uint32_t offset, value; }} {top}_settings[] = {{"
    for name, value in values.items():
        yield f"    {{{top.upper()}_{name.upper()}, {value:#x}u}},"
    yield "};"
    yield ""


def python_constants(registers: RegisterMap, values: Mapping[str, int], layer: str) -> str:
    """Return a Python module: offsets, values, ranges, and the settings of ``layer``."""
    lines = [
        f'"""Registers of {registers.top}: offsets in bytes. Generated; do not edit."""',
        "",
        *(f"{each.name.upper()} = {each.offset:#05x}" for each in registers.registers),
        "",
        *(f"{name.upper()} = {value:#x}" for name, value in _values(registers)),
        "",
        "# The settings of " + layer + ": value by offset.",
        "SETTINGS = {",
        *(f"    {name.upper()}: {value:#x}," for name, value in values.items()),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _values(registers: RegisterMap) -> Iterator[tuple[str, int]]:
    """Yield values that software compares: identification, bits, and ranges of settings."""
    for name in CONSTANTS:
        yield f"{name}_value", registers[name].reset
    for name, bits in BITS.items():
        for place, bit in enumerate(bits):
            yield f"{name}_{bit}", 1 << place
    for each in registers.registers[registers.first_setting : registers.first_counter]:
        yield f"{each.name}_least", each.least
        yield f"{each.name}_most", each.most
