"""Read a record of the bus from a file that may have been edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from merp.models.memory.bus_record import BusRecord, DirectionRecord, MemoryFacts, Waits
from merp.tools.common.json_value import is_list, is_text, is_whole

Checks = Mapping[str, Callable[[Any], bool]]


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _is_bursts(value: Any) -> bool:
    lengths = _is_dict(value) and all(key.isascii() and key.isdecimal() for key in value)
    return lengths and all(map(is_whole, value.values()))


_BUS: Checks = {
    **dict.fromkeys(("lists", "cycles", "window"), is_whole),
    **dict.fromkeys(("read", "write"), _is_dict),
    "memories": partial(is_list, of=_is_dict),
}
_DIRECTION: Checks = {
    **{each.name: is_whole for each in fields(DirectionRecord)},
    "bursts": _is_bursts,
    "latency": _is_dict,
    "windows": partial(is_list, of=is_whole),
}
_MEMORY: Checks = {**{each.name: is_whole for each in fields(MemoryFacts)}, "module": is_text}
_WAITS: Checks = {each.name: is_whole for each in fields(Waits)}


def bus_from(kept: Mapping[str, Any]) -> BusRecord:
    """Return the record of its JSON (``dataclasses.asdict``).

    Raises:
        ValueError: it is not the JSON of a record.
    """
    _check(kept, _BUS)
    window = kept["window"]
    if window & (window - 1):
        raise ValueError("not the values of a bus: window")
    for each in kept["memories"]:
        _check(each, _MEMORY)
    ways = {way: _direction(kept[way]) for way in ("read", "write")}
    memories = tuple(MemoryFacts(**each) for each in kept["memories"])
    return BusRecord(**{**kept, **ways, "memories": memories})


def _direction(kept: Mapping[str, Any]) -> DirectionRecord:
    _check(kept, _DIRECTION)
    _check(kept["latency"], _WAITS)
    own = {
        "bursts": {int(beats): number for beats, number in kept["bursts"].items()},
        "latency": Waits(**kept["latency"]),
        "windows": tuple(kept["windows"]),
    }
    return DirectionRecord(**{**kept, **own})


def _check(kept: Mapping[str, Any], checks: Checks) -> None:
    if kept.keys() != checks.keys():
        raise ValueError("the fields are not those of a bus")
    wrong = [key for key, right in checks.items() if not right(kept[key])]
    if wrong:
        raise ValueError(f"not the values of a bus: {', '.join(wrong)}")
