"""The bitstreams of an accelerator, from ``step.json`` of its package."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from merp.cosim.board.bitstreams import FIRST
from merp.cosim.board.driver import Device, LoadingDevice
from merp.models.base.errors import BadInput
from merp.models.base.text_file import read_text
from merp.models.memory.params.subsystem import Loader

BYTES = 1 << 20
"""Largest size of the file."""


def bitstreams_of(device: Device | None, engines: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return the engines of each bitstream of a device, by its name.

    Raises:
        BadInput: as ``bitstreams_in``.
    """
    if isinstance(device, LoadingDevice) and device.step is not None:
        return bitstreams_in(device.step, engines)
    return {FIRST: list(engines)}


def bitstreams_in(path: str | PathLike[str], engines: Collection[str]) -> dict[str, list[str]]:
    """Return the engines of each bitstream, by its name, in the order of their numbers.

    Args:
        path: ``step.json`` of a package whose host loads bitstreams.
        engines: the engines of the step.

    Raises:
        BadInput: the file cannot be read, another part of the system loads bitstreams, or the file
            has other engines.
    """
    name = str(path)
    try:
        content = json.loads(read_text(Path(path), BYTES, regular=True))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: not JSON: {error}") from error
    if not isinstance(content, dict) or "bitstreams" not in content:
        raise BadInput(f"{name}: bitstreams is missing: allowed is step.json of merp system")
    if content.get("loader") != Loader.HOST.value:
        raise BadInput(
            f"{name}: loader = {content.get('loader')!r}: allowed is {Loader.HOST.value!r}: the "
            "host loads bitstreams"
        )
    found = dict(_rows(content["bitstreams"], name))
    if sorted(each for some in found.values() for each in some) != sorted(engines):
        raise BadInput(
            f"{name}: bitstreams: other engines than those of the step: allowed are, each once, "
            f"{', '.join(engines)}"
        )
    return found


def _rows(bitstreams: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    rows = bitstreams if isinstance(bitstreams, list) else [None]
    for at, row in enumerate(rows):
        engines = row.get("engines") if isinstance(row, dict) else None
        if not isinstance(engines, list) or row.get("bitstream") != f"bitstream{at}":
            raise BadInput(
                f"{name}: bitstreams[{at}]: allowed is bitstream = 'bitstream{at}' with a list of "
                "engines"
            )
        yield row["bitstream"], [str(each) for each in engines]
