"""What a machine adds to what ``merp train`` shows: its part ``trained``, if it has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


def _none(_: Mapping[str, Any]) -> Iterable[Any]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What it adds.

    Attributes:
        on_ports: of the table of traffic, in place of what is said of ports and cycles; "" to say
            the usual. tables: and texts below that table, of the answer for machines.
    """

    on_ports: str = ""
    tables: Callable[[Mapping[str, Any]], Iterable[Any]] = _none
