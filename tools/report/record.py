"""Read records of ``merp simulate -o DIR``; every value is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from merp.cosim.phases.audit.audit import COUNTS
from merp.models.base.errors import BadInput, shown
from merp.models.base.file_format import RUNS, check_format
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
    """Return whether it holds words of ports, each counted in several ways, including the pins."""
    return is_table(value, lambda ways: is_table(ways, is_whole) and "monitor" in ways)


Keys = Mapping[str, tuple[Right, str]]
"""By key of a run, a check of its value and the allowed values in words."""

COUNT, LEAST_ONE = _from(0), _from(1)
NAME = is_text, "a name"
_RUN: Keys = {
    **dict.fromkeys(("network", "layer", "phase", "engine", "cu_array", "elaboration_sha"), NAME),
    **dict.fromkeys(("images", "groups"), LEAST_ONE),
    **dict.fromkeys(("mismatches", "words_compared", "operations", "cycles: total"), COUNT),
    "group": (lambda value: value == "all" or is_whole(value), "the number of a group, or all"),
    "bit_exact": (lambda value: True, "there"),  # a value other than true is a fault, not an error
    "failures": (partial(is_list, of=lambda value: isinstance(value, str)), "a list of texts"),
    "mb_per_gflop: full": (
        (lambda value: value is None or is_number(value)),
        "a number, or null without operations",
    ),
    "ports": (is_ports, "whole numbers from 0, monitor one of them, by port and way of counting"),
}
"""The keys of a run that are read for every machine."""


def read_runs(directory: Path, network: Network, own: Keys) -> tuple[Path, list[Record]]:
    """Return the file of a record in ``directory``, and its runs.

    Args:
        directory: folder of the record.
        network: the network of the record.
        own: further keys of runs of the network's architecture.

    Raises:
        BadInput: there is no record, it belongs to another network, or merp did not write it.
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

    return path, read_record(path, network, RUNS, runs)


def read_record(
    path: Path, network: Network, newest: int, runs: Callable[[Record], list[Run]]
) -> list[Run]:
    """Return the runs of a record, which ``runs`` extracts.

    Raises:
        BadInput: it belongs to another network, or ``runs`` refused its values.
    """
    record = read_json(path)
    check_format(f"--measured {path}", record, newest)
    found = record.get("network") if isinstance(record, dict) else None
    if found != network.name:
        raise BadInput(f"--measured {path}: network = {shown(found)}: must be {network.name!r}")
    try:
        return runs(record)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"--measured {path}: not a record of merp simulate: {error}") from error


def differing_counts(ports: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the ports whose ways of counting words differ or are incomplete."""
    return [
        f"{port}: counts differ: {ways}"
        for port, ways in ports.items()
        if len(set(ways.values())) != 1 or not ways.keys() >= set(COUNTS)
    ]


def check_values(run: Any, keys: Keys) -> None:
    """Check the values of a run, or of another answer.

    Raises:
        ValueError: a value is missing or has another type.
    """
    for path, (right, allowed) in keys.items():
        value = run
        for key in path.split(": "):
            if not isinstance(value, dict) or key not in value:
                raise ValueError(f"{path} is missing")
            value = value[key]
        if not right(value):
            raise ValueError(f"{path} = {shown(value)}: must be {allowed}")
