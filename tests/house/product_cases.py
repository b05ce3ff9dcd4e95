"""Runs of matrix products: random sizes and words, and the products that they must give."""

from dataclasses import dataclass
from random import Random

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16
from merp.models.golden.convolution import convolution
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import ProductRun
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.fcnn.product_bench import product_job
from merp.testbenches.fcnn.stream_player import StreamJob


@dataclass(frozen=True)
class Case:
    """A run with its matrices."""

    run: ProductRun
    a: Bits
    b: Bits
    bias: Bits
    filler: int = 0

    @property
    def job(self) -> StreamJob:
        """The run of ``block_product``."""
        return product_job(self.run, self.a, self.b, self.bias, self.filler)

    @property
    def wanted(self) -> Bits:
        """C (rows, columns) by the golden convolution of maps of one element."""
        run = self.run
        start = self.bias if run.biased else np.zeros(run.columns, np.uint32)
        maps = self.a.reshape(run.rows, 1, 1, run.inner)
        kernels = np.ascontiguousarray(self.b.T).reshape(run.columns, run.inner, 1, 1)
        found = convolution(maps, kernels, start, 1, 0, run.design.fmt)
        return found.reshape(run.rows, run.columns)


def small(size: int, blocks: int, turns: int, **more: object) -> ProductDesign:
    """With quick adders, so that small matrices take few cycles."""
    return ProductDesign(**{
        "size": size, "blocks": blocks, "turns": turns, "max_rows": 20, "max_inner": 20,
        "max_columns": 20, "mul_latency": 1, "add_latency": 1, "fmt": BFLOAT16,
    } | more)  # type: ignore[arg-type]  # fmt: skip


def case(design: ProductDesign, size: tuple[int, int, int], biased: bool, rng: Random) -> Case:
    """A run of random words; ``size`` is (rows, inner, columns)."""
    rows, inner, columns = size

    def words(*shape: int) -> Bits:
        count = int(np.prod(shape))
        return np.array(elements(count, design.fmt, rng), np.uint32).reshape(shape)

    return Case(
        ProductRun(rows, inner, columns, biased, design), words(rows, inner),
        words(inner, columns), words(columns), rng.getrandbits(design.fmt.width),
    )  # fmt: skip


def random_case(design: ProductDesign, rng: Random) -> Case:
    """A run of a random size of up to about two tiles along each axis."""
    rows = rng.randint(1, min(20, 2 * design.tile_rows + 1))
    columns = rng.randint(1, min(20, 2 * design.tile_columns + 1))
    return case(design, (rows, rng.randint(1, 5), columns), rng.random() < 0.5, rng)
