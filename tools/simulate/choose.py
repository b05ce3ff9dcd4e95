"""What a simulation is asked for, checked by the machine of the layers that were picked."""

from __future__ import annotations

from collections.abc import Callable

from merp.cosim.machines.loader import part_that_runs
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.picked import Picked


def choose(
    picked: Picked,
    *,
    phase: str,
    images: int,
    engine: str,
    cu_array: str | None,
    state: bool,
    delta_at: str | None,
    wave: object = None,
    rows: int | None = None,
) -> Choice:
    """What is to be simulated.

    Args:
        picked: layers of one design.
        phase: of ``NAMED``, or ``all``. images: in a run, 1 to ``MOST_IMAGES``.
        engine: of ``ENGINES``. cu_array: of ``ARRAYS``, or None for the engine's own.
        state: forward propagation writes the state that the backward phases read.
        delta_at: as of ``deltas_pooled``. wave: where a waveform is asked for, as it was named.
        rows: of one layer's input maps, the first ones alone, in ``fp``; None is all of them.

    Raises:
        BadInput: the machine does not do it.
    """
    chooser: Callable[..., Choice] = part_that_runs(picked.network, picked.layers, "choose")
    return chooser(
        picked, phase=phase, images=images, engine=engine, cu_array=cu_array, state=state,
        delta_at=delta_at, wave=wave, rows=rows,
    )  # fmt: skip
