"""Parameters of folded Verilog: what was converted elaborates, and nothing else does."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, always, always_comb
from test_generics import converted_fifos
from yosys import yosys

from merp.cosim.engines.simulators import find_verilator
from merp.hdl.base.signals import bits
from merp.hdl.conversion import _verilog_print
from merp.hdl.conversion._numbers import number
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.conversion.entity import entity
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from needed_tools import needs
from side_by_side import Design, verdicts

CHECK = re.compile(r"if \(!\((.*?)\)\) begin : is_converted\n", re.DOTALL)
PHASES = ("fp", "dp", "ku")


def rows(text: str) -> list[dict[str, int]]:
    """The parameters that a file admits."""
    found = CHECK.search(text)
    tests = re.findall(r"\(([^()]*)\)", found[1]) if found else []
    return [{name: int(n) for name, n in re.findall(r"(\w+) == (\d+)", each)} for each in tests]


def verilator(folder: Path, name: str, values: Mapping[str, int]) -> str:
    """What Verilator has against a module with these parameters, widths included."""
    program = find_verilator()
    command = [str(program.compiler), "--lint-only", "--timing", "-Wno-fatal", "-Wall"]
    command += ["-Werror-WIDTHEXPAND", "-Werror-WIDTHTRUNC", "-Werror-SELRANGE", "-y", "."]
    command += [f"-G{key}={value}" for key, value in values.items()]
    command += ["--top-module", name, f"{name}.v"]
    done = subprocess.run(
        command, cwd=folder, env=program.environment, capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def complaints_of_yosys(folder: Path, name: str, values: Mapping[str, int]) -> str:
    """The same of Yosys."""
    given = " ".join(f"-chparam {key} {value}" for key, value in values.items())
    script = f"read_verilog {name}.v; hierarchy -check -top {name} {given}"
    status, messages = yosys(script, folder)
    return messages if status else ""


def engine(phase: str, language: str, folder: Path) -> Export:
    """An engine of tiny3."""
    network = open_network("tiny3")
    top = axi_top(bitstream_of(network, network.layer("conv2"), phase).phase.top())
    return convert(top.function, top.args, "vhdl" if language == "vhdl" else "verilog", folder)


def fifos_in_verilog(folder: Path) -> Export:
    """Several depths and widths of a memory."""
    return converted_fifos(folder, language="verilog")


@pytest.mark.sample(1)
@pytest.mark.parametrize("phase", PHASES)
def test_the_modules_are_the_entities(phase: str, tmp_path: Path) -> None:
    modules = [file.stem for file in engine(phase, "verilog", tmp_path / "verilog").files]
    entities = [file.stem for file in engine(phase, "vhdl", tmp_path / "vhdl").files]
    assert ["hdl_support", *modules] == entities


def test_a_module_has_parameters_and_what_follows_from_them(tmp_path: Path) -> None:
    fifos_in_verilog(tmp_path)
    text = (tmp_path / "credit_fifo.v").read_text()
    assert "    parameter integer words = 6,\n    parameter integer data_width = 8\n" in text
    assert "localparam integer write_addr_width = $clog2(words);" in text
    assert "localparam integer fill_width = $clog2(words + 1);" in text
    assert "initial fill = {fill_width{1'b0}};" in text
    assert (
        "credit_fifo #(.words(39), .data_width(8)) made_2 (" in (tmp_path / "fifos.v").read_text()
    )
    assert [tuple(row.values()) for row in rows(text)] == [(6, 8), (4, 5), (39, 8)]


@pytest.mark.verilator
@needs("yosys")
def test_parameters_that_were_not_converted_are_refused(tmp_path: Path) -> None:
    fifos_in_verilog(tmp_path)
    for words, width in ((6, 8), (4, 5), (39, 8), (44, 8), (6, 5)):
        said = [
            tool(tmp_path, "credit_fifo", {"words": words, "data_width": width})
            for tool in (verilator, complaints_of_yosys)
        ]
        if (words, width) in ((6, 8), (4, 5), (39, 8)):
            assert said == ["", ""]
        else:
            line = "credit_fifo_was_not_converted_with_these_parameters"
            assert [line in each for each in said] == [True, True]


@pytest.mark.verilator
def test_every_configuration_of_an_engine_is_lean_in_its_widths(tmp_path: Path) -> None:
    seen = 0
    for file in engine("fp", "verilog", tmp_path).files:
        for values in rows(file.read_text()):
            seen += 1
            assert not verilator(tmp_path, file.stem, values)
    assert seen > 20


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("$clog2(words + 1)", "$clog2(words)"), ("= words - 1;", "= words - 2;"),
     ("{fill_width{1'b0}}", "{data_width{1'b0}}"), ("index < words;", "index <= words;")],
)  # fmt: skip
def test_parameters_are_compared_with_the_source(
    was: str, becomes: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = _verilog_print.printed
    monkeypatch.setattr(
        _verilog_print, "printed", lambda folded: printed(folded).replace(was, becomes)
    )
    with pytest.warns(RuntimeWarning, match="fifos is written without generics: "):
        fifos_in_verilog(tmp_path)


def test_expressions_of_vhdl_are_written_in_verilog() -> None:
    assert _verilog_print.translated("registered") == "registered != 0"
    assert _verilog_print.translated("not registered") == "registered == 0"
    assert _verilog_print.translated("most = 0 and width < 3") == "most == 0 && width < 3"
    largest = "maximum(ceil_log2(most + 1), 1)"
    assert _verilog_print.expression(largest) == "($clog2(most + 1) > 1 ? $clog2(most + 1) : 1)"
    assert _verilog_print.expression(number({(): 32, ("width",): -2})) == "32 - 2 * width"


@entity
def stage(clk: Any, a: Any, b: Any, y: Any, factor: int, is_kept: bool, with_b: bool) -> Any:
    """An output that is a register or none, and an input that may drive nothing."""
    largest = 2 ** len(y)
    sums = bits(len(y))
    unread = bits(len(y))

    if with_b:

        @always_comb
        def add() -> None:
            sums.next = (a * factor + b) % largest

    else:

        @always_comb
        def add() -> None:
            sums.next = (a * factor) % largest

    @always_comb
    def forget() -> None:
        unread.next = b % largest

    if is_kept:

        @always(clk.posedge)
        def give() -> None:
            y.next = sums

    else:

        @always_comb
        def give() -> None:
            y.next = sums

    return add, forget, give


@entity
def stages(clk: Any, a: Any, b: Any, kept: Any, wide: Any, narrow: Any) -> Any:
    """Configurations of one module that are unlike in more than numbers."""
    return (
        stage(clk, a, b, kept, factor=3, is_kept=True, with_b=True),
        stage(clk, a, b, wide, factor=5, is_kept=False, with_b=True),
        stage(clk, a, b, narrow, factor=7, is_kept=True, with_b=False),
    )


def stage_ports() -> dict[str, Any]:
    ports = {"clk": Signal(bool(0)), "a": bits(5), "b": bits(4)}
    return ports | {"kept": bits(6), "wide": bits(40), "narrow": bits(3)}


def test_outputs_and_inputs_of_one_module_may_differ(tmp_path: Path) -> None:
    files = convert(stages, stage_ports(), "verilog", tmp_path, check=True).files
    assert [file.stem for file in files] == ["stage", "stages"]
    text = files[0].read_text()
    assert re.search(r"output wire \[y_width - 1:0\] +y\n", text)
    assert "assign y = y_register;" in text
    assert "unread" not in text
    assert re.search(r"\.b +\(4'd0\)", files[1].read_text())


@pytest.mark.verilator
def test_they_do_what_the_simulation_does(tmp_path: Path) -> None:
    design = Design("stages", stages, stage_ports, ("a", "b"))
    assert verdicts([design], "verilator", tmp_path) == {"stages": "equal"}
