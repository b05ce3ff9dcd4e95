"""The result of a phase of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.base.bits import Bits
from merp.models.network.network import Layer


@dataclass(frozen=True)
class PassResult:
    """The result of one phase of one layer, or of a turn of it: the audit and the outputs.

    Attributes:
        layer: the layer.
        phase: name of the phase.
        audit: audit of all passes that ran.
        elaboration_sha: fingerprint of the elaboration.
        build_seconds: time of its elaboration or build.
        outputs: in forward propagation (images, pooled_rows, pooled_columns, maps of the groups
            that ran) words, else None.
    """

    layer: Layer
    phase: str
    audit: Audit
    elaboration_sha: str
    build_seconds: float
    outputs: Bits | None = None


def joined(turns: Sequence[PassResult], joint: int) -> PassResult:
    """Return the result of a phase of a layer, from the results of its turns in order.

    Args:
        turns: results of the turns.
        joint: axis of the output maps along which turns are joined.

    Raises:
        ValueError: there are no turns.
    """
    audit = combine([each.audit for each in turns])
    made = [each.outputs for each in turns if each.outputs is not None]
    outputs = np.concatenate(made, axis=joint) if made else None
    return replace(turns[-1], audit=audit, outputs=outputs)
