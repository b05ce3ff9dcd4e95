"""Conditions for comparable records: one network, one batch, one scope, and equal useful work.

A record that omits layers is shown next to the others, without its sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from merp.models.comparison.record import Record
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase

Work = dict[tuple[str, str], int]
"""Useful multiply-adds by layer and phase."""


def useful(network: Network, scope: Sequence[str], batch: int) -> Work:
    """Return the work of a step; groups are counted separately, and the first layer has no DP."""
    return {
        (layer.name, phase): layer.operations(batch) // 2
        for layer in network.layers
        if layer.name in scope
        for phase in PHASES
        if has_phase(network, layer, phase)
    }


def done(record: Record) -> Work:
    """Return the work of a record, summed over all devices."""
    found: Counter[tuple[str, str]] = Counter()
    for row in record.rows:
        found[row.layer, row.phase] += row.macs
    return dict(found)


def unfair(record: Record, network: Network, scope: Sequence[str], batch: int) -> str | None:
    """Return the reason why a record is not comparable with others of this step, or None."""
    asked = (network.name, tuple(scope), batch)
    if (record.network, record.scope, record.batch) != asked:
        return "it is of another network, scope or batch"
    if record.left_out:
        return "; ".join(f"{layer}: {why}" for layer, why in record.left_out.items())
    if done(record) != useful(network, scope, batch):
        return "its rows are not the useful work of the step"
    return None
