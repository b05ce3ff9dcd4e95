"""The record of ``merp simulate -o DIR``: its runs, every value of the type that was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput, shown
from merp.models.network.network import Network
from merp.tools.common.json_file import read_json
from merp.tools.common.json_value import is_list, is_number, is_table, is_text, is_whole

FILE = "simulate.json"
HARDWARE = "hardware_sha"  # of a record that is kept: which hardware it belongs to

Right = Callable[[Any], bool]


def _from(least: int) -> tuple[Right, str]:
    return partial(is_whole, least=least), f"a whole number from {least}"


def _is_ports(value: Any) -> bool:
    return is_table(value, lambda ways: is_table(ways, is_whole) and "monitor" in ways)


_NAME = is_text, "a name"
_RUN: dict[str, tuple[Right, str]] = {
    **dict.fromkeys(("network", "layer", "phase", "engine", "cu_array", "elaboration_sha"), _NAME),
    **dict.fromkeys(("images", "groups", "n_cu"), _from(1)),
    **dict.fromkeys(("mismatches", "words_compared", "operations"), _from(0)),
    **dict.fromkeys(("cycles: total", "cycles: kernel_load"), _from(0)),
    "group": (lambda value: value == "all" or is_whole(value), "the number of a group, or all"),
    "bit_exact": (lambda value: True, "there"),  # whatever is not true is a fault
    "failures": (partial(is_list, of=lambda value: isinstance(value, str)), "a list of texts"),
    "mb_per_gflop: full": (is_number, "a number"),
    "ports": (_is_ports, "whole numbers from 0, monitor one of them, by port and way of counting"),
}
"""What is read of a run, by key, and what it must be."""


def read_runs(directory: Path, network: Network) -> tuple[Path, list[Mapping[str, Any]]]:
    """The file of a record in ``directory``, and its runs.

    Raises:
        BadInput: there is none, it is of another network, or not what ``merp simulate`` wrote.
    """
    path = directory / FILE
    if not path.is_file():
        raise BadInput(
            f"--measured {directory}: {FILE}: no such file: allowed is a folder that "
            "merp simulate -o has finished"
        )
    record = read_json(path)
    found = record.get("network") if isinstance(record, dict) else None
    if found != network.name:
        raise BadInput(f"--measured {path}: network = {shown(found)}: must be {network.name!r}")
    runs = record.get("runs", [record])
    try:
        if not isinstance(runs, list) or not runs:
            raise ValueError("it has no run")
        for run in runs:
            _check(run)
    except ValueError as error:
        raise BadInput(f"--measured {path}: not what merp simulate wrote: {error}") from error
    return path, runs


def _check(run: Any) -> None:
    """Check the values that are read of a run.

    Raises:
        ValueError: one is missing or of another type.
    """
    for path, (right, allowed) in _RUN.items():
        value = run
        for key in path.split(": "):
            if not isinstance(value, dict) or key not in value:
                raise ValueError(f"{path} is missing")
            value = value[key]
        if not right(value):
            raise ValueError(f"{path} = {shown(value)}: must be {allowed}")
    if HARDWARE in run and not is_text(run[HARDWARE]):
        raise ValueError(f"{HARDWARE} = {shown(run[HARDWARE])}: must be a name")
