"""Designs for layers without a design: the most units that the part holds, and matching choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from merp.models.base.delta_shape import delta_shape
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.storage import Storage
from merp.models.fpga.board import Board
from merp.models.fpga.parts import Part
from merp.models.machines.cnn_merp.params.design import PORTS, RANGES, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import groups_of, size_design
from merp.models.network.network import Layer, Network

ROOM: Final = 0.8
"""Share of a part's LUTs that a chosen design may use by the estimate; the rest is for routing."""

WORTH: Final = 0.01
"""Share of its layers' time in a step that wider ports of a chosen design must save."""

FOLDED_KERNEL: Final = 3
"""Kernel of the design of a network that has fully connected layers only."""


def with_designs(network: Network) -> tuple[Network, dict[str, list[Layer]]]:
    """Return the network with a design's name for each layer, and the designs still to be made.

    A fully connected layer is folded onto the design of the layer in front of it, so that no
    bitstream is loaded between them. Convolutions without a design share one design for each kernel
    size. If the image has its own format in memory, the first layer does not share its design.
    """
    alone = network.storage is not None and network.storage.image is not None
    layers: list[Layer] = []
    missing: dict[str, list[Layer]] = {}
    for layer in network.layers:
        name = layer.design
        if name is None and layer.kind == "fc" and len(layers) > alone:
            name = layers[-1].design
        if name is None:
            k = layer.shape.k if layer.kind == "conv" else FOLDED_KERNEL
            name = f"auto{k}" if layers or not alone else f"auto{k}_image"
            while name in network.designs:
                name += "_"
        named = replace(layer, design=name)
        layers.append(named)
        if name not in network.designs:
            missing.setdefault(name, []).append(named)
    return replace(network, layers=tuple(layers)), missing


def proposals(
    layers: Sequence[Layer], part: Part, fmt: FloatFormat, storage: Storage | None
) -> Iterator[EngineDesign]:
    """Return designs for layers of one kernel size, ordered by their slots, the fewest first.

    The numbers of units leave no unit idle in one of the layers. They are limited by the part's DSP
    blocks.

    Raises:
        BadInput: a layer is larger than any design can be.
    """
    shapes = shapes_of(layers)
    for count in sorted(unit_counts(shapes, part), key=lambda units: _slots(shapes, units)):
        yield design_for(layers, count, fmt, storage)


def shapes_of(layers: Sequence[Layer]) -> list[Shape]:
    """Return the shapes for which a design is chosen: convolutions, or, without any, folded
    layers.
    """
    convolutions = [layer.shape for layer in layers if layer.kind == "conv"]
    k = FOLDED_KERNEL
    return convolutions or [Shape(n=1, m=each.shape.m, k=k, rows=k, columns=k) for each in layers]


def unit_counts(shapes: Sequence[Shape], part: Part) -> list[int]:
    """Return the numbers of units that leave none idle in one of the shapes, largest first.

    They are limited by the part's DSP blocks; a product uses at least one.
    """
    most = min(part.dsps // shapes[0].k ** 2, RANGES["n_cu"][1], max(max(s.m, s.n) for s in shapes))
    counts = {most}
    for maps in {maps for shape in shapes for maps in (shape.m, shape.n)}:
        counts |= {-(-maps // groups) for groups in range(1, maps + 1)}
    return sorted((count for count in counts if 1 <= count <= most), reverse=True)


def design_for(
    layers: Sequence[Layer], units: int, fmt: FloatFormat, storage: Storage | None
) -> EngineDesign:
    """Return the design of ``units`` units whose other choices cost the layers no cycle.

    Raises:
        BadInput: a layer is larger than any design can be.
    """
    shapes = list(dict.fromkeys(shapes_of(layers)))  # equal shapes have equal requirements
    try:
        return replace(_design(shapes, units, fmt), storage=storage)
    except ValueError as error:  # the layers' own sizes are too large for every number of units
        names = ", ".join(layer.name for layer in layers)
        raise BadInput(f"no design for {names}: {error}") from error


def _slots(shapes: Sequence[Shape], units: int) -> int:
    """Return the slots of an image in the three phases."""
    total = 0
    for shape in shapes:
        positions = shape.out_rows * shape.out_columns
        total += 2 * positions * shape.n * groups_of(shape, units)
        back = delta_shape(shape)
        total += back.out_rows * back.out_columns * back.n * groups_of(back, units)
    return total


def _design(shapes: Sequence[Shape], units: int, fmt: FloatFormat) -> EngineDesign:
    fused = fmt == BINARY32
    k = shapes[0].k
    columns = min(shape.out_columns for shape in shapes)
    few = min(groups_of(shape, units) for shape in shapes)
    maps = min(shape.n for shape in shapes)
    chosen: dict[str, object] = {
        "fmt": fmt,
        "k": k,
        "n_cu": units,
        "r": min(units, RANGES["r"][1], max(2, -(-units // maps))),
        "cu_kind": "fused" if fused else "tree",
        "ku_kind": "row" if fused else "position",
        "ku_lanes": min(k * k, -(-(k * k) // columns)) if fused else 1,
    }
    smallest = [replace(shape, n=1, m=1) for shape in shapes]
    draft = size_design(smallest, **chosen)
    p = 2 if few < draft.accumulate_latency else 1
    return size_design(smallest, **chosen, p=p, d=rings_of_rows(shapes, p))


def rings_of_rows(shapes: Sequence[Shape], p: int) -> int:
    """Return the fewest rings of rows with which ``p`` interleaved positions never wait for a
    row.
    """
    wide = all(shape.border >= shape.k - 1 and shape.stride == 1 for shape in shapes)
    return 1 if wide and p == 1 else 2


def most_luts(board: Board) -> float:
    """Return the LUTs that a chosen design may use by the estimate."""
    return min(ROOM * board.part.luts, board.room.luts)


def with_ports(design: EngineDesign) -> Iterator[EngineDesign]:
    """Yield the design with ports of every width for its format, one element a beat first."""
    for kernel_port, map_port in product(PORTS, PORTS):
        try:
            yield replace(design, kernel_port=kernel_port, map_port=map_port)
        except ValueError:  # elements that are not whole bytes are transferred one by one
            continue


def none_fits(network: Network, layers: Sequence[Layer], board: Board) -> BadInput:
    """Return the error that no number of units fits the part."""
    names = ", ".join(layer.name for layer in layers)
    return BadInput(
        f"board {board.name}: {network.name}: no design for {names} fits {board.part.name} "
        f"({board.room.block_rams:,} RAMB36, {board.room.dsps:,} DSP): allowed is a larger part"
    )


def made(network: Network, designs: Mapping[str, EngineDesign]) -> Network:
    """Return the network with further designs."""
    return replace(network, designs=dict(network.designs) | dict(designs))


def each_apart(network: Network, chosen: Sequence[str]) -> tuple[Network, tuple[str, ...]]:
    """Return the network with a separate design for each layer, and the designs chosen here.

    Designs are named after layer and original design; ``chosen`` are names of the original designs
    chosen by the planner.
    """
    layers, designs, own = [], {}, []
    for layer in network.layers:
        assert layer.design is not None
        name = f"{layer.design}-{layer.name}"
        designs[name] = network.designs[layer.design]
        own += [name] if layer.design in chosen else []
        layers.append(replace(layer, design=name))
    return replace(network, layers=tuple(layers), designs=designs), tuple(own)
