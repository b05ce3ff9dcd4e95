"""The part ``trained`` of a machine: additions to the output of ``merp train``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


def _none(_: Mapping[str, Any]) -> Iterable[Any]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Additions to the output.

    Attributes:
        on_ports: caption of the traffic table on ports and cycles; "" for the default caption.
        tables: returns tables and texts for below this table, from the answer for programs.
    """

    on_ports: str = ""
    tables: Callable[[Mapping[str, Any]], Iterable[Any]] = _none
