"""What makes records comparable: one network, one batch, one scope, and the same useful work.

A record that leaves layers out is shown beside the others, but none of its sums is.
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
    """Return the work of a step: groups are counted as groups, the first layer has no DP."""
    return {
        (layer.name, phase): layer.operations(batch) // 2
        for layer in network.layers
        if layer.name in scope
        for phase in PHASES
        if has_phase(network, layer, phase)
    }


def done(record: Record) -> Work:
    """Return the work of a record, all devices."""
    found: Counter[tuple[str, str]] = Counter()
    for row in record.rows:
        found[row.layer, row.phase] += row.macs
    return dict(found)


def unfair(record: Record, network: Network, scope: Sequence[str], batch: int) -> str | None:
    """Return why a record does not compare with others of this step; None where it does."""
    asked = (network.name, tuple(scope), batch)
    if (record.network, record.scope, record.batch) != asked:
        return "it is of another network, scope or batch"
    if record.left_out:
        return "; ".join(f"{layer}: {why}" for layer, why in record.left_out.items())
    if done(record) != useful(network, scope, batch):
        return "its rows are not the useful work of the step"
    return None
