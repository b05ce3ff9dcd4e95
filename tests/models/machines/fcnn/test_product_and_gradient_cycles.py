"""The formulas of the pages: cycles of modules of gradients and of matrix products."""

from math import ceil, log2
from random import Random

from checkout import ROOT
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.gradient_cycles import gradient_cycles
from merp.models.machines.fcnn.gradient_words import gradient_words
from merp.models.machines.fcnn.gradient_words import walked_words as walked_gradients
from merp.models.machines.fcnn.params.gradient_registers import GradientRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import ProductRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.product_cycles import product_cycles
from merp.models.machines.fcnn.product_words import product_words
from merp.models.machines.fcnn.product_words import walked_words as walked_products

PAGES = ROOT / "docs" / "blocks" / "fcnn"


def test_gradients_of_maps_of_equal_size() -> None:
    page = (PAGES / "stream_gradient.md").read_text()
    assert "pause = m (k^2 + 1) + mul_latency + 2 add_latency + 1 " in page
    assert "total = P Rg Cg B/G + lead + (P - 1) pause + end" in page
    assert "m' (k^2 + 1) + ceil(log2(A G)) add_latency" in page
    rng = Random(1)
    for _ in range(50):
        k, lanes, at_once = rng.choice((1, 3, 5)), rng.randint(1, 4), rng.randint(1, 4)
        design = StreamDesign(
            k=k, lanes=lanes, maps_at_once=at_once, max_rows=9, max_columns=9, max_maps=12,
            max_step=3, mul_latency=rng.randint(1, 3), add_latency=rng.randint(1, 5),
        )  # fmt: skip
        m = at_once * rng.randint(1, 3)  # no map is missing
        shape = Shape(
            n=rng.randint(1, 4), m=m, k=k, rows=rng.randint(2, 9), columns=rng.randint(2, 9),
            pad=k // 2,
        )  # fmt: skip
        step = rng.randint(1, 3)
        run = GradientRun(Grid(shape, lanes * step, design))
        passes = shape.n * ceil(shape.m / at_once)
        mul, add = design.mul_latency, design.add_latency
        pause = at_once * (k * k + 1) + mul + 2 * add + 1
        lead = ((k - 1 - k // 2) * shape.columns + k - 1 - k // 2) * step
        end = mul + 2 * add + 5 + at_once * (k * k + 1) + ceil(log2((add + 1) * lanes)) * add
        beats = passes * shape.rows * shape.columns * step + lead
        assert gradient_cycles(run).total == beats + (passes - 1) * pause + end
        assert gradient_cycles(run).issue == beats
        words = gradient_words(shape, lanes * step, design)
        assert words == walked_gradients(shape, lanes * step, design)


def test_products() -> None:
    page = (PAGES / "block_product.md").read_text()
    assert "T (K turns + mul_latency + add_latency + 1) + O ceil(I/R) + 4 + first" in page
    rng = Random(2)
    for _ in range(50):
        blocks = rng.randint(1, 6)
        design = ProductDesign(
            size=rng.randint(1, 5), blocks=blocks, turns=rng.randint(6, 9), max_rows=99,
            max_inner=99, max_columns=99, mul_latency=rng.randint(1, 3),
            add_latency=rng.randint(1, 5),
        )  # fmt: skip
        size = rows, inner, columns = tuple(rng.randint(1, 99) for _ in range(3))
        biased = rng.random() < 0.5
        r, turns = design.size, design.turns
        tiles = ceil(rows / (r * turns)) * ceil(columns / (r * blocks))
        first = columns if biased else min(blocks, ceil(columns / r))
        pause = design.mul_latency + design.add_latency + 1
        total = tiles * (inner * turns + pause) + columns * ceil(rows / r) + 4 + first
        assert product_cycles(ProductRun(*size, biased, design)).total == total
        assert product_words(size, biased, design) == walked_products(size, biased, design)
