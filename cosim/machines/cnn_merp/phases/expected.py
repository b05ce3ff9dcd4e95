"""Expected ports and operations of a pass of CNN-MERP, for the audit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from merp.cosim.machines.cnn_merp.phases.pins import stored_words
from merp.cosim.phases.expectation import ReportedPort, UnitWork
from merp.models.base.bits import Bits
from merp.models.base.folded_shape import run_shape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import stored_format, word_bytes


def work_of(shape: Shape, images: int, design: EngineDesign) -> UnitWork:
    """Return the work of a pass over the windows of ``shape``, for every group of CUs."""
    run = run_shape(shape, design.k)
    windows = run.n * run.out_rows * run.out_columns * images
    macs = shape.macs(images)
    return UnitWork(
        n_cu=design.n_cu,
        issue=windows * -(-shape.m // design.n_cu),
        useful=windows * shape.m,
        operations=2 * macs,
        ideal=macs / (design.taps * design.n_cu),
    )


def expected_ports(
    phase: str,
    streams: Mapping[str, str],
    formula: Mapping[str, int],
    walked: Mapping[str, int],
    goldens: Mapping[str, Bits],
    maps: Collection[str],
    design: EngineDesign,
) -> dict[str, ReportedPort]:
    """Return the ports of a pass. Mask ports carry bytes, partial sums words of an accumulator.

    All other ports carry elements in the stored format of ``design``.

    Raises:
        ValueError: a word of ``goldens`` is not a number of its port's format.
    """
    pins = {
        name: stored_words(golden, phase, name, design, streams[name])
        for name, golden in goldens.items()
    }
    return {
        name: ReportedPort(
            stream=stream,
            closed_form=formula[name],
            counter=walked[name],
            word_bytes=word_bytes(phase, name, design),
            maps=name in maps,
            golden=pins.get(name),
            stored=stored_format(phase, name, design),
        )
        for name, stream in streams.items()
    }
