"""Read an audit from a file that may have been edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from merp.cosim.phases.audit.audit import COUNTS, Audit
from merp.models.base.counters import COUNTERS, Counter
from merp.tools.common.json_value import is_list, is_number, is_table, is_text, is_whole
from merp.tools.simulate.kept_bus import bus_from


def _is_ports(value: Any) -> bool:
    return is_table(value, lambda ways: is_table(ways, is_whole) and ways.keys() >= set(COUNTS))


_KEYS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("words_compared", "mismatches", "slots"), is_whole),
    "operations": partial(is_whole, least=1),
    **dict.fromkeys(("ideal", "seconds"), is_number),
    "ports": _is_ports,
    "cycles": partial(is_table, of=is_whole),
    "bytes": partial(is_table, of=is_whole),
    "maps": partial(is_list, of=is_text),
    "failures": partial(is_list, of=lambda value: isinstance(value, str)),
    "bus": lambda value: value is None or isinstance(value, dict),
}
"""A check of each field of an audit."""


def audit_from(kept: Any, counters: Iterable[Counter] = COUNTERS) -> Audit:
    """Return the audit of its JSON (``dataclasses.asdict``), with these counters of cycles.

    Up to version 0.2.0 an audit had no ``bus``.

    Raises:
        ValueError: it is not the JSON of an audit.
    """
    if isinstance(kept, dict):
        kept = {"bus": None, **kept}
    if not isinstance(kept, dict) or kept.keys() != _KEYS.keys():
        raise ValueError("the fields are not those of an audit")
    wrong = [key for key, right in _KEYS.items() if not right(kept[key])]
    if not wrong and not kept["cycles"].keys() >= {each.name for each in counters}:
        wrong = ["cycles"]
    if wrong or not set(kept["maps"]) <= kept["ports"].keys() == kept["bytes"].keys():
        raise ValueError(f"not the values of an audit: {', '.join(wrong) or 'ports'}")
    lists = {key: tuple(kept[key]) for key in ("maps", "failures")}
    bus = None if kept["bus"] is None else bus_from(kept["bus"])
    return Audit(**kept | lists | {"bus": bus})
