"""Runs of gradient modules: random shapes and words, and the gradients that they must give."""

from dataclasses import dataclass
from random import Random

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.gradient_registers import GradientRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.fcnn.gradient_bench import golden_words, gradient_job
from merp.testbenches.fcnn.stream_player import StreamJob

SINKS = ("sink_map", "sink_delta")


@dataclass(frozen=True)
class Case:
    """A run with its arrays, and the words that it must give."""

    run: GradientRun
    x: Bits
    delta: Bits
    filler: int = 0

    @property
    def job(self) -> StreamJob:
        """The run of ``stream_gradient``."""
        return gradient_job(self.run, self.x, self.delta, SINKS, self.filler)

    @property
    def wanted(self) -> list[int]:
        """The words of the golden model."""
        return golden_words(self.run, self.x, self.delta)


def small(k: int, lanes: int = 1, maps: int = 1, **more: object) -> StreamDesign:
    """With quick adders, so that small maps take few cycles."""
    return StreamDesign(**{
        "k": k, "lanes": lanes, "maps_at_once": maps, "max_rows": 9, "max_columns": 9,
        "max_maps": 7, "max_step": 3, "max_stride": 3, "mul_latency": 1, "add_latency": 1,
        "fmt": BFLOAT16,
    } | more)  # type: ignore[arg-type]  # fmt: skip


def case(design: StreamDesign, shape: Shape, images: int, rng: Random) -> Case:
    """A run of random words."""

    def words(*size: int) -> Bits:
        count = int(np.prod(size))
        return np.array(elements(count, design.fmt, rng), np.uint32).reshape(size)

    return Case(
        GradientRun(Grid(shape, images, design)),
        words(images, shape.rows, shape.columns, shape.n),
        words(images, shape.out_rows, shape.out_columns, shape.m),
        rng.getrandbits(design.fmt.width),
    )


def random_case(design: StreamDesign, rng: Random) -> Case:
    """A run of a random shape that fits ``small``."""
    k = design.k
    while True:
        pads = tuple(rng.randrange(k) for _ in range(4))
        try:
            shape = Shape(
                n=rng.randint(1, 3), m=rng.randint(1, 5), k=k, rows=rng.randint(1, 5),
                columns=rng.randint(1, 5), stride=rng.randint(1, 3),
                pad=(pads[0], pads[1], pads[2], pads[3]),
            )  # fmt: skip
            return case(design, shape, design.lanes * rng.randint(1, 3), rng)
        except ValueError:
            continue
