"""The work of F-CNN's modules in a run: words on their ports, and cycles.

The models of the modules count beats. Here a word is an element, as for other machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from merp.models.base.shape import Shape
from merp.models.machines.fcnn import conv_cycles, conv_words, gradient_words, product_words
from merp.models.machines.fcnn.gradient_cycles import gradient_cycles
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.design import FcnnDesign
from merp.models.machines.fcnn.params.gradient_registers import GradientRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.pool_design import PoolRun
from merp.models.machines.fcnn.params.product_registers import ProductRun
from merp.models.machines.fcnn.phases import POOL, UNPOOL, design_of
from merp.models.machines.fcnn.pool_cycles import pool_cycles, unpool_cycles
from merp.models.machines.fcnn.pool_words import (
    pool_words,
    unpool_words,
    useful_beats,
    walked_pool_words,
    walked_unpool_words,
)
from merp.models.machines.fcnn.product_cycles import product_cycles
from merp.models.network.branches import begun
from merp.models.network.network import Layer, Network
from merp.models.network.phases import DP, FP, KU

MAPS = frozenset({"map_in", "map_out", "partial_in", "sum_out", "delta_in", "delta_out"})
"""Ports whose words are maps or deltas."""

STATE = frozenset({"state_in", "state_out"})
"""Ports whose words are bytes."""


class Work(Protocol):
    """The work of a module in a run."""

    @property
    def words(self) -> Mapping[str, int]:
        """Words on each port, by formula."""

    @property
    def walked(self) -> Mapping[str, int]:
        """The same, counted one by one in the order in which they pass."""

    @property
    def cycles(self) -> int:
        """Cycles from the one after start to the last word, if no stream waits."""

    @property
    def issue(self) -> int:
        """Beats of the walk, with blanks."""

    @property
    def useful(self) -> int:
        """Beats of the walk that compute something."""


@dataclass(frozen=True)
class ConvWork:
    """Sums or deltas of a convolution."""

    run: StreamRun

    @property
    def words(self) -> Mapping[str, int]:
        """Words on each port, by formula."""
        return conv_words.elements(conv_words.port_words(self.run), self.run.design)

    @property
    def walked(self) -> Mapping[str, int]:
        """The same, counted one by one."""
        return conv_words.elements(conv_words.walked_words(self.run), self.run.design)

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return conv_cycles.cycles(self.run)

    @property
    def issue(self) -> int:
        """Beats of the walk."""
        return self.run.grid.beats

    @property
    def useful(self) -> int:
        """Beats whose windows give sums."""
        return self.run.grid.passes * self.run.grid.out_beats


@dataclass(frozen=True)
class GradientWork:
    """Gradients of a convolution."""

    run: GradientRun

    @property
    def words(self) -> Mapping[str, int]:
        """Words on each port, by formula."""
        grid = self.run.grid
        return self._elements(gradient_words.gradient_words(grid.shape, grid.images, grid.design))

    @property
    def walked(self) -> Mapping[str, int]:
        """The same, counted one by one."""
        grid = self.run.grid
        return self._elements(gradient_words.walked_words(grid.shape, grid.images, grid.design))

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return gradient_cycles(self.run).total

    @property
    def issue(self) -> int:
        """Beats of the walk."""
        return gradient_cycles(self.run).issue

    @property
    def useful(self) -> int:
        """Beats with deltas."""
        return gradient_cycles(self.run).useful

    def _elements(self, beats: Mapping[str, int]) -> Mapping[str, int]:
        design = self.run.grid.design
        own = {"map_in": design.lanes, "delta_in": design.kernels, "gradient_out": 1}
        return {port: count * own[port] for port, count in beats.items()}


@dataclass(frozen=True)
class PoolWork:
    """Activation and pooling, or with ``back`` their derivatives."""

    run: PoolRun
    back: bool

    @property
    def words(self) -> Mapping[str, int]:
        """Words on each port, by formula."""
        return self._elements(unpool_words(self.run) if self.back else pool_words(self.run))

    @property
    def walked(self) -> Mapping[str, int]:
        """The same, counted one by one."""
        walked = walked_unpool_words if self.back else walked_pool_words
        return self._elements(walked(self.run))

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return unpool_cycles(self.run) if self.back else pool_cycles(self.run)

    @property
    def issue(self) -> int:
        """Beats before pooling."""
        run = self.run
        return run.maps * run.rows * run.columns * run.step

    @property
    def useful(self) -> int:
        """Beats before pooling that lie in a window."""
        return useful_beats(self.run)

    def _elements(self, beats: Mapping[str, int]) -> Mapping[str, int]:
        return {
            port: count * self.run.design.lanes
            for port, count in beats.items()
            if port not in STATE | {"map_in"} or self._has(port)
        }

    def _has(self, port: str) -> bool:
        """Return whether the design has the port."""
        if port in STATE:
            return self.run.design.keeps_state
        return not self.back or self.run.design.keeps_map


@dataclass(frozen=True)
class ProductWork:
    """A matrix product of a full connection."""

    run: ProductRun

    @property
    def words(self) -> Mapping[str, int]:
        """Words on each port, by formula."""
        run = self.run
        return self._elements(product_words.product_words(self._size, run.biased, run.design))

    @property
    def walked(self) -> Mapping[str, int]:
        """The same, counted one by one."""
        run = self.run
        return self._elements(product_words.walked_words(self._size, run.biased, run.design))

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return product_cycles(self.run).total

    @property
    def issue(self) -> int:
        """Turns of blocks."""
        return product_cycles(self.run).issue

    @property
    def useful(self) -> int:
        """Turns with a column piece."""
        return product_cycles(self.run).useful

    @property
    def _size(self) -> tuple[int, int, int]:
        return self.run.rows, self.run.inner, self.run.columns

    def _elements(self, beats: Mapping[str, int]) -> Mapping[str, int]:
        size = self.run.design.size
        return {port: count * (1 if port == "bias" else size) for port, count in beats.items()}


def missing_elements(work: Work) -> int:
    """Return the elements of the outputs of a run that belong to no map.

    If ``maps_at_once`` does not divide the output maps, the last block has fewer maps. If ``block``
    does not divide the rows of a product, its last pieces have fewer rows. The elements of the
    missing ones cross the port.
    """
    if isinstance(work, ProductWork):
        return work.words["sum_out"] - work.run.rows * work.run.columns
    if not isinstance(work, ConvWork):
        return 0
    grid = work.run.grid
    shape = grid.shape
    own = shape.n * shape.m * shape.out_rows * shape.out_columns * grid.images
    return work.words["sum_out"] - own


def product_run(design: FcnnDesign, shape: Shape, phase: str, images: int) -> ProductRun:
    """Return the run of a phase of a full connection, n inputs to m outputs.

    Rows of the product are images, or in kernel update the inputs and, for the biases, a row of
    ones.

    Raises:
        ValueError: the run does not fit the design.
    """
    rows, inner, columns = {
        FP.name: (images, shape.n, shape.m),
        DP.name: (images, shape.m, shape.n),
        KU.name: (shape.n + 1, images, shape.m),
    }[phase]
    return ProductRun(rows, inner, columns, biased=phase == FP.name, design=design.product)


def work_of(network: Network, layer: Layer, phase: str, images: int) -> Work:
    """Return the work of a phase of one group of a layer.

    Raises:
        BadInput: the layer has no design of this machine.
        ValueError: the run does not fit the design.
    """
    design, shape = design_of(network, layer), layer.shape
    if phase in (POOL.name, UNPOOL.name):
        return PoolWork(pool_run(design, shape, images), back=phase == UNPOOL.name)
    if not design.convolves:
        return ProductWork(product_run(design, shape, phase, images))
    if phase == FP.name:
        return ConvWork(StreamRun.forward(shape, images, design.convolution))
    if phase == DP.name:
        starts = begun(network, layer)
        return ConvWork(StreamRun.deltas(shape, images, design.convolution, begun=starts))
    return GradientWork(GradientRun(Grid(shape, images, design.convolution)))


def pool_run(design: FcnnDesign, shape: Shape, images: int) -> PoolRun:
    """Return the run of activation and pooling, in either direction, of a layer that has them.

    Raises:
        ValueError: the run does not fit the design.
    """
    assert design.pooling is not None
    return PoolRun(
        design=design.pooling, maps=shape.m, rows=shape.out_rows, columns=shape.out_columns,
        images=images,
    )  # fmt: skip
