"""Delays of 7-series cells, for an estimate of paths before placement and routing.

Delays of flip-flops, carry chains, memories and DSP blocks are those of Yosys'
``techlibs/xilinx/cells_sim.v``. Each is the largest delay of a group of pins. They are Project
X-Ray's timings of Artix-7, a slower family than Kintex-7. LUT and NET are round figures of this
project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

LUT: Final = 0.12
NET: Final = 0.55
"""Delay from an output to an input, in ns, if the pins have no dedicated wire."""

_CONTROL = {"CE": 0.11, "R": 0.41, "S": 0.41, "CLR": 0.41, "PRE": 0.41}


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Delays of a cell or of a block, in ns, by names of pins.

    Attributes:
        launch: from the clock to an output.
        capture: set-up time of an input before the clock.
        through: from an input to an output.
        inside: the longest path between two registers inside a block.
        nets: whether the times from inputs include their nets, as those of a block do.
    """

    launch: Mapping[str, float] = field(default_factory=dict)
    capture: Mapping[str, float] = field(default_factory=dict)
    through: Mapping[tuple[str, str], float] = field(default_factory=dict)
    inside: float = 0.0
    nets: bool = False


def _carry() -> Timing:
    """Return the delays of four bits of a carry chain; each bit has its own pins."""
    through: dict[tuple[str, str], float] = {}
    for to in range(4):
        through |= {("CI[0]", f"O[{to}]"): 0.33, ("CYINIT[0]", f"O[{to}]"): 0.64}
        through |= {("CI[0]", f"CO[{to}]"): 0.11 if to == 3 else 0.27}
        through |= {("CYINIT[0]", f"CO[{to}]"): 0.59}
        through |= {(f"S[{to}]", f"O[{to}]"): 0.23}
        for by in range(to + 1):
            through |= {(f"{pin}[{by}]", f"CO[{to}]"): 0.55 for pin in ("S", "DI")}
            if by < to:
                through |= {(f"{pin}[{by}]", f"O[{to}]"): 0.62 for pin in ("S", "DI")}
    return Timing(through=through)


def _dsp(parameters: Mapping[str, Any]) -> Timing:
    """Return the delays of a DSP48E1 without its pre-adder, by the registers in use."""

    def has(name: str) -> bool:
        return int(str(parameters.get(name, "1")), 2) != 0

    a, b, c, m, p = (has(f"{name}REG") for name in "ABCMP")
    capture: dict[str, float] = {}
    through: dict[tuple[str, str], float] = {}
    for pins, registers, before_p, out in (
        (("A", "ACIN"), ((a, 0.25), (m, 1.42)), 2.74, 2.82),
        (("B", "BCIN"), ((b, 0.32), (m, 1.29)), 2.61, 2.69),
        (("C",), ((c, 0.17),), 1.24, 1.33),
        (("PCIN",), (), 1.03, 1.11),
    ):
        setup = next((time for used, time in (*registers, (p, before_p)) if used), None)
        for pin in pins:
            if setup is None:
                through |= {(pin, "P"): out, (pin, "PCOUT"): out + 0.15}
            else:
                capture[pin] = setup
    times = ((p, 0.33), (c or m, 1.69), (a or b, 2.95))
    launched = next((time for used, time in times if used), None)
    launch = {} if launched is None else {"P": launched, "PCOUT": launched + 0.15}
    return Timing(launch=launch, capture=capture, through=through)


def _luts(outputs: Sequence[str], inputs: Sequence[str], time: float) -> dict[Any, float]:
    return {(pin, out): time for out in outputs for pin in inputs}


def _lut_memory() -> Timing:
    """Return the delays of memory in LUTs: written by the clock, read like a LUT."""
    lanes = "ABCD"
    addresses = {f"ADDR{lane}": 0.36 for lane in lanes}
    through = {(f"ADDR{lane}", f"DO{lane}"): LUT for lane in lanes}
    through |= _luts(["SPO"], ["A", *(f"A{i}" for i in range(6))], LUT)
    through |= _luts(["DPO"], ["DPRA", *(f"DPRA{i}" for i in range(6))], LUT)
    inputs = {"D": 0.46, "WE": 0.66} | {f"DI{lane}": 0.46 for lane in lanes} | addresses
    launch = dict.fromkeys(["SPO", "DPO", *(f"DO{lane}" for lane in lanes)], 1.19)
    return Timing(launch=launch, capture=inputs, through=through)


def _block_ram(parameters: Mapping[str, Any]) -> Timing:
    capture = dict.fromkeys(("ADDRARDADDR", "ADDRBWRADDR"), 0.57)
    capture |= dict.fromkeys(("DIADI", "DIBDI", "DIPADIP", "DIPBDIP"), 0.74)
    capture |= dict.fromkeys(("WEA", "WEBWE", "ENARDEN", "ENBWREN"), 0.54)
    capture |= dict.fromkeys(("RSTRAMARSTRAM", "RSTRAMB", "REGCEAREGCE", "REGCEB"), 0.36)
    launch: dict[str, float] = {}
    for port in "AB":
        registered = int(str(parameters.get(f"DO{port}_REG", "0")), 2)
        launch |= dict.fromkeys((f"DO{port}DO", f"DOP{port}DOP"), 0.88 if registered else 2.45)
    return Timing(launch=launch, capture=capture)


_CARRY: Final = _carry()
_LUT_MEMORY: Final = _lut_memory()
_FIXED: Final = (
    ("INV", Timing(through={("I", "O"): LUT})),
    ("LUT", Timing(through=_luts(["O"], [f"I{i}" for i in range(6)], LUT))),
    ("MUXF", Timing(through=_luts(["O"], ["I0", "I1"], 0.23) | {("S", "O"): 0.30})),
    ("FD", Timing(launch={"Q": 0.31}, capture={"D": 0.0, **_CONTROL})),
    (
        "SRL",
        Timing(
            launch={"Q": 1.48, "Q31": 1.12},
            capture={"D": 0.18, "CE": 0.11},
            through=_luts(["Q"], ["A", "A0", "A1", "A2", "A3"], LUT),
        ),
    ),
    ("CARRY4", _CARRY),
    ("RAMB", None),
    ("RAM", _LUT_MEMORY),
)


def cell_timing(kind: str, parameters: Mapping[str, Any]) -> Timing:
    """Return the delays of a 7-series cell.

    Raises:
        ValueError: the kind of the cell is not known.
    """
    if kind == "DSP48E1":
        return _dsp(parameters)
    for prefix, timing in _FIXED:
        if kind.startswith(prefix):
            return _block_ram(parameters) if timing is None else timing
    raise ValueError(f"no delays for cells of kind {kind}")
