"""The fifth count: transfers per stream, read from a waveform file.

A transfer is a rising clock edge before which valid and ready are both high. The values just before
the edge count, because changes at the same time as the edge are caused by the edge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path

from merp.cosim.phases.audit.wave_file import Name, changes, signals


class _BitOverTime:
    """Values of a signal over time."""

    def __init__(self, changes: Sequence[tuple[int, str]]) -> None:
        self._times = [time for time, _ in changes]
        self._values = [value for _, value in changes]

    def before(self, time: int) -> str:
        """Return the value just before ``time``; ``x`` before the first change."""
        index = bisect_left(self._times, time)
        return self._values[index - 1] if index else "x"

    def rises(self) -> list[int]:
        """Return the times at which the value becomes 1."""
        return [
            time
            for time, value, old in zip(
                self._times, self._values, ["x", *self._values], strict=False
            )
            if value == "1" and old != "1"
        ]


def transfers(
    path: Path, streams: Sequence[str], lane_bytes: Mapping[str, int] | None = None
) -> list[dict[str, int]]:
    """Count the transfers of each run in a waveform of a top.

    ``lane_bytes`` holds the bytes of an element, for streams with ``tkeep``. A transfer of such a
    stream counts the elements that ``tkeep`` marks.

    A run begins with ``start``. A run that a reset interrupts is not counted.

    Raises:
        ValueError: a port is not in the file, or valid, ready, start or rst is undefined in a run.
    """
    ports = [f"{name}_{field}" for name in streams for field in ("tvalid", "tready")]
    sizes = lane_bytes or {}
    names = ["clk", "rst", "start", *ports, *(f"{name}_tkeep" for name in sizes)]
    bits = _read(path, names)
    runs: list[dict[str, int]] = []
    cut: list[bool] = []
    pairs = [(name, bits[f"{name}_tvalid"], bits[f"{name}_tready"]) for name in streams]
    for time in bits["clk"].rises():
        reset = bits["rst"].before(time)
        if reset == "1":
            if cut:
                cut[-1] = True
            continue
        if bits["start"].before(time) == "1":
            # A run that is reset begins again. The count up to the reset is void.
            if cut and cut[-1]:
                runs.pop()
                cut.pop()
            runs.append(dict.fromkeys(streams, 0))
            cut.append(False)
        if not runs:
            continue
        for name, valid, ready in pairs:
            value, accepted = valid.before(time), ready.before(time)
            if value == accepted == "1":
                kept = bits[f"{name}_tkeep"].before(time).count("1") if name in sizes else 1
                runs[-1][name] += kept // sizes.get(name, 1)
            elif {value, accepted} not in ({"0"}, {"0", "1"}):
                raise ValueError(f"{path}: {name} is undefined at {time}")
    return runs


def _read(path: Path, names: Sequence[str]) -> dict[str, _BitOverTime]:
    """Return the top's own signals: for each name the signal with the shortest path."""
    every = signals(path)
    chosen: dict[str, Name] = {}
    for name in names:
        found = [full for full in every if full[-1] == name]
        if not found:
            raise ValueError(f"{path}: no signal {name}")
        chosen[name] = min(found, key=len)
    read = changes(path, chosen.values())
    return {
        name: _BitOverTime([(time, value.lower()) for time, value in read[full]])
        for name, full in chosen.items()
    }
