"""The register map: ranges that hold for every layer, and files that say what the hardware has."""

import json
import re
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from float_networks import FLOAT_NETWORKS

from checkout import ROOT
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.models.base.register_map import (
    ADDRESS_WIDTH,
    WORD_MAX,
    RegisterMap,
    Setting,
    check_settings,
    register_map,
)
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network.network import Layer, Network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from needed_tools import needs
from terminal import Terminal

TOP = forward_top(ELABORATIONS[6])
DOCS = ROOT / "docs"


def layers_with_designs() -> list[tuple[str, str]]:
    return [
        (name, layer.name)
        for name in FLOAT_NETWORKS
        for layer in open_network(name).layers
        if layer.design is not None
    ]


def check_values(network: Network, layer: Layer, phase: str, **choice: bool) -> None:
    bitstream = bitstream_of(network, layer, phase, **choice)
    registers = axi_registers_of(bitstream.phase.top())
    for images in (1, design_of(network, layer).max_images):
        values = bitstream.phase.registers(layer, images)
        assert len(values) == registers.settings
        for name, value in values.items():
            register = registers[name]
            assert register.least <= value <= register.most, f"{name} = {value}"


@pytest.mark.sample(44)
@pytest.mark.parametrize(("network", "layer"), layers_with_designs())
def test_the_settings_of_every_layer_are_legal(network: str, layer: str) -> None:
    found = open_network(network)
    one = found.layer(layer)
    check_values(found, one, "fp", state=True)
    check_values(found, one, "ku")
    check_values(found, one, "ku", before=True)
    if one is not found.layers[0]:
        check_values(found, one, "dp")
        check_values(found, one, "dp", before=True)


def test_offsets_follow_each_other_and_names_differ() -> None:
    registers = axi_registers_of(TOP)
    assert [each.offset for each in registers.registers] == list(
        range(0, 4 * len(registers.registers), 4)
    )
    names = [each.name for each in registers.registers]
    assert len(set(names)) == len(names)
    writable = [i for i, each in enumerate(registers.registers) if each.access != "ro"]
    assert writable == list(range(registers.first_writable, registers.first_counter))
    assert all(each.least <= each.reset <= each.most for each in registers.registers)


def test_another_elaboration_has_another_configuration() -> None:
    hashes = {
        axi_registers_of(forward_top(design))["configuration"].reset for design in ELABORATIONS
    }
    assert len(hashes) == len(ELABORATIONS)


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (
            [("map_config_rows", 4), ("map_config_color", 2)],
            "map_config_color: .* without a legal range",
        ),
        ([("map_config_rows", 3)], "map_config_rows: 3 bits do not hold 12"),
    ],
)
def test_a_port_without_its_range_is_refused(ports: list[tuple[str, int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_settings(ports, {"map_config_rows": Setting(1, 12, "")})


def test_registers_beyond_the_address_space_are_refused() -> None:
    settings = {f"a_config_{i}": Setting(0, 1, "") for i in range(1 << ADDRESS_WIDTH - 2)}
    with pytest.raises(ValueError, match="at most 4096"):
        register_map("wide", "0.1.0", "", settings, {})


def written(tmp_path: Path, *extra: str) -> Path:
    assert main(["registers", "alexnet", "--layer", "conv2", "-o", str(tmp_path), *extra]) == 0
    return tmp_path


def conv2() -> tuple[RegisterMap, dict[str, int]]:
    network = open_network("alexnet")
    layer = network.layer("conv2")
    phase = bitstream_of(network, layer, "fp").phase
    return axi_registers_of(phase.top()), phase.registers(layer, 1)


def test_page_and_python_constants_have_every_register(tmp_path: Path) -> None:
    folder = written(tmp_path)
    registers, values = conv2()
    page = (folder / "forward_axi.md").read_text()
    rows = re.findall(r"^\| (0x[0-9a-f]+) \| `(\w+)` \| (\w+) ", page, re.MULTILINE)
    assert rows == [(f"{r.offset:#05x}", r.name, r.access) for r in registers.registers]
    constants = runpy.run_path(str(folder / "forward_axi.py"))
    assert {r.name: constants[r.name.upper()] for r in registers.registers} == {
        r.name: r.offset for r in registers.registers
    }
    assert constants["SETTINGS"] == {registers[name].offset: v for name, v in values.items()}
    assert constants["CONFIGURATION_VALUE"] == registers["configuration"].reset
    assert constants["MAP_CONFIG_ROWS_MOST"] == 27


@needs("gcc")
def test_the_example_of_the_documentation_compiles_with_the_header(tmp_path: Path) -> None:
    folder = written(tmp_path)
    [example] = re.findall(r"```c\n(.*?)```", (DOCS / "axi.md").read_text(), re.DOTALL)
    registers, values = conv2()
    tests = [
        f'_Static_assert(FORWARD_AXI_{r.name.upper()} == {r.offset}, "");\n'
        for r in registers.registers
    ]
    settings = f'_Static_assert(sizeof forward_axi_settings == {8 * len(values)}, "");\n'
    (folder / "example.c").write_text(example + "".join(tests) + settings)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "example.c"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_json_has_registers_and_settings(terminal: Terminal) -> None:
    arguments = ["registers", "digits", "--layer", "conv2", "--phase", "dp", "--json"]
    answer = json.loads(terminal.output(*arguments))
    assert answer["top"] == "delta_axi"
    by_name = {each["name"]: each for each in answer["registers"]}
    assert all(by_name[name]["access"] == "rw" for name in answer["settings"])
    assert by_name["output_config_scale"]["most"] == WORD_MAX


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alexnet", "--layer", "conv9"], "conv9"),
        (["alexnet", "--layer", "fc6"], "fc6"),
        (["alexnet", "--layer", "conv1", "--phase", "dp"], "first layer"),
        (["alexnet", "--layer", "conv2", "--phase", "ku", "--state"], "allowed with fp"),
        (["alexnet", "--layer", "conv2", "--delta-at", "pooled"], "allowed with dp, bp, ku"),
        (["alexnet", "--layer", "conv2", "-o", "/dev/null/x"], "null is no folder"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, terminal: Terminal) -> None:
    printed = terminal.refusal("registers", *arguments)
    assert message in printed


def test_the_identity_of_a_map_has_all_but_its_texts() -> None:
    """Exported hardware has a hash of it: another wording is the same hardware."""
    (first, *others) = axi_registers_of(TOP).registers
    same = replace(axi_registers_of(TOP), registers=(replace(first, meaning="x"), *others))
    assert repr(same) == repr(axi_registers_of(TOP))
    for change in ({"name": "x"}, {"most": 7}, {"reset": 5}, {"access": "wo"}, {"offset": 4}):
        other = replace(same, registers=(replace(first, **change), *others))
        assert repr(other) != repr(same)
