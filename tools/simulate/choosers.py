"""What a simulation is asked for, by the architecture of the designs that were picked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.architectures import Design
from merp.models.params.cnn_merp import design as cnn_merp
from merp.models.params.mac_array import design as mac_array
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.choose import Picked, choose_layers
from merp.tools.simulate.choose_array import choose_array

CHOOSERS: Mapping[type[Design], Callable[..., Choice]] = {
    cnn_merp.Design: choose_layers,
    mac_array.Design: choose_array,
}


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
        phase: of ``NAMED``, or ``all``. images: in a run, 1 to ``MOST_IMAGES``.
        engine: of ``ENGINES``. cu_array: of ``ARRAYS``, or None for the engine's own.
        state: forward propagation writes what the way back needs.
        delta_at: as of ``deltas_pooled``. wave: where a waveform is asked for, as it was named.
        rows: of one layer's input maps, the first ones alone, in ``fp``; None is all of them.

    Raises:
        BadInput: the architecture does not do it.
    """
    chooser = CHOOSERS[type(picked.network.elaboration(picked.layers[0]))]
    return chooser(
        picked, phase=phase, images=images, engine=engine, cu_array=cu_array, state=state,
        delta_at=delta_at, wave=wave, rows=rows,
    )  # fmt: skip
