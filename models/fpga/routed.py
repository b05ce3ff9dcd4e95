"""A placed and routed block, as reported by nextpnr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from merp.models.base.ordered_sum import ordered_sum

SITES: Final = {
    "lut4": "TRELLIS_COMB",
    "ff": "TRELLIS_FF",
    "ebr": "DP16KD",
    "dsp": "MULT18X18D",
}
"""Resources of Lattice's ECP5, with nextpnr's names of their sites."""

_CLOCKED: Final = "posedge "


@dataclass(frozen=True, kw_only=True)
class Routed:
    """A block, placed and routed once.

    Attributes:
        path_ns: the longest path between registers, clock to output and set-up included; None if
            there is none.
        start, end: the registers, memories or multipliers at its two ends; "" if there is none.
        lut4: places of a LUT of four inputs, used for logic, two bits of a carry chain, or memory.
        ff: flip-flops.
        ebr: block RAMs of 18 Kbit.
        dsp: multipliers of 18 x 18.
    """

    path_ns: float | None
    start: str
    end: str
    lut4: int
    ff: int
    ebr: int
    dsp: int

    def used(self) -> dict[str, int]:
        """Return the used sites, by the names of ``SITES``."""
        return {kind: getattr(self, kind) for kind in SITES}


def read_report(report: Mapping[str, Any]) -> Routed:
    """Read a report of nextpnr, its option ``--report``.

    Paths from or to a port are omitted, because out of context they have no length.

    Raises:
        ValueError: it is not such a report.
    """
    try:
        used = {kind: int(report["utilization"][site]["used"]) for kind, site in SITES.items()}
        longest = max(
            (
                (ordered_sum(float(step["delay"]) for step in path["path"]), path["path"])
                for path in report["critical_paths"]
                if path["from"].startswith(_CLOCKED) and path["to"].startswith(_CLOCKED)
            ),
            default=None,
            key=lambda found: found[0],
        )
        if longest is None:
            return Routed(path_ns=None, start="", end="", **used)
        time, steps = longest
        ends = [_register(steps[at][end]["cell"]) for at, end in ((0, "from"), (-1, "to"))]
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError("not a report of nextpnr-ecp5") from error
    return Routed(path_ns=time, start=ends[0], end=ends[1], **used)


def _register(cell: str) -> str:
    """Return the register that Yosys named a cell after: ``total`` of ``total_TRELLIS_FF_Q_20``."""
    return cell.partition("_TRELLIS_FF_")[0]
