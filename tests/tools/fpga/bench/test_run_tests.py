"""Whether tests passed is read from their results: the runner ends well where they did not."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from marks import rows_in_full
from merp.cocotb import Package, run_tests

VHDL = """
library ieee;
use ieee.std_logic_1164.all;
entity wire is
    port (a : in std_logic; b : out std_logic);
end entity wire;
architecture plain of wire is
begin
    b <= a;
end architecture plain;
"""
VERILOG = "module wire_v (input wire a, output wire b);\n    assign b = a;\nendmodule\n"
HEAD = """
import os
import cocotb
from cocotb.triggers import Timer

SIMULATED = "MERP_PACKAGE" in os.environ


@cocotb.test()
async def one(dut):
    dut.a.value = 1
    await Timer(1, "ns")
    assert dut.b.value == 1


@cocotb.test()
async def two(dut):
    {}
"""


def package_of(folder: Path, language: str) -> Package:
    """A package of a wire, which has neither registers nor streams."""
    top, suffix, text = ("wire", "vhd", VHDL) if language == "vhdl" else ("wire_v", "v", VERILOG)
    (folder / "hdl").mkdir(parents=True)
    (folder / "hdl" / f"{top}.{suffix}").write_text(text)
    manifest = {
        "top": top, "language": language, "format": {"exp_bits": 8, "frac_bits": 23},
        "compile_order": [f"hdl/{top}.{suffix}"], "streams": {},
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Package(folder)


def ran(folder: Path, text: str, language: str = "vhdl") -> int:
    """Run the tests of a module of ``text``, imported here first, as pytest imports one."""
    package, path = package_of(folder / "package", language), folder / "cases.py"
    path.write_text(text)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(text, path, "exec"), module.__dict__)
    return run_tests(package, module, folder / "work")


@pytest.mark.ghdl
def test_tests_that_pass_are_counted_in_ghdl(tmp_path: Path) -> None:
    assert ran(tmp_path, HEAD.format("pass")) == 2


@pytest.mark.full  # the example's layer runs in it
@pytest.mark.verilator
def test_tests_that_pass_are_counted_in_verilator(tmp_path: Path) -> None:
    assert ran(tmp_path, HEAD.format("pass"), "verilog") == 2


@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("error", "text", "said"),
    [
        (AssertionError, HEAD.format("assert dut.b.value == 0"), "1 of 2 cocotb tests failed: two"),
        (RuntimeError, f"{HEAD.format('pass')}\nassert not SIMULATED\n", "ended without results"),
        (RuntimeError, f"{HEAD.format('pass')}\nif SIMULATED:\n    del two\n",
         "1 cocotb tests were run, 2 expected"),
        *rows_in_full(
            (AssertionError, HEAD.format("raise KeyError"), "1 of 2 cocotb tests failed: two"),
            (RuntimeError, HEAD.format("os._exit(0)"), "the simulation ended without results"),
        ),
    ],
    ids=["fails", "cannot be imported", "is not found", "errs", "dies"],
)  # fmt: skip
def test_what_does_not_pass_is_told(
    error: type[Exception], text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        ran(tmp_path, text)


@pytest.mark.ghdl
def test_what_the_simulator_refuses_is_told(tmp_path: Path) -> None:
    package = package_of(tmp_path / "package", "vhdl")
    package.files[0].write_text(VHDL.replace("b <= a", "b <= c"))
    module = ModuleType("cases")
    module.__file__ = str(tmp_path / "cases.py")
    exec(HEAD.format("pass"), module.__dict__)
    with pytest.raises(RuntimeError, match=r"ghdl failed on wire: .*\"c\""):
        run_tests(package, module, tmp_path / "work")
