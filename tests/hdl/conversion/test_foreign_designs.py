"""Designs in the style of others: their VHDL follows the simulation, their Verilog is clean."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foreign_processes as one
import foreign_structures as many
import pytest
from myhdl import ResetSignal, Signal, intbv, modbv

from block_bench import BlockBench, Replays
from marks import few
from merp.cosim.block.replay import lint_verilog
from merp.testbenches.block.trace import flatten

CYCLES = 150


def bit(value: int = 0) -> Any:
    return Signal(bool(value))


def word(width: int, value: int = 0) -> Any:
    return Signal(intbv(value)[width:])


def wrapping(width: int) -> Any:
    return Signal(modbv(0)[width:])


def number(width: int) -> Any:
    return Signal(intbv(0, min=-(1 << (width - 1)), max=1 << (width - 1)))


def reset(isasync: bool = False) -> Any:
    return ResetSignal(0, active=True, isasync=isasync)


def low_reset() -> Any:
    return ResetSignal(1, active=False, isasync=False)


Design = tuple[Callable[..., Any], Callable[[], dict[str, Any]], str]

DESIGNS: dict[str, Design] = {
    "counter": (
        one.counter,
        lambda: dict(clk=bit(), reset=reset(), enable=bit(), count=wrapping(4)),
        "reset enable",
    ),
    "gray counter": (
        one.gray_counter,
        lambda: dict(clk=bit(), reset=low_reset(), gray=word(5)),
        "reset",
    ),
    "shift register": (
        one.shift_register,
        lambda: dict(
            clk=bit(), reset=reset(), load=bit(), d=word(8), si=bit(), q=word(8), so=bit()
        ),
        "reset load d si",
    ),
    "uart": (
        one.uart_tx,
        lambda: dict(
            clk=bit(), reset=low_reset(), start=bit(), data=word(8), tx=bit(1), busy=bit(),
            divisor=3,
        ),
        "start data",
    ),
    "state machine": (
        one.traffic_light,
        lambda: dict(clk=bit(), reset=reset(), car=bit(), red=bit(), green=bit()),
        "reset car",
    ),
    "edge detector": (
        one.edge_detector,
        lambda: dict(clk=bit(), level=bit(), rise=bit(), fall=bit()),
        "level",
    ),
    "priority encoder": (
        one.priority_encoder,
        lambda: dict(request=word(6), index=word(3), valid=bit()),
        "request",
    ),
    "barrel shifter": (
        one.barrel_shifter,
        lambda: dict(value=word(8), amount=word(3), left=bit(), result=word(8)),
        "value amount left",
    ),
    "signed mac": (
        one.signed_mac,
        lambda: dict(clk=bit(), clear=bit(), a=number(6), b=number(5), total=number(24)),
        "clear a b",
    ),
    "lfsr": (one.lfsr, lambda: dict(clk=bit(), reset=reset(), word=word(8, 1)), "reset"),
    "pwm": (
        one.pwm,
        lambda: dict(clk=bit(), reset=reset(), duty=word(4), out_high=bit()),
        "duty",
    ),
    "debouncer": (
        one.debouncer,
        lambda: dict(clk=bit(), reset=reset(), button=bit(), clean=bit(), cycles=2),
        "button",
    ),
    "clock enable": (
        one.clock_enable,
        lambda: dict(clk=bit(), reset=reset(), tick=bit(), ratio=5),
        "reset",
    ),
    "rom": (one.sine_rom, lambda: dict(clk=bit(), phase=word(4), sample=word(7)), "phase"),
    "byte swap": (one.byte_swap, lambda: dict(word=word(32), swapped=word(32)), "word"),
    "saturating adder": (
        one.saturating_adder,
        lambda: dict(a=word(6), b=word(6), total=word(6)),
        "a b",
    ),
    "fifo": (
        many.fifo,
        lambda: dict(
            clk=bit(), reset=reset(), we=bit(), din=word(8), re=bit(), dout=word(8),
            empty=bit(), full=bit(), depth=5,
        ),
        "we din re",
    ),
    "dual port ram": (
        many.dual_port_ram,
        lambda: dict(
            clk=bit(), we_a=bit(), addr_a=word(3), din_a=word(8), dout_a=word(8), addr_b=word(3),
            dout_b=word(8),
        ),
        "we_a addr_a din_a addr_b",
    ),
    "fir": (
        many.fir,
        lambda: dict(clk=bit(), reset=reset(), x=number(8), y=number(16), taps=(-1, 4, 7, -3)),
        "reset x",
    ),
    "bus": (
        many.bus_registers,
        lambda: dict(clk=bit(), bus=many.Bus(6), total=word(8)),
        "bus_write bus_address bus_to_slave",
    ),
    "skid buffer": (
        many.skid_buffer,
        lambda: dict(
            clk=bit(), reset=reset(), sink=many.Handshake(8), source=many.Handshake(8)
        ),
        "sink_data sink_valid source_ready",
    ),
    "plain blocks": (
        many.ripple_adder,
        lambda: dict(a=word(4), b=word(4), total=word(5)),
        "a b",
    ),
    "pipeline": (many.pipeline, lambda: dict(clk=bit(), d=word(8), q=word(8)), "d"),
    "plain top": (many.plain_top, lambda: dict(clk=bit(), d=word(8), q=word(8)), "d"),
}  # fmt: skip
"""By name: the block, what makes its arguments, and the inputs that are driven at random."""

every_design = pytest.mark.parametrize("name", few(DESIGNS, *list(DESIGNS)[::3]))


@pytest.mark.sample(2)
@pytest.mark.ghdl
@every_design
def test_the_vhdl_does_what_the_simulation_does(name: str, replays: Replays) -> None:
    function, make, driven = DESIGNS[name]
    args, inputs = make(), tuple(driven.split())
    rng = random.Random(name)
    widths = {port: len(signal) or 1 for port, signal in flatten(args).items()}

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        values = {port: rng.getrandbits(widths[port]) for port in inputs}
        if "reset" in values:  # now and then only
            active = int(args["reset"].active)
            values["reset"] = active if cycle % 40 < 2 else 1 - active
        return values

    trace = BlockBench(function, **args).run(drive, CYCLES)
    outputs = [port.name for port in trace.ports if not port.is_input]
    assert any(len(set(trace.column(port))) > 1 for port in outputs), "nothing moves"
    assert replays(trace) == CYCLES


@pytest.mark.verilator
@every_design
def test_the_verilog_passes_the_lint(name: str, tmp_path: Path) -> None:
    function, make, _ = DESIGNS[name]
    assert lint_verilog(function, make(), tmp_path)
