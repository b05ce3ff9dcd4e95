"""What came of a phase of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.base.bits import Bits
from merp.models.network.network import Layer


@dataclass(frozen=True)
class PassResult:
    """One phase of one layer, or a turn of it: the audit, and what the hardware made.

    Attributes:
        audit: of all passes that were run.
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


def joined(turns: Sequence[PassResult], joint: int) -> PassResult:
    """The result of a phase of a layer, from those of its turns in order.

    joint: axis of the output maps along which turns follow each other.

    Raises:
        ValueError: there are none.
    """
    audit = combine([each.audit for each in turns])
    made = [each.outputs for each in turns if each.outputs is not None]
    outputs = np.concatenate(made, axis=joint) if made else None
    return replace(turns[-1], audit=audit, outputs=outputs)
