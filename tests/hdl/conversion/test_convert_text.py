"""What an export reads like: port maps, names, initial values."""

from pathlib import Path
from typing import Any

import pytest

from merp.hdl.conversion.convert import ExportError, convert
from traps import DESIGNS


def test_a_structural_top_needs_copies_of_its_outputs_alone(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["direct"]
    text = convert(function, make(), "vhdl", tmp_path, fold=False).files[-1].read_text()
    body = text[text.index("architecture") :]
    assert body == (
        "architecture rtl of direct is\n\n"
        "    signal source_data_num : unsigned(15 downto 0) := (others => '0');\n"
        "    signal pipe            : unsigned(15 downto 0) := (others => '0');\n\n"
        "begin\n\n"
        "    source_data <= std_logic_vector(source_data_num);\n\n"
        "    one : entity work.register_2\n"
        "        port map (\n"
        "            clk => clk,\n"
        "            d   => unsigned(d),\n"
        "            q   => pipe\n"
        "        );\n\n"
        "    two : entity work.register_2\n"
        "        port map (\n"
        "            clk => clk,\n"
        "            d   => pipe,\n"
        "            q   => source_data_num\n"
        "        );\n\n"
        "    three : entity work.ready_gate\n"
        "        port map (\n"
        "            a => source_ready,\n"
        "            y => source_valid\n"
        "        );\n\n"
        "end architecture rtl;\n"
    )


@pytest.mark.parametrize(
    ("hdl", "drivers"),
    [("vhdl", ['quiet <= x"0007";']), ("verilog", ["assign quiet = 16'h7;"])],
)
def test_a_signal_without_a_driver_gets_its_value(
    hdl: Any, drivers: list[str], tmp_path: Path
) -> None:
    function, make, _ = DESIGNS["aliases"]
    text = convert(function, make(), hdl, tmp_path).files[-1].read_text()
    assert all(driver in text for driver in drivers)


def test_verilog_initialises_registers_and_nothing_else(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["choices"]
    text = convert(function, make(), "verilog", tmp_path).files[-1].read_text()
    assert "    output reg  [7:0] y\n" in text
    assert "initial" not in text
    function, make, _ = DESIGNS["wrapping"]
    text = convert(function, make(), "verilog", tmp_path).files[-1].read_text()
    assert (
        "    initial position = 8'hf9;\n    initial angle = 8'hc8;\n    initial sign = 1'h0;\n"
    ) in text


def test_lists_name_their_elements_and_slices_stay_slices(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["indexed"]
    text = convert(function, make(), "vhdl", tmp_path, fold=False).files[-1].read_text()
    assert "    stores_3 : entity work.register_2\n" in text
    function, make, _ = DESIGNS["slices"]
    text = convert(function, make(), "vhdl", tmp_path, fold=False).files[-1].read_text()
    assert "middle" not in text


def test_variants_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["tables"]
    export = convert(function, make(), "vhdl", tmp_path, fold=False)
    assert list(export.instances) == [
        "flags_modeodd_enabled",
        "flags_modeodd",
        "flags_modeeven",
        "flags_modeeven_enabled",
        "tables",
    ]


def test_output_initial_values_make_configurations(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["starts"]
    export = convert(function, make(), "vhdl", tmp_path, fold=False)
    assert sorted(export.instances.values()) == [1, 1, 1, 2]


def test_the_top_may_have_another_name(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["direct"]
    export = convert(function, make(), "vhdl", tmp_path, name="register_top")
    assert export.top == "register_top"
    assert export.files[-1].name == "register_top.vhd"
    assert "entity register_top is" in export.files[-1].read_text()
    with pytest.raises(ExportError, match="entity name process is a keyword"):
        convert(function, make(), "vhdl", tmp_path, name="process")
