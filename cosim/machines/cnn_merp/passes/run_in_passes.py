"""Run a layer as passes over parts of its maps. Each pass is audited like a layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merp.cosim.machines.cnn_merp.passes.cut import Tiles
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, run_and_audit
from merp.models.base.bits import Bits
from merp.testbenches.top.player import Progress


@dataclass(frozen=True)
class LayerPasses:
    """Results of the passes of a layer.

    Attributes:
        arrays: combined results, by name, equal to the results of the undivided layer.
        passes: all passes, in order.
    """

    arrays: Mapping[str, Bits]
    passes: tuple[Audited, ...]

    @property
    def failures(self) -> list[str]:
        """Return every failed check, with its pass."""
        return [
            f"pass {index}: {failure}"
            for index, each in enumerate(self.passes)
            for failure in each.audit.failures
        ]

    @property
    def words(self) -> dict[str, int]:
        """Return the words (for masks: bytes) on the pins of each port, over all passes."""
        total: dict[str, int] = {}
        for each in self.passes:
            for port, ways in each.audit.ports.items():
                total[port] = total.get(port, 0) + ways["monitor"]
        return total


@dataclass
class _KeptResults:
    """A holder for the final results of the passes."""

    arrays: Mapping[str, Bits] = field(default_factory=dict)


def run_in_passes(
    tiles: Tiles, engine: str, array: str = "rtl", progress: Progress | None = None
) -> LayerPasses:
    """Run every pass of ``tiles`` on one elaboration, back to back.

    Raises:
        BadInput: the engine does not exist, or its simulator is not installed.
        Stuck: no word moved for too long.
    """
    kept = _KeptResults()

    def passes() -> Passes:
        kept.arrays = yield from tiles.passes()

    found = run_and_audit(tiles.top(array), passes(), engine, progress=progress)
    return LayerPasses(kept.arrays, tuple(found))
