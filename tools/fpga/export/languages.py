"""The languages of an export, and the template files of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merp.hdl.conversion.convert import Language


@dataclass(frozen=True)
class Dialect:
    """A language of a package.

    Attributes:
        name: name in the converter.
        title: name on a page.
        suffix: suffix of the hardware files.
        bench: templates of the testbench, in compilation order.
        waivers: the template that waives lint warnings about spare bits; none in VHDL.
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
"""The languages, by the value of ``--language``."""
