"""Delays of paths on netlists small enough to add up by hand."""

from typing import Any

import pytest

from merp.models.fpga.cell_timing import LUT, NET, Timing, cell_timing
from merp.models.fpga.logic_delay import block_timing

OUTPUTS = {"Q", "O", "CO", "P", "PCOUT", "DOBDO", "y"}
CLOCK_TO_Q, SETUP = 0.31, 0.0


def cell(kind: str, parameters: dict[str, str] | None = None, **pins: Any) -> dict[str, Any]:
    """A cell as Yosys writes it; a pin's net is a number, or a list of numbers and constants."""
    nets = {pin: net if isinstance(net, list) else [net] for pin, net in pins.items()}
    return {
        "type": kind,
        "parameters": parameters or {},
        "connections": nets,
        "port_directions": {pin: "output" if pin in OUTPUTS else "input" for pin in nets},
    }


def module(*cells: dict[str, Any], **ports: tuple[str, list[int]]) -> dict[str, Any]:
    return {
        "ports": {name: {"direction": way, "bits": bits} for name, (way, bits) in ports.items()},
        "cells": {f"c{index}": each for index, each in enumerate(cells)},
    }


def test_a_path_between_registers() -> None:
    found = block_timing(
        module(
            cell("FDRE", C=1, D=2, Q=3),
            cell("LUT2", I0=3, I1="1", O=4),
            cell("LUT6", I5=4, I0=3, O=5),
            cell("FDRE", C=1, D=5, Q=6),
            clk=("input", [1]), d=("input", [2]), q=("output", [6]),
        )
    )  # fmt: skip
    assert found.inside == pytest.approx(CLOCK_TO_Q + 2 * NET + 2 * LUT + SETUP)
    assert found.capture == {"d": pytest.approx(NET + SETUP)}
    assert found.launch == {"q": pytest.approx(CLOCK_TO_Q)}
    assert found.through == {}


def test_a_path_from_port_to_port() -> None:
    found = block_timing(
        module(cell("INV", I=1, O=2), a=("input", [1]), b=("input", [3]), y=("output", [2]))
    )
    assert found == Timing(through={("a", "y"): pytest.approx(NET + LUT)}, nets=True)


def test_a_carry_chain_costs_a_net_only_at_its_ends() -> None:
    tied = {"CYINIT": ["0"], "DI": ["0"] * 4}
    chain = [
        cell("CARRY4", CI=["0"], S=[3, "0", "0", "0"], O=[10], CO=[11, 12, 13, 14], **tied),
        cell("CARRY4", CI=[14], S=["0"] * 4, O=[20, 21, 22, 23], CO=[], **tied),
    ]
    registers = [cell("FDRE", C=1, D=2, Q=3), cell("FDRE", C=1, D=23, Q=4)]
    found = block_timing(module(*chain, *registers, clk=("input", [1]), d=("input", [2])))
    assert found.inside == pytest.approx(CLOCK_TO_Q + NET + LUT + 0.55 + 0.33 + SETUP)


def test_a_lut_is_beside_its_carry() -> None:
    carry = cell("CARRY4", CI=["0"], CYINIT=["0"], DI=["0"] * 4, S=[2, "0", "0", "0"], O=[3], CO=[])
    ports = {"a": ("input", [1]), "y": ("output", [3])}
    found = block_timing(module(cell("LUT1", I0=1, O=2), carry, **ports))
    assert found.through == {("a", "y"): pytest.approx(NET + LUT + 0.23)}


def test_a_later_bit_does_not_ride_an_earlier_carry() -> None:
    carry = cell("CARRY4", CI=["0"], CYINIT=["0"], DI=["0"] * 4, S=["0", "0", "0", 1], O=[2], CO=[])
    assert block_timing(module(carry, a=("input", [1]), y=("output", [2]))).through == {}


def test_a_lut_reaches_its_multiplexer_without_a_net() -> None:
    found = block_timing(
        module(
            cell("LUT1", I0=1, O=2), cell("MUXF7", I0=2, I1="0", S="0", O=3),
            a=("input", [1]), y=("output", [3]),
        )
    )  # fmt: skip
    assert found.through == {("a", "y"): pytest.approx(NET + LUT + 0.23)}


def test_a_dsp_by_the_registers_in_use() -> None:
    none = dict.fromkeys(("AREG", "BREG", "CREG", "MREG", "PREG"), "0")
    assert cell_timing("DSP48E1", none).through["A", "P"] == 2.82
    assert cell_timing("DSP48E1", none).launch == {}
    only_p = cell_timing("DSP48E1", none | {"PREG": "1"})
    assert (only_p.capture["A"], only_p.launch["P"]) == (2.74, 0.33)
    product = cell_timing("DSP48E1", none | {"MREG": "1"})
    assert (product.capture["A"], product.launch["P"]) == (1.42, 1.69)
    assert ("A", "P") not in product.through
    assert product.through["PCIN", "P"] == 1.11


def test_block_ram_with_and_without_its_output_register() -> None:
    assert cell_timing("RAMB18E1", {"DOB_REG": "0"}).launch["DOBDO"] == 2.45
    assert cell_timing("RAMB36E1", {"DOB_REG": "1"}).launch["DOBDO"] == 0.88


def test_a_block_inside_counts_as_a_cell() -> None:
    inner = Timing(launch={"y": 2.0}, capture={"a": 3.0}, through={("a", "y"): 4.0}, inside=9.0)
    found = block_timing(
        module(
            cell("FDRE", C=1, D=5, Q=2),
            cell("inner", a=[2], y=[3]),
            cell("inner", a=[3], y=[5]),
            clk=("input", [1]),
        ),
        lambda kind, parameters: inner if kind == "inner" else cell_timing(kind, parameters),
    )
    crossing = CLOCK_TO_Q + NET + 4.0 + NET + 4.0 + NET + SETUP
    assert found.inside == pytest.approx(crossing)  # what is inside of it is its own affair


def test_a_path_is_as_long_through_blocks_as_flat() -> None:
    """A net that crosses a border is one net."""
    pair = [cell("INV", I=1, O=2), cell("LUT2", I0=2, I1=2, O=3)]
    inner = block_timing(module(*pair, a=("input", [1]), y=("output", [3])))
    store = block_timing(module(cell("RAMB18E1", DIBDI=1), d=("input", [1])))
    assert store.capture == {"d": pytest.approx(NET + 0.74)}
    start = cell("FDRE", C=9, D=8, Q=1)
    flat = block_timing(
        module(
            start, *pair, cell("INV", I=3, O=4), cell("LUT2", I0=4, I1=4, O=5),
            cell("RAMB18E1", DIBDI=5), clk=("input", [9]),
        )
    )  # fmt: skip
    blocks = {"inner": inner, "store": store}
    hierarchy = block_timing(
        module(
            start, cell("inner", a=1, y=3), cell("inner", a=3, y=5), cell("store", d=5),
            clk=("input", [9]),
        ),
        lambda kind, parameters: blocks.get(kind) or cell_timing(kind, parameters),
    )  # fmt: skip
    assert hierarchy.inside == pytest.approx(flat.inside)


def test_loops_and_unknown_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="loop without a register"):
        block_timing(module(cell("LUT1", I0=2, O=1), cell("LUT1", I0=1, O=2)))
    with pytest.raises(ValueError, match="no delays for cells of kind URAM288"):
        block_timing(module(cell("URAM288", A=1)))
