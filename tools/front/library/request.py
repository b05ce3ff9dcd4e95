"""The request of ``Layer.run``."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from merp.cosim.engines.names import ENGINES
from merp.models.network.network_keys import MAX_SIZE
from merp.models.network.phases import known_phases
from merp.tools.common.fields import DELTAS, MOST_SEED
from merp.tools.common.kinds import File, Flag, Kind, Number, OneOf, Place, Text, WholeOption
from merp.tools.common.request import Being, keyword
from merp.tools.simulate.picked import ARRAYS, MOST_IMAGES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def alone() -> list[str]:
    """Return the phases of a single layer."""
    return [name for name, phase in known_phases().items() if not phase.fuses]


@dataclass(frozen=True)
class RunKeywords:
    """The keywords of the Python method."""

    x: ArrayLike | None = keyword(
        Kind(),
        "the layer's input, ``(images, rows, columns, groups*n)``. By default the layers in front "
        "compute it from the shipped photograph.",
    )
    _: KW_ONLY
    phase: str = keyword(
        OneOf(alone),
        "``fp``, ``dp`` or ``ku`` (CNN-MERP section III), or ``bp``: dp and ku in one pass.",
        default="fp",
    )
    delta: ArrayLike | None = keyword(
        Kind(),
        "delta of the layer's output, ``(images, pooled rows, pooled columns, groups*m)``. With "
        "``x`` it is required for all phases but ``fp``. Without ``x`` it follows from the loss.",
    )
    add: ArrayLike | None = keyword(
        Kind(),
        "summand of the layer's sums, ``(images, out rows, out columns, groups*m)``. It is needed "
        "with ``x`` in ``fp`` if the layer adds the output of another one.",
    )
    kernels: ArrayLike | None = keyword(Kind(), "``(groups*m, n, k, k)``; by default initial ones.")
    biases: ArrayLike | None = keyword(Kind(), "``(groups*m,)``; by default initial ones.")
    engine: str = keyword(OneOf(ENGINES), "``myhdl``, ``verilator`` or ``ghdl``.", default="myhdl")
    cu_array: str | None = keyword(
        OneOf(ARRAYS),
        "``behavioural`` or ``rtl``. Behavioural arrays are faster, with the same bits in the same "
        "cycles. They are the default of ``myhdl`` and allowed with ``verilator``.",
    )
    group: int | None = keyword(Kind(), "the group to run; by default all.")
    images: int | None = keyword(
        Kind(), f"images made from the photograph, 1 to {MOST_IMAGES} (default 1)."
    )
    rows: int | None = keyword(
        WholeOption(1, MAX_SIZE),
        "run ``fp`` on this number of first rows of the input maps only.",
        needs=(Being("phase", ("fp",)),),
    )
    state: bool = keyword(
        Flag(), "``fp`` also writes the ReLU/pooling mask for the backward phases.", default=False
    )
    delta_at: str | None = keyword(
        OneOf(DELTAS),
        "resolution of deltas in memory, ``sums`` or ``pooled``. The default is ``pooled`` for "
        "``bp``, and for ``dp`` with ``x``, because both undo this layer's pooling; else ``sums``.",
    )
    learning_rate: float = keyword(
        Number("a number above 0", lambda value: 0 < value < math.inf),
        "learning rate of the update, for the mean loss.",
        default=0.01,
    )
    seed: int = keyword(WholeOption(0, MOST_SEED), "seed of initial kernels and biases.", default=0)
    wave: Place | None = keyword(
        File(), "file for a waveform, ``.vcd`` or ``.fst``; its views are written next to it."
    )
    wave_of: str | None = keyword(
        Text(),
        "signals of the waveform in addition to the ports: an instance with everything below it, "
        "as ``layer.windows``, or ``all``.",
    )
