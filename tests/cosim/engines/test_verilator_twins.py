"""Twins in C++: for what they stand, what is left of the RTL, and what a unit is made of."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.verilator_build import TWIN_FLAGS
from merp.cosim.engines.verilator_twins import Twinned, members, plain, twin_of, twinned
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.hdl.arithmetic.scaled_sum import scaled_sum
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.hdl.cnn_merp.gradient_array.gradient_array import gradient_array
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.array.mac_array import mac_array
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

DESIGN = EngineDesign(
    k=2, n_cu=2, r=1, kernel_words=4, groups=2, row_words=8, max_size=8, max_maps=4, fifo_words=4,
)  # fmt: skip
ARRAYS = [cu_array, gradient_array, row_array, mac_array]


def converted(top: Top, folder: Path) -> Twinned:
    return twinned(convert(top.function, top.args, "verilog", folder))


def ports(text: str) -> list[tuple[str, ...]]:
    """Which way each port of a module goes, its width and its name."""
    head = text[: text.index(");")]
    return re.findall(r"^    (input|output) +\w+ +(\[\d+:0\])? *(\w+)", head, re.MULTILINE)


@pytest.mark.parametrize("block", ARRAYS, ids=lambda block: block.func.__name__)
def test_an_array_has_a_twin_in_cpp_beside_that_in_python(block: object) -> None:
    header = twin_of(block)
    assert header is not None
    assert header.with_suffix(".py").exists()


def test_other_blocks_have_none() -> None:
    assert scaled_sum.twin is not None
    assert twin_of(scaled_sum) is None  # a twin in Python alone
    assert twin_of(forward_top(DESIGN).function) is None


def test_a_module_with_the_ports_of_the_array_stands_for_it(tmp_path: Path) -> None:
    top = forward_top(DESIGN, "behavioural")
    export = convert(top.function, top.args, "verilog", tmp_path / "whole")
    before = (tmp_path / "whole" / "cu_array.v").read_text()
    design = twinned(export)
    names = [path.stem for path in design.files]
    assert names == [path.stem for path in export.files if path.stem in names]
    assert set(export.blocks) - set(names) >= {"accumulator", "cu"}
    assert {"forward", "cu_array"} <= set(names)
    after = (tmp_path / "whole" / "cu_array.v").read_text()
    assert ports(after) == ports(before) != []
    assert list(design.units) == ["cu_array"]
    assert {path.name for path in design.sources} == {
        "cu_array.h", "integer_float.h", "integer_fused.h", "words.h"
    }  # fmt: skip
    assert plain(export).files == export.files
    assert not plain(export).units


def test_a_twin_in_python_alone_stays_rtl(tmp_path: Path) -> None:
    design = converted(kernel_update_top(DESIGN, "behavioural"), tmp_path)
    assert list(design.units) == ["gradient_array"]
    assert {"scaled_sum", "fp_mul", "fp_add"} <= {path.stem for path in design.files}


def test_a_unit_is_one_text_without_a_warning(tmp_path: Path) -> None:
    units = converted(forward_top(DESIGN, "behavioural"), tmp_path).units
    source = tmp_path / "cu_array.cpp"
    source.write_text(units["cu_array"])
    flags = [*TWIN_FLAGS, "-O0", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["g++", *flags, source], check=True)


@dataclass(frozen=True)
class Inner:
    fmt: FloatFormat
    text: str = "fused"
    flag: bool = True
    large: int = 1 << 40
    left_out: float = 0.5

    @property
    def itself(self) -> "Inner":
        return self


def test_parameters_are_members_of_structs() -> None:
    found = list(members({"design": Inner(FloatFormat(4, 3)), "none": None}.items()))
    assert found[:2] == ["struct design {", "static constexpr bool flag = true;"]
    assert found[2] == "struct fmt {"
    assert "static constexpr int exp_bits = 4;" in found
    assert "static constexpr int sign_bit = 128;" in found  # a property
    assert 'static constexpr std::string_view text = "fused";' in found
    assert f"static constexpr int64_t large = {1 << 40};" in found
    assert not any("left_out" in each or "itself" in each or "none" in each for each in found)


@pytest.mark.parametrize(
    "engine", ["myhdl", pytest.param("verilator", marks=pytest.mark.verilator)]
)
def test_nothing_is_inside_a_behavioural_array(engine: str, tmp_path: Path) -> None:
    wave = Wave.of(tmp_path / "w.vcd", "layer.units_inst.accumulators_0")
    with pytest.raises(BadInput) as told:
        run_job(Job(forward_top(DESIGN, "behavioural"), [], wave=wave), engine)
    assert str(told.value) == (
        "--wave-of layer.units_inst.accumulators_0: no instance 'accumulators_0' in "
        "layer.units_inst: it has none"
    )
