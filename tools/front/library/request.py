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
    """Phases of one layer."""
    return [name for name, phase in known_phases().items() if not phase.fuses]


@dataclass(frozen=True)
class RunKeywords:
    """The keywords of the Python method."""

    x: ArrayLike | None = keyword(
        Kind(),
        "the layer's input, ``(images, rows, columns, groups*n)``. Without it, what the layers in "
        "front make of the photograph that is shipped.",
    )
    _: KW_ONLY
    phase: str = keyword(
        OneOf(alone),
        "``fp``, ``dp`` or ``ku`` (CNN-MERP section III), or ``bp``: the latter two in one pass.",
        default="fp",
    )
    delta: ArrayLike | None = keyword(
        Kind(),
        "of the layer's output, ``(images, pooled rows, pooled columns, groups*m)``; all but "
        "``fp`` of an ``x`` need it. Without ``x``, that of the network's loss.",
    )
    add: ArrayLike | None = keyword(
        Kind(),
        "what is added to the layer's sums, ``(images, out rows, out columns, groups*m)``, of an "
        "``x`` in ``fp``, where the layer adds another one's output.",
    )
    kernels: ArrayLike | None = keyword(
        Kind(), "``(groups*m, n, k, k)``; without them, initial ones."
    )
    biases: ArrayLike | None = keyword(Kind(), "``(groups*m,)``; without them, initial ones.")
    engine: str = keyword(OneOf(ENGINES), "``myhdl``, ``verilator`` or ``ghdl``.", default="myhdl")
    cu_array: str | None = keyword(
        OneOf(ARRAYS),
        "``behavioural`` (quicker, the same bits in the same cycles; with ``myhdl``, its default, "
        "and ``verilator``) or ``rtl``.",
    )
    group: int | None = keyword(Kind(), "the one to run; without it, all.")
    images: int | None = keyword(Kind(), f"of the photograph, 1 to {MOST_IMAGES} (default 1).")
    rows: int | None = keyword(
        WholeOption(1, MAX_SIZE),
        "``fp`` of the first so many rows of the input maps, as if they had no more.",
        needs=(Being("phase", ("fp",)),),
    )
    state: bool = keyword(
        Flag(), "``fp`` also writes the state for the backward phases.", default=False
    )
    delta_at: str | None = keyword(
        OneOf(DELTAS),
        "resolution of deltas in memory, ``sums`` or ``pooled``. The default is ``pooled`` for "
        "``bp``, and for ``dp`` of an ``x``, as both undo this layer's pooling; else ``sums``.",
    )
    learning_rate: float = keyword(
        Number("a number above 0", lambda value: 0 < value < math.inf),
        "of the update, of the mean loss.",
        default=0.01,
    )
    seed: int = keyword(WholeOption(0, MOST_SEED), "of initial kernels and biases.", default=0)
    wave: Place | None = keyword(
        File(), "a file, ``.vcd`` or ``.fst``, for a waveform; views of it are put beside it."
    )
    wave_of: str | None = keyword(
        Text(),
        "what it shows beside the ports: an instance with everything below it, as "
        "``layer.windows``, or ``all``.",
    )
