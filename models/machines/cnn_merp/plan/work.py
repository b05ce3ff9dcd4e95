"""A phase of a layer to be cut into passes: its maps, its words, its engine.

Output maps and input maps are cut into parts. A pass has one part of each, for one group and the
whole batch (page ``plan``). Inputs and outputs are those of the phase: delta propagation reads the
layer's output maps. A fully connected layer folded onto a k x k engine has folded maps of k*k
elements as its inputs.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from merp.models.base.delta_shape import delta_shape
from merp.models.base.shape import Shape
from merp.models.base.widened_shape import widened
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.machines.cnn_merp.phases import map_by_map, maps_behind, start_shape
from merp.models.machines.cnn_merp.plan.terms import Figures, Structure, Terms
from merp.models.network.network import Layer
from merp.models.network.phases import ONE_PASS, PAIR
from merp.models.traffic.count import activation_bits, state_bits, state_written_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Count = TypeVar("Count", int, "NDArray[np.int64]")

NO_STATE: Final = "32"
"""The kind of mask that is the activation itself: no hardware writes it."""

POOLED: Final = "pooled"
"""The kind of mask with which deltas are stored at pooled resolution; hardware writes only this
one.
"""


@dataclass(frozen=True, kw_only=True)
class PhaseWork:
    """A phase of a layer.

    Attributes:
        layer: all its groups; for two fused layers, the first.
        phase: ``fp``, ``dp``, ``ku``; ``bp``: the latter two combined; or ``ff``: forward
            propagation of two layers combined.
        earlier: the layer whose ReLU and pooling are undone after delta propagation (``behind`` of
            ``network.branches``). None for a layer without delta propagation.
        begun: whether its sums start at streamed maps or deltas.
        beside: the layer of this start delta, if it is stored as the delta of an output.
        stored: the layer whose delta represents its own in memory. It is another layer if deltas
            are stored pooled and the layer's output is only added (``stored_as`` of
            ``network.branches``).
        images: in each pass.
        state: kind of ReLU/pooling mask, one of ``STATES``; with ``pooled`` deltas are stored at
            pooled resolution.
        engine: k, n_cu and the other choices of the bitstream, and the storage formats; its maxima
            are not used here.
        folded: whether a fully connected layer runs on an engine that convolves.
        halves: for ``bp`` its DP and its KU, on separate engines; ``engine``, inputs and outputs
            are KU's. For ``ff`` FP of both layers; ``engine`` is the first one's.
    """

    layer: Layer
    phase: str
    earlier: Layer | None
    images: int
    state: str
    engine: EngineDesign
    folded: bool
    stored: Layer
    begun: bool = False
    beside: Layer | None = None
    halves: tuple[PhaseWork, PhaseWork] | None = None

    def of_images(self, images: int) -> PhaseWork:
        """Return the same phase for another number of images."""
        halves = self.halves and (
            self.halves[0].of_images(images),
            self.halves[1].of_images(images),
        )
        return replace(self, images=images, halves=halves)

    @property
    def name(self) -> str:
        """Name of the layer; of two fused layers ``conv1+conv2``."""
        return "+".join(dict.fromkeys(each.layer.name for each in self.halves or (self,)))

    @cached_property
    def kind(self) -> Hashable:
        """The properties that determine its passes on one engine; works of one kind differ only in
        names.

        A layer's name, its kind and the layers that it names are not included.
        """
        layers = (self.layer, self.earlier, self.stored, self.beside)
        return (
            self.phase,
            tuple(each and (each.groups, each.shape) for each in layers),
            self.images,
            self.state,
            self.folded,
            self.begun,
            self.halves and tuple((half.kind, half.engine) for half in self.halves),
        )

    @property
    def built(self) -> bool:
        """Whether there is hardware for its passes.

        No hardware expands the start delta of the sums for elements of its maps.
        """
        return self.beside is None or map_by_map(self.layer, self.beside)

    @property
    def pooled(self) -> bool:
        """Whether deltas are stored at pooled resolution."""
        return self.state == POOLED

    def word_bytes(self, port: str) -> int:
        """Return the bytes of a word of a port: a stored element, a partial sum, or a byte of the
        mask.
        """
        return word_bytes(self.phase, port, self.engine)

    @property
    def shape(self) -> Shape:
        """One group of the layer."""
        return self.layer.shape

    @cached_property
    def elements_in(self) -> int:
        """Elements of the input that a kernel spans, without its taps: n, or m in delta
        propagation.
        """
        return self.shape.m if self.phase == "dp" else self.shape.n

    @cached_property
    def inputs(self) -> int:
        """Input maps that can be divided into parts; folded maps have an element for each tap."""
        return -(-self.elements_in // self.engine.taps) if self.folded else self.elements_in

    @cached_property
    def outputs(self) -> int:
        """Output maps that can be divided into parts; of two fused layers all outputs of a pass."""
        if self.phase == PAIR and self.halves is not None:
            return self.halves[1].layer.biases // self.layer.groups
        return self.shape.n if self.phase == "dp" else self.shape.m

    @property
    def whole(self) -> tuple[int, int]:
        """Input and output maps of a pass that is not cut."""
        return self.inputs, self.outputs

    @property
    def side_by_side(self) -> int:
        """Groups of the second of two fused layers in a pass, with one engine each."""
        assert self.halves is not None
        first, second = self.halves
        return second.layer.groups // first.layer.groups

    @cached_property
    def convolution(self) -> Shape:
        """The shape that the engine convolves, all maps of a group; folded maps and kernels are k x
        k.
        """
        k = self.engine.k
        if self.folded:
            return Shape(n=self.inputs, m=self.outputs, k=k, rows=k, columns=k, relu=False)
        return widened(delta_shape(self.shape) if self.phase == "dp" else self.shape, k)

    @cached_property
    def positions(self) -> int:
        """Output positions of all images that the engine convolves."""
        return self.images * self.convolution.out_rows * self.convolution.out_columns

    @property
    def idle_taps(self) -> int:
        """Multipliers of a unit for which the layer's kernels have no elements."""
        return self.engine.taps - self.convolution.taps

    def elements(self, start: int, end: int) -> int:
        """Return the elements of the input maps from ``start`` to ``end``.

        Elements of a folded layer fill its maps one after the other; the last map has fewer.
        """
        if not self.folded:
            return end - start
        return min(self.elements_in, end * self.engine.taps) - start * self.engine.taps

    def tile(self, inputs: int, outputs: int) -> Shape:
        """Return the shape of a pass with the largest parts, as its engine sees it."""
        shape = self.convolution
        pool = None if self.phase in ("ku", ONE_PASS) else shape.pool
        found = replace(shape, n=inputs, m=outputs, pool=pool)
        if self.folded and self.phase == "ku":
            return replace(found, columns=self.engine.k * self.sweep, stride=self.engine.k)
        return found

    @cached_property
    def least(self) -> Shape:
        """The same shape with one map in and one out; all parts differ from it only in their
        maps.
        """
        return self.tile(1, 1)

    @property
    def sweep(self) -> int:
        """Columns of a row of positions; in a folded layer the images in place of columns.

        A row with fewer images takes the same time, because the gradients must be read out.
        """
        if not self.folded:
            return self.shape.out_columns
        return min(self.engine.image_columns, self.engine.max_images)

    def on(self, engine: EngineDesign) -> PhaseWork:
        """Return the same work on an engine with other units, interleaved positions, rings and
        ports.

        Both works share all values that have been computed for this one.
        """
        _ = self.kind, self.terms  # computed here, so that the copy has them
        found = copy(self)
        found.__dict__["engine"] = engine
        return found

    @property
    def terms(self) -> Terms:
        """The terms of its passes. Only a work without halves has them."""
        return Terms(self.engine, self._structure, self._figures)

    @cached_property
    def _structure(self) -> Structure:
        beside, undone, pool = self.beside, self.undone, self.least.pool
        written = state_written_bytes(
            self.shape, self.images, self.state, activation_bits(self.engine)
        )
        return Structure(
            phase=self.phase,
            images=self.images,
            pooled=self.pooled,
            folded=self.folded,
            begun=self.begun,
            beside=beside is not None,
            beside_pools=beside is not None and beside.shape.pool is not None,
            expands=undone is not None and undone.shape.pool is not None,
            writes_state=self.phase == "fp" and written > 0,
            behind_by_map=self.outputs == self._maps_of(self._behind),
            beside_by_map=self.outputs == self._maps_of(beside),
            pools=pool is not None and pool.window > 1,
            undoes=undone is not None,
            starts=self.start is not None,
        )

    @cached_property
    def _figures(self) -> Figures:
        shape, convolved, stored = self.shape, self.convolution, self.stored.shape
        groups, earlier, beside = self.layer.groups, self.earlier, self.beside
        undone, maps = self.unpooled(*self.whole) or (None, 0)
        return Figures(
            groups=groups,
            inputs=self.inputs,
            outputs=self.outputs,
            elements_in=self.elements_in,
            positions=self.positions,
            sweep=self.sweep,
            pixels=shape.rows * shape.columns,
            sums=shape.out_rows * shape.out_columns,
            pooled_sums=shape.pooled_rows * shape.pooled_columns,
            stored=stored.pooled_rows * stored.pooled_columns
            if self.pooled
            else stored.out_rows * stored.out_columns,
            dilated=1 if self.folded else convolved.rows * convolved.columns,
            kernel=1 if self.folded else shape.k**2,
            taps=convolved.taps,
            reach=convolved.reach,
            leaving=0 if earlier is None else delta_out_words(self.layer, earlier, self.pooled),
            state=self._state_bits(self.layer if self.phase == "fp" else self.stored),
            behind_bits=self._state_bits(self._behind),
            behind_maps=self._maps_of(self._behind),
            beside_bits=self._state_bits(beside),
            beside_maps=self._maps_of(beside),
            beside_words=0 if beside is None else beside.outputs // groups,
            columns=self.least.columns,
            pooled_columns=shape.pooled_columns,
            undone_columns=pooled_columns(undone),
            undone_maps=maps,
            start_columns=pooled_columns(self.start),
        )

    @property
    def _behind(self) -> Layer | None:
        """Return the layer whose ReLU is undone at the output of deltas."""
        return self.earlier if self.phase == "dp" and not self.pooled else None

    def _maps_of(self, layer: Layer | None) -> int:
        """Return the maps of another layer for a group of this layer."""
        return 0 if layer is None else layer.biases // self.layer.groups

    def _state_bits(self, layer: Layer | None) -> int:
        """Return the bits of the mask for one map of a layer in one image."""
        if layer is None:
            return 0
        return state_bits(layer.shape, 1, self.state, activation_bits(self.engine))

    @property
    def undone(self) -> Layer | None:
        """The layer whose ReLU and pooling are undone in this phase."""
        if self.phase == "fp" or (self.phase == "ku" and not self.pooled):
            return None
        return self.stored if self.pooled else self.earlier

    def unpooled(self, inputs: int, outputs: int) -> tuple[Shape, int] | None:
        """Return shape and maps for which un-pooling before or after a pass needs memory."""
        undone = self.undone
        if undone is None:
            return None
        if self.phase in ("ku", ONE_PASS):
            return undone.shape, outputs
        if self.pooled:
            return undone.shape, self.elements(0, inputs)
        all_maps = maps_behind(self.shape, undone.shape)
        return undone.shape, -(-outputs * all_maps // self.outputs)

    @property
    def start(self) -> Shape | None:
        """The shape whose ReLU and pooling are undone on the start deltas of the sums, if any."""
        return start_shape(self.shape, self.beside) if self.begun and self.phase == "dp" else None

    def state_of(self, layer: Layer, maps: Count) -> Count:
        """Return the bytes of the mask of ``maps`` maps in one pass, filled up to whole bytes."""
        return -(-self.images * self._state_bits(layer) * maps // 8)


def pooled_columns(shape: Shape | None) -> int:
    """Return the columns of pooled maps; none without pooling."""
    return 0 if shape is None or shape.pool is None else shape.pooled_columns


def delta_out_words(layer: Layer, earlier: Layer, pooled: bool) -> int:
    """Return the output delta words of one image and group for the layer in front."""
    return (earlier.outputs if pooled else earlier.sums) // layer.groups
