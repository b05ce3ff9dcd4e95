"""What is known beforehand of one pass of an engine, whatever its phase."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from merp.models.cnn_merp.phases import DeltaDesign, maps_behind
from merp.models.params.cnn_merp.design import Design
from merp.models.params.delta_shape import delta_shape
from merp.models.params.formats import FloatFormat
from merp.models.params.shape import Shape
from merp.models.traffic import backward_counter, closed_form, counter
from merp.testbenches.cnn_merp import delta_top as delta_run
from merp.testbenches.cnn_merp import forward_top as forward_run
from merp.testbenches.cnn_merp import kernel_update_top as kernel_update_run

Words = NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of the report.

    Attributes:
        stream: its stream on the top.
        closed_form, counter: words by formula and by walking the schedule.
        word_bytes: bytes of a word. maps: whether it carries maps or deltas (footing ``paper``).
        golden: what must leave on it, in the shape of its maps or kernels; None for an input.
    """

    stream: str
    closed_form: int
    counter: int
    word_bytes: int
    maps: bool = False
    golden: Words | None = None


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the CUs must do.

    Attributes:
        n_cu: CUs. issue: slots. useful: slots of single CUs that compute something.
        operations: two per multiply-add. ideal: cycles with every CU useful in each.
    """

    n_cu: int
    issue: int
    useful: int
    operations: int
    ideal: float

    @classmethod
    def of(cls, shape: Shape, images: int, design: Design) -> Work:
        """The work of a pass over the windows of ``shape``, for every group of CUs."""
        windows = shape.n * shape.out_rows * shape.out_columns * images
        macs = shape.macs(images)
        return cls(
            n_cu=design.n_cu,
            issue=windows * -(-shape.m // design.n_cu),
            useful=windows * shape.m,
            operations=2 * macs,
            ideal=macs / (shape.k**2 * design.n_cu),
        )


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What one pass must do.

    Attributes:
        ports: by name, as the hardware's counters are named.
        first: port whose first word starts the count of cycles. last: ports, the last word of which
            ends it.
        loads: ports that must have been read before, in ``kernel_load``.
        work: of the CUs.
        early_end: the last word may leave before the last slot.
    """

    ports: Mapping[str, Port]
    first: str
    last: tuple[str, ...]
    loads: tuple[str, ...]
    work: Work
    early_end: bool = False


def expect_forward(
    shape: Shape, images: int, design: Design, golden: Words, state: bytes | None = None
) -> Expectation:
    """Forward propagation of one group.

    ``golden`` is (images, pooled rows, pooled columns, m); ``state`` what must leave for the way
    back, on a design that writes it.
    """
    formula = closed_form.port_words(shape, images)
    walked = counter.port_words(shape, images, design)
    goldens = {"map_out": golden}
    if state is not None:
        formula["state_out"] = closed_form.state_bytes(shape, shape.m, images)
        walked["state_out"] = backward_counter.state_bytes(shape, shape.m, images)
        goldens["state_out"] = np.frombuffer(state, np.uint8).astype(np.uint32)
    streams = forward_run.PORTS if state is None else forward_run.STATE_PORTS
    ports = _ports(streams, formula, walked, goldens, ("map_in", "map_out"), design.fmt)
    return Expectation(
        ports=ports,
        first="map_in",
        last=("map_out",),
        loads=("kernel", "bias"),
        work=Work.of(shape, images, design),
        early_end=not _every_position_counts(shape),
    )


def expect_delta(
    shape: Shape, undone: Shape, images: int, design: DeltaDesign, golden: Words
) -> Expectation:
    """Delta propagation of one group; ``golden`` is the delta that leaves, images first.

    ``shape`` and ``undone`` are those of ``delta_run``.
    """
    engine, before = design.engine, design.before
    maps = shape.m if before else maps_behind(shape, undone)
    formula = closed_form.delta_port_words(shape, undone, maps, images, before)
    walked = backward_counter.delta_words(shape, undone, maps, images, engine, before)
    ports = _ports(
        delta_run.PORTS, formula, walked, {"delta_out": golden}, ("delta_in", "delta_out"),
        engine.fmt,
    )  # fmt: skip
    # Products with the zeros of a dilation are no work of the layer.
    work = Work.of(delta_shape(shape), images, engine)
    macs = shape.macs(images)
    return Expectation(
        ports=ports,
        first="delta_in",
        last=("delta_out",),
        loads=("kernel",),
        work=replace(work, operations=2 * macs, ideal=macs / (shape.k**2 * engine.n_cu)),
    )


def expect_update(
    shape: Shape,
    images: int,
    design: Design,
    kernels: Words,
    biases: Words,
    velocities: tuple[Words, Words] | None = None,
    before: bool = False,
) -> Expectation:
    """Kernel update of one group; ``kernels`` (m, n, k, k) and ``biases`` (m,) are the new ones.

    With momentum, so are the ``velocities`` of both. With ``before`` deltas come at pooled
    resolution.
    """
    formula = closed_form.update_port_words(shape, images, before)
    walked = backward_counter.update_words(shape, images, design, before)
    goldens = {"kernel_out": kernels, "bias_out": biases}
    ports = _ports(
        kernel_update_run.PORTS | (kernel_update_run.STATE_PORTS if before else {}),
        formula, walked, goldens, ("map_in", "delta_in"), design.fmt,
    )  # fmt: skip
    if velocities is not None:
        # As many words as kernels and biases have, beside them.
        for kind, golden in zip(("kernel", "bias"), velocities, strict=True):
            for way, like in (("in", kind), ("out", f"{kind}_out")):
                name = f"{kind}_velocity_{way}"
                ports[name] = replace(
                    ports[like],
                    stream=kernel_update_run.VELOCITY_PORTS[name],
                    golden=golden if way == "out" else None,
                )
    last = ("bias_out",) if velocities is None else ("bias_out", "bias_velocity_out")
    work = Work.of(shape, images, design)
    return Expectation(ports=ports, first="map_in", last=last, loads=(), work=work)


def _ports(
    streams: Mapping[str, str],
    formula: Mapping[str, int],
    walked: Mapping[str, int],
    goldens: Mapping[str, Words],
    maps: Collection[str],
    fmt: FloatFormat,
) -> dict[str, Port]:
    """Ports of a pass; those of state carry bytes, all others words of ``fmt``."""
    return {
        name: Port(
            stream=stream,
            closed_form=formula[name],
            counter=walked[name],
            word_bytes=1 if name.startswith("state") else -(-fmt.width // 8),
            maps=name in maps,
            golden=goldens.get(name),
        )
        for name, stream in streams.items()
    }


def _every_position_counts(shape: Shape) -> bool:
    """Whether the last position lies in a pooling window, so that the last word waits for it."""
    if shape.pool is None:
        return True
    covered = [
        (pooled - 1) * shape.pool.stride + shape.pool.window
        for pooled in (shape.pooled_rows, shape.pooled_columns)
    ]
    return covered == [shape.out_rows, shape.out_columns]
