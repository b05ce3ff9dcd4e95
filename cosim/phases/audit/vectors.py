"""Stimulus and expected words of a run as text files, for a testbench without Python.

All numbers are hexadecimal. A folder holds

- a file per stream with a word on each line: inputs of an input stream, expected words of an output
  stream; ``-`` allows any word;
- ``registers.txt``, the registers that are written before the start: address, value, name;
- ``status.txt``, the expected registers after the end, in the same form;
- ``cycles.txt``, counters that are printed but not compared: address, name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merp.cosim.phases.audit.audit import cycle_names
from merp.cosim.phases.expectation import Expectation, GroupPass
from merp.models.base.bits import Bits
from merp.models.base.register_map import RegisterMap
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import TopPorts

ANY = "-"
"""Mark of a word that may have any value."""

DONE = 0b010  # register ``status``: done, neither busy nor a framing error


def write_vectors(
    directory: Path, given: GroupPass, ports: TopPorts, registers: RegisterMap
) -> int:
    """Write the files of a pass; return the number of output words that are compared.

    Args:
        ports: ports of the engine.
        registers: registers of its AXI shell.
    """
    run, expected = given
    return write_run(
        directory,
        run,
        {port.stream: port.golden for port in expected.ports.values()},
        known_status(expected),
        cycle_names(expected),
        ports,
        registers,
        {port.stream: port.meant for port in expected.ports.values() if port.meant is not None},
    )


def write_run(
    directory: Path,
    run: Run,
    goldens: Mapping[str, Bits | None],
    status: Mapping[str, int],
    cycles: Iterable[str],
    ports: TopPorts,
    registers: RegisterMap,
    meant: Mapping[str, NDArray[np.bool_]] | None = None,
) -> int:
    """Write the files of a run; return the number of output words that are compared.

    Args:
        goldens: expected words by stream.
        status: expected registers.
        cycles: counters that are printed.
        meant: by stream, the words of ``goldens`` that are compared; default all.
    """
    run.check(ports)
    directory.mkdir(parents=True)
    compared = 0
    for pin in ports.inputs:
        _write_lines(directory / f"{pin.name}.txt", _in_hex(run.words[pin.name], pin.element))
    for pin in ports.outputs:
        golden = goldens[pin.name]
        assert golden is not None, pin.name
        lines = _in_hex(golden, pin.element)
        for place in np.flatnonzero(~meant[pin.name]) if meant and pin.name in meant else ():
            lines[place] = ANY
        _write_lines(directory / f"{pin.name}.txt", lines)
        compared += len(lines) - lines.count(ANY)
    _write_registers(directory / "registers.txt", run.config, registers)
    _write_registers(directory / "status.txt", status, registers)
    _write_lines(
        directory / "cycles.txt",
        (f"{registers[f'status_{name}'].offset:x} {name}" for name in cycles),
    )
    return compared


def known_status(expected: Expectation) -> dict[str, int]:
    """Return the expected status registers after the run, independent of any pauses."""
    counts = {name: port.closed_form for name, port in expected.ports.items()}
    counts |= {"issue": expected.work.issue, "useful": expected.work.useful}
    cycles = cycle_names(expected)  # they depend on pauses
    counts |= {name: count for name, count in expected.known.items() if name not in cycles}
    for name, half in expected.halves.items():
        counts |= {f"{name}_issue": half.work.issue, f"{name}_useful": half.work.useful}
    return status_words(counts)


def status_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the status registers after a run whose counters are known."""
    known = {"status": DONE, "error": 0}
    for name, value in counts.items():
        known |= {f"status_{name}": value & 0xFFFFFFFF, f"status_{name}_high": value >> 32}
    return known


def _write_registers(path: Path, values: Mapping[str, int], registers: RegisterMap) -> None:
    _write_lines(path, (f"{registers[name].offset:x} {values[name]:x} {name}" for name in values))


def _in_hex(words: Bits, width: int) -> list[str]:
    digits = -(-width // 4)
    return [f"{word:0{digits}x}" for word in np.asarray(words).reshape(-1).tolist()]


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
