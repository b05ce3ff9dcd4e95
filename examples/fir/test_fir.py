"""The filter against NumPy, its VHDL in GHDL, its Verilog in Verilator: pytest examples/fir."""

from pathlib import Path

import numpy as np
import pytest
from fir import fir
from myhdl import Signal, intbv

import merp

COEFFICIENTS = (3, -7, 0, 12)
SAMPLES = np.random.default_rng(0).integers(-128, 128, 40)
ENABLED = np.random.default_rng(1).integers(0, 2, 40)


def filter_trace() -> merp.Trace:
    """Every port in every cycle, in MyHDL."""
    args = {
        "clk": Signal(bool(0)),
        "enable": Signal(bool(0)),
        "x": Signal(intbv(0, min=-128, max=128)),
        "y": Signal(intbv(0, min=-4096, max=4096)),
        "coefficients": COEFFICIENTS,
    }

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        return {"x": int(SAMPLES[cycle]) % 256, "enable": int(ENABLED[cycle])}

    return merp.run_block(fir, args, ("x", "enable"), drive, len(SAMPLES))


def golden() -> list[int]:
    """The port y in each cycle, as it is seen: 13 bits, two's complement."""
    given = np.convolve(SAMPLES[ENABLED == 1], COEFFICIENTS)
    taken = np.cumsum(ENABLED) - ENABLED  # samples before this cycle
    return [int(given[n - 1]) % 8192 if n else 0 for n in taken]


def test_myhdl_filters_as_numpy_does() -> None:
    assert filter_trace().column("y") == golden()


@pytest.mark.parametrize("engine", ["ghdl", "verilator"])
def test_what_is_exported_does_the_same_in_every_cycle(engine: str, tmp_path: Path) -> None:
    assert merp.replay(filter_trace(), tmp_path, engine) == len(SAMPLES)


def test_the_taps_are_one_entity_with_generics(tmp_path: Path) -> None:
    trace = filter_trace()
    export = merp.convert(trace.block, trace.args, "vhdl", tmp_path, licence="MIT")
    assert export.top == "fir"
    assert sum(export.instances.values()) == 1 + len(COEFFICIENTS)
    assert len(export.files) == 3  # the package, the tap, the top


def test_a_narrow_output_is_refused() -> None:
    x, y = (Signal(intbv(0, min=-128, max=128)) for _ in range(2))
    with pytest.raises(ValueError, match="y must hold 2816, not 127"):
        fir(Signal(bool(0)), Signal(bool(0)), x, y, COEFFICIENTS)
