"""Two fused layers in forward propagation as one pass, which is not split into parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, PassPlace, Tiles
from merp.cosim.machines.cnn_merp.phases.fused_forward import (
    PORTS,
    expect_fused_forward,
    fused_forward_run,
    fused_forward_top,
)
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.phases.audit.run_and_audit import given
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.models.base.bits import Bits
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Shape
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.network.phases import PAIR
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class FusedTiles(Tiles):
    """A group of the first layer, and the groups of the second layer that read its outputs.

    Attributes:
        shape: the layers.
        design: design of the pass, which the layers fit; it writes ReLU/pooling masks.
        x: (images, rows, columns, n) words.
        first: kernels (m, n, k, k) and biases (m,) of the first layer.
        second: kernels (groups*m, n, k, k) and biases (groups*m,) of the second layer.
        cut: a single part of the maps.
    """

    shape: FusedShape
    design: FusedDesign
    x: Bits
    first: Pair
    second: Pair
    cut: Cut

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs the pass, as a top."""
        return fused_forward_top(self.design, array)

    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Return ``between`` and ``maps`` (images, pooled rows, pooled columns, maps).

        They are the outputs of the first and the second layer. The result also has
        ``between_state`` and ``state``, the bytes of their masks.
        """
        (row,) = rows
        return row

    def row(self, outputs: int) -> Made:
        """Run the pass. Its results are named as in ``joined``."""
        record = given((yield self.alone(PassPlace(outputs, 0)))).record
        one, other, groups = self.shape
        found = {}
        for name, shape, maps in (("between", one, one.m), ("maps", other, groups * other.m)):
            port = "between_out" if name == "between" else "map_out"
            size = len(self.x), shape.pooled_rows, shape.pooled_columns, maps
            left = record.array(PORTS[port], size)
            found[name] = widened_words(left, PAIR, port, self.design.second)
        return found | {
            "between_state": record.words(PORTS["between_state_out"]),
            "state": record.words(PORTS["state_out"]),
        }

    def alone(self, place: PassPlace) -> GroupPass:
        """Return the pass."""
        shape, design = self.shape, self.design
        between, own = _golden(self.x, self.first, shape.first, 1, design.first)
        # the size as it is read, possibly flattened
        size = len(self.x), shape.second.rows, shape.second.columns, -1
        taken = between.reshape(size)
        maps, behind = _golden(taken, self.second, shape.second, shape.groups, design.second)
        run = fused_forward_run(shape, design, self.x, self.first, self.second)
        return GroupPass(
            run,
            expect_fused_forward(shape, len(self.x), design, maps, between, (own, behind)),
        )


def _golden(
    x: Bits, made: Pair, shape: Shape, groups: int, design: EngineDesign
) -> tuple[Bits, bytes]:
    """Return the stored output maps of groups of a layer, and the output bytes of their masks."""
    fmt = design.fmt
    plain = replace(shape, pool=None)
    of_groups = zip(
        np.split(x, groups, axis=-1), *(np.split(each, groups) for each in made), strict=True
    )
    sums = [
        super_layer(np.ascontiguousarray(maps), kernels, biases, plain, fmt, design.summation)
        for maps, kernels, biases in of_groups
    ]
    activation = np.concatenate(sums, axis=-1)
    maps = as_stored(pool_maps(activation, shape.pool, fmt), PAIR, "map_out", design)
    return maps, packed(keep_state(activation, shape, "pooled", fmt), shape, fmt)
