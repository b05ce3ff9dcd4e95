"""The languages of an export, and the files that each has for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merp.hdl.conversion.convert import Language


@dataclass(frozen=True)
class Dialect:
    """A language that a package is written in.

    Attributes:
        name: as the converter has it. title: as a page has it.
        suffix: of the files of hardware.
        bench: templates of the bench, in the order of compilation.
        waivers: the template that waives spare bits for a linter; none in VHDL.
    """

    name: Language
    title: str
    suffix: str
    bench: tuple[str, ...]
    waivers: tuple[str, ...] = ()


VHDL = Dialect(
    "vhdl", "VHDL", ".vhd",
    ("bench_words.vhd", "stream_source.vhd", "stream_check.vhd", "bench.vhd"),
)  # fmt: skip
VERILOG = Dialect(
    "verilog", "Verilog", ".v",
    ("bench_words.sv", "stream_source.sv", "stream_check.sv", "bench.sv"),
    ("lint.vlt",),
)  # fmt: skip
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (VHDL, VERILOG)}
"""By the name that ``--language`` takes."""
