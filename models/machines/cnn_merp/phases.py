"""The designs of the backward phases, derived from the forward design of a network file.

Each phase is a separate bitstream (CNN-MERP section VI.A). It has the kernel size, CUs, format and
latencies of the layer's design. This module sizes the resources for the other loop order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import ARITHMETIC, EngineDesign
from merp.models.machines.cnn_merp.params.image_rows import image_rows
from merp.models.machines.cnn_merp.params.sizing import check_memories, groups_of, size_design
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.models.network.branches import begun, behind, beside, receiver, stored_as
from merp.models.network.network import Layer, Network

_KEPT = (*ARITHMETIC, "k", "n_cu", "r", "max_images", "kernel_port", "partial", "map_port")


def _sharing(network: Network, layer: Layer) -> list[Layer]:
    """Return the layers that run on the design of ``layer``."""
    design_of(network, layer)  # raises an error if there is none
    return [each for each in network.layers if each.design == layer.design]


def _updating(network: Network, layer: Layer) -> list[Layer]:
    """Return the layers that run on the design of ``layer`` and are trainable."""
    return [each for each in _sharing(network, layer) if each.trainable]


def _sized(network: Network, layer: Layer, shapes: Sequence[Shape], p: int, d: int) -> EngineDesign:
    forward = design_of(network, layer)
    kept = {key: getattr(forward, key) for key in _KEPT}
    with _told(network, layer):
        sized = size_design(shapes, **kept, p=p, d=d)
        check_memories(sized)
    return sized


@contextmanager
def _told(network: Network, layer: Layer) -> Iterator[None]:
    """Add the network and design to an error about a backward phase beyond a limit."""
    try:
        yield
    except ValueError as error:
        raise BadInput(
            f"{network.name}: design {layer.design}: its layers in backward propagation: {error}"
        ) from error


def check_start(network: Network, layer: Layer) -> None:
    """Check that the start of the delta propagation of ``layer`` can be expanded map by map.

    Raises:
        BadInput: the layer reads the maps flattened.
    """
    start = beside(network, layer)
    if start is not None and not map_by_map(layer, start):
        raise BadInput(
            f"{network.name}: layer {layer.name}: it takes maps flattened that {start.name} adds; "
            "no hardware expands their pooled deltas: allowed are unpooled deltas, without a "
            "board"
        )


def map_by_map(layer: Layer, start: Layer) -> bool:
    """Return whether each map that ``layer`` reads is a map of ``start``, not an element
    (flattened).
    """
    return layer.groups * layer.shape.n == start.biases


def maps_behind(shape: Shape, earlier: Shape) -> int:
    """Return the maps of the earlier layer in one pass of delta propagation.

    A fully connected layer reads every element of a map as a separate map. Therefore its earlier
    layer has fewer than n maps.
    """
    elements = shape.n * shape.rows * shape.columns
    return elements // (earlier.pooled_rows * earlier.pooled_columns)


def delta_design(network: Network, layer: Layer, before: bool = False) -> DeltaDesign:
    """Return the design of delta propagation for all layers that share the design of ``layer``.

    Layers whose input needs no delta are omitted, such as the first layer of a network.

    Raises:
        BadInput: the layer has no design, or the phase needs a design beyond a limit, or one that
            is not built.
        ValueError: none of the layers propagates a delta.
    """
    sharing = _sharing(network, layer)
    layers = [each for each in sharing if receiver(network, each) is not None]
    if before:
        for each in layers:
            check_start(network, each)
    forward = design_of(network, layer)
    shapes = [run_shape(delta_shape(each.shape), forward.k) for each in layers]
    engine = _sized(network, layer, shapes, *delta_rings(forward, shapes))
    starting = [each for each in layers if begun(network, each)]
    engine = replace(engine, added=bool(starting))
    if before:
        unpooled = [(stored_as(network, each).shape, each.shape.m) for each in layers]
    else:
        undone = [(each.shape, behind(network, each).shape) for each in layers]
        unpooled = [(earlier, maps_behind(shape, earlier)) for shape, earlier in undone]
    expanding = before and any(beside(network, each) for each in starting)
    starts = [(start_shape(each.shape, beside(network, each)), each.shape.n) for each in starting]
    with _told(network, layer):
        unpool = _unpool_design(forward, unpooled)
        add_unpool = _unpool_design(forward, starts) if expanding else None
    return DeltaDesign(engine, unpool, before, add_unpool)


def start_shape(shape: Shape, start: Layer | None) -> Shape:
    """Return the shape whose ReLU and pooling are undone on the start of the sums of ``shape``.

    They are those of ``start``. A delta propagated by other layers is not expanded (None).
    """
    return plain_inputs(shape) if start is None else start.shape


def delta_rings(forward: EngineDesign, shapes: Sequence[Shape]) -> tuple[int, int]:
    """Return the interleaved positions and rings of rows of delta propagation of ``shapes``."""
    # If there are fewer groups than the accumulators' latency, two positions are interleaved. The
    # odd last column of a row then pairs with the next row's first column, if one more ring of rows
    # is kept.
    crowded = min(groups_of(s, forward.n_cu) for s in shapes) < forward.accumulate_latency
    # With a border narrower than half the kernel, or without a border, a single ring is too short.
    narrow = any(s.border < s.k - 1 or s.columns <= s.k for s in shapes)
    return 2 if crowded else 1, max(forward.d, 2 if crowded or narrow else 1)


def _unpool_design(forward: EngineDesign, unpooled: Sequence[tuple[Shape, int]]) -> UnpoolDesign:
    """Return the un-pooling of layers, each with the maps of its delta."""
    return size_unpool(
        [shape for shape, _ in unpooled],
        [maps for _, maps in unpooled],
        fmt=forward.fmt,
        max_images=forward.max_images,
        add_latency=forward.add_latency,
        mul_latency=forward.mul_latency,
    )


def update_design(network: Network, layer: Layer) -> EngineDesign:
    """Return the design of the kernel update for all trainable layers on the design of ``layer``.

    Gradients are summed over positions, so positions cannot be interleaved. There is no pooling. A
    sweep needs its whole row until it ends. Meanwhile the next row's maps fill a second ring.

    Raises:
        BadInput: the layer has no design, or the phase needs a design beyond a limit.
        ValueError: none of the layers is trainable.
    """
    forward = design_of(network, layer)
    runs = [run_shape(each.shape, forward.k) for each in _updating(network, layer)]
    shapes = [_updated_as(run, forward) for run in runs]
    sized = _sized(network, layer, shapes, 1, update_rings(forward))
    folded = any(isinstance(run, FoldedShape) for run in runs)
    return replace(sized, folded=folded, ku_kind=forward.ku_kind, ku_lanes=forward.ku_lanes)


def _updated_as(run: Shape, forward: EngineDesign) -> Shape:
    """Return the shape that the input side of a kernel update sees of ``run``."""
    if isinstance(run, FoldedShape) and forward.ku_kind == "row":
        return image_rows(run, forward.max_images, forward).shape
    return replace(run, relu=False, pool=None)


def update_rings(forward: EngineDesign) -> int:
    """Return the rings of rows of a kernel update."""
    return max(2, forward.d) if forward.ku_kind == "row" else forward.d


def update_unpool_design(network: Network, layer: Layer) -> UnpoolDesign:
    """Return the un-pooling in front of the kernel update, for deltas at pooled resolution.

    Raises:
        BadInput: the layer has no design, or the phase needs a design beyond a limit.
        ValueError: none of the layers is trainable.
    """
    updating = _updating(network, layer)
    unpooled = [(stored_as(network, each).shape, each.shape.m) for each in updating]
    with _told(network, layer):
        return _unpool_design(design_of(network, layer), unpooled)
