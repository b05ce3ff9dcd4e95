"""Records of ``merp simulate -o DIR``: of the network asked for, every value as it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from merp.cosim.phases.audit.audit import COUNTS
from merp.models.base.errors import BadInput, shown
from merp.models.network.network import Network
from merp.tools.common.hardware import HARDWARE
from merp.tools.common.json_file import read_json
from merp.tools.common.json_value import is_list, is_number, is_table, is_text, is_whole

FILE = "simulate.json"

Right = Callable[[Any], bool]
Record = Mapping[str, Any]
Run = TypeVar("Run")


def _from(least: int) -> tuple[Right, str]:
    return partial(is_whole, least=least), f"a whole number from {least}"


def is_ports(value: Any) -> bool:
    """Whether it is words of ports, each counted in several ways, on the pins among them."""
    return is_table(value, lambda ways: is_table(ways, is_whole) and "monitor" in ways)


Keys = Mapping[str, tuple[Right, str]]
"""By key of a run what its value must be, and that in words."""

COUNT, LEAST_ONE = _from(0), _from(1)
NAME = is_text, "a name"
_RUN: Keys = {
    **dict.fromkeys(("network", "layer", "phase", "engine", "cu_array", "elaboration_sha"), NAME),
    **dict.fromkeys(("images", "groups"), LEAST_ONE),
    **dict.fromkeys(("mismatches", "words_compared", "operations", "cycles: total"), COUNT),
    "group": (lambda value: value == "all" or is_whole(value), "the number of a group, or all"),
    "bit_exact": (lambda value: True, "there"),  # whatever is not true is a fault
    "failures": (partial(is_list, of=lambda value: isinstance(value, str)), "a list of texts"),
    "mb_per_gflop: full": (is_number, "a number"),
    "ports": (is_ports, "whole numbers from 0, monitor one of them, by port and way of counting"),
}
"""What is read of a run of any machine."""


def read_runs(directory: Path, network: Network, own: Keys) -> tuple[Path, list[Record]]:
    """The file of a record in ``directory``, and its runs.

    own: what runs of the network's architecture say beside what all do.

    Raises:
        BadInput: there is none, it is of another network, or not what ``merp simulate`` wrote.
    """
    path = directory / FILE
    if not path.is_file():
        raise BadInput(
            f"--measured {directory}: {FILE}: no such file: allowed is a folder that "
            "merp simulate -o has finished"
        )

    def runs(record: Record) -> list[Record]:
        found = record.get("runs", [record])
        if not isinstance(found, list) or not found:
            raise ValueError("it has no run")
        for run in found:
            check_values(run, {**_RUN, **own})
            if HARDWARE in run and not is_text(run[HARDWARE]):
                raise ValueError(f"{HARDWARE} = {shown(run[HARDWARE])}: must be a name")
        return found

    return path, read_record(path, network, runs)


def read_record(path: Path, network: Network, runs: Callable[[Record], list[Run]]) -> list[Run]:
    """The runs of a record, as ``runs`` takes them from it.

    Raises:
        BadInput: it is of another network, or ``runs`` raised that it is not what was written.
    """
    record = read_json(path)
    found = record.get("network") if isinstance(record, dict) else None
    if found != network.name:
        raise BadInput(f"--measured {path}: network = {shown(found)}: must be {network.name!r}")
    try:
        return runs(record)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"--measured {path}: not what merp simulate wrote: {error}") from error


def differing_counts(ports: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Ports whose ways of counting words differ, or of which one is missing."""
    return [
        f"{port}: counts differ: {ways}"
        for port, ways in ports.items()
        if len(set(ways.values())) != 1 or not ways.keys() >= set(COUNTS)
    ]


def check_values(run: Any, keys: Keys) -> None:
    """Check the values that are read of a run, or of another answer.

    Raises:
        ValueError: one is missing or of another type.
    """
    for path, (right, allowed) in keys.items():
        value = run
        for key in path.split(": "):
            if not isinstance(value, dict) or key not in value:
                raise ValueError(f"{path} is missing")
            value = value[key]
        if not right(value):
            raise ValueError(f"{path} = {shown(value)}: must be {allowed}")
