"""What came of a phase of a layer."""

from __future__ import annotations

from dataclasses import dataclass

from merp.cosim.audit.audit import Audit
from merp.models.network.network import Layer
from merp.models.params.bits import Bits


@dataclass(frozen=True)
class Result:
    """One phase of one layer: the audit of its groups, and what the hardware made.

    Attributes:
        audit: all groups that were run.
        elaboration_sha: of what ran. build_seconds: what its elaboration or build took.
        outputs: in forward propagation (images, pooled_rows, pooled_columns, maps of the groups
            run) words, else None.
    """

    layer: Layer
    phase: str
    audit: Audit
    elaboration_sha: str
    build_seconds: float
    outputs: Bits | None = None
