"""The result of a layer's run in the hardware."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import Audit
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.network.network import Layer
from merp.tools.common.rows import Rows

STATE = "state"
"""The only array of bytes."""


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One phase of a layer, run in the hardware, with every word compared to the golden model.

    Attributes:
        layer: the layer.
        phase: name of the phase.
        engine: the simulator.
        fmt: the number format.
        x: the layer's input, ``(images, rows, columns, groups*n)`` words.
        words: output words of the hardware by name, for the groups that ran. ``fp``: ``y`` (images,
            pooled rows, pooled columns, maps) and, if requested, ``state``, the bytes of the
            ReLU/pooling mask, one group after the other. ``dp``: ``delta``, the deltas of the layer
            in front. ``ku``: the new ``kernels`` (maps, n, k, k) and ``biases`` (maps,). On
            ``fcnn``, ``fp`` has ``sums``, ``pool`` ``y`` and ``state``, ``unpool`` the ``delta`` of
            the sums, and ``ku`` ``kernel_gradients`` and ``bias_gradients``.
        records: words, transfers, cycles and counters of each group, from the engine.
        audit: words counted in four ways, bits, cycles by cause, for all groups.
    """

    layer: Layer
    phase: str
    engine: str
    fmt: FloatFormat
    x: Bits
    words: Mapping[str, Bits]
    records: tuple[RunRecord, ...]
    audit: Audit

    @property
    def passed(self) -> bool:
        """Whether all bits, counts and cycles are as expected."""
        return self.audit.passed

    @property
    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """``words`` as float64 numbers, exactly; ``state`` remains bytes."""
        return {
            name: words if name == STATE else to_values(words, self.fmt)
            for name, words in self.words.items()
        }

    @property
    def ports(self) -> Rows:
        """Words on each port of the hardware, counted in four ways."""
        title = f"{self.layer.name} {self.phase}: words on the ports"
        rows = ({"port": port, **ways} for port, ways in self.audit.ports.items())
        return Rows(title, rows)

    def __repr__(self) -> str:
        """Return verdict and cycles."""
        return f"<{self._said()}>"

    def _said(self) -> str:
        verdict = "passed" if self.passed else f"FAILED: {'; '.join(self.audit.failures)}"
        return (
            f"{self.layer.name} {self.phase} on {self.engine}: {verdict}; "
            f"{self.audit.words_compared:,} words compared, {self.audit.mismatches:,} differ; "
            f"{self.audit.cycles['total']:,} cycles"
        )

    def _repr_html_(self) -> str:
        """Return the verdict, the ports, and pictures of maps, for notebooks."""
        shown = f"<p>{escape(self._said())}</p>{self.ports._repr_html_()}"
        if "y" not in self.words:
            return shown
        from merp.tools.simulate.map_picture import draw  # imports Matplotlib only if needed

        picture = draw(
            self.layer.name,
            to_values(self.x[0], self.fmt),
            to_values(self.words["y"][0], self.fmt),
        )
        text = b64encode(picture).decode("ascii")
        what = f"input and output maps of {escape(self.layer.name)}"
        return f'{shown}<img alt="{what}" src="data:image/png;base64,{text}">'
