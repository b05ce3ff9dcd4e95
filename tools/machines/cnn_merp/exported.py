"""CNN-MERP's part of an export: its words, and small layers that its designs run."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.shape import Shape
from merp.models.base.storage import StoredFormat
from merp.models.machines.cnn_merp.designs import design_of, designs_of
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_layers
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.word_counters import stored_format, word_bytes
from merp.models.network.branches import behind, previous, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import DP, NAMED, ONE_PASS, PAIR
from merp.tools.fpga.bitstream.bitstream import Bitstream
from merp.tools.machines.usual.exported import Usual

SMALL_MAPS = 4  # input maps
SMALL_ROWS = {
    "fp": 9,
    "dp": 5,
    "ku": 9,
    ONE_PASS: 9,
    PAIR: 9,
}  # un-pooling expands the few pooled rows


class OfCnnMerp(Usual):
    """As ``tools.fpga.export.exported.ExportedMachine``."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """Check that the design of a layer supports the number of images."""
        check_fits(layer.shape, images, design_of(network, layer), f"{network.name}: {layer.name}")

    def title(self, bitstream: Bitstream) -> str:
        """Return a title: the phase of a bitstream and its size."""
        return title(bitstream)

    def most_images(self, network: Network, layer: Layer) -> int:
        """Return the maximum number of images of a run."""
        return design_of(network, layer).max_images

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Return the bytes of a word of a port."""
        return word_bytes(bitstream.phase.name, port, design_of(bitstream.network, layer))

    def stored(self, bitstream: Bitstream, port: str) -> StoredFormat | None:
        """Return the stored format of a port, if it differs from the format of the arithmetic."""
        design = designs_of(bitstream.network)[bitstream.design]
        found = stored_format(bitstream.phase.name, port, design)
        return None if found == design.fmt else found

    def small(self, bitstream: Bitstream) -> tuple[Network, Layer]:
        """A small network, and the layer whose pass is small."""
        network = small_network(bitstream)
        return network, network.layers[0 if NAMED[bitstream.phase.name].fuses else -1]


def title(bitstream: Bitstream) -> str:
    """Return a title: the phase of a bitstream and its size."""
    design = designs_of(bitstream.network)[bitstream.design]
    units = str(design.n_cu)
    if NAMED[bitstream.phase.name].combined:
        halves = backward_design(bitstream.network, bitstream.layers[0])
        units = f"{halves.propagation.n_cu} + {halves.update.n_cu}"
    if NAMED[bitstream.phase.name].fuses:
        pair = fused_layers(bitstream.network)
        found = fused_design(bitstream.network, *pair)
        shares = ((found.first.n_cu, found.first), (found.groups * found.second.n_cu, found.second))
        cus = " and ".join(f"{n} CUs of {each.k} x {each.k}" for n, each in shares)
        both = "+".join(bitstream.network.layer_fusion)
        return f"{bitstream.network.name} {both}, {NAMED[PAIR].title}, {cus}"
    return (
        f"{bitstream.network.name} {bitstream.design}, {NAMED[bitstream.phase.name].title}, "
        f"{units} CUs of {design.k} x {design.k}"
    )


def small_network(bitstream: Bitstream) -> Network:
    """Return the first layer with few and small maps, behind a layer that feeds it.

    The first layer of a network has no layer in front. The layer in front has 1 x 1 kernels, and
    the original ReLU and pooling.
    """
    network, layer = bitstream.network, bitstream.layers[0]
    if NAMED[bitstream.phase.name].fuses:
        return _small_pair(network)
    shape = _small(layer.shape, bitstream)
    small = replace(layer, groups=1, shape=shape, input=None, add=None)
    earlier = previous(network, layer)
    if earlier is None:
        layers: tuple[Layer, ...] = (small,)
    else:
        if receiver(network, layer) is not None:
            earlier = behind(network, layer)  # plain, if others propagate to it later
        pool = earlier.shape.pool
        rows, columns = shape.rows, shape.columns
        if pool:
            pool = pool.fitting(rows, columns)
            rows, columns = pool.elements(rows, columns)
        front = Shape(
            n=1, m=shape.n, k=1, rows=rows, columns=columns, relu=earlier.shape.relu,
            relu6=earlier.shape.relu6, slope=earlier.shape.slope, pool=pool,
        )  # fmt: skip
        layers = Layer(name=f"before {layer.name}", kind="conv", shape=front), small
    first = layers[0].shape
    size = first.rows, first.columns, first.n
    return replace(network, input=size, layers=layers, weights={})


def _small_pair(network: Network) -> Network:
    """Return two fused layers with few and small maps.

    The second layer has as many maps as are necessary for whole bytes of masks.
    """
    first, second = fused_layers(network)
    groups = second.groups // first.groups
    behind = _with_maps(second.shape, 2, 8)
    pool = first.shape.pool
    rows, columns = (behind.rows, behind.columns)
    if pool:
        pool = pool.fitting(rows, columns)
        rows, columns = pool.elements(rows, columns)
    before = replace(
        _with_maps(first.shape, 2, groups * behind.n),
        pool=pool,
        rows=(rows - 1) * first.shape.stride + first.shape.k - first.shape.border,
        columns=(columns - 1) * first.shape.stride + first.shape.k - first.shape.border,
    )
    layers = (
        replace(first, groups=1, shape=before, input=None),
        replace(second, groups=groups, shape=behind, input=None),
    )
    return replace(
        network, input=(before.rows, before.columns, before.n), layers=layers, weights={}
    )


def _with_maps(shape: Shape, n: int, m: int) -> Shape:
    """Return a layer with few and small maps, or the original maps if these are smaller."""
    pool = shape.pool
    sums = pool.window + pool.stride if pool else 2
    rows = max((sums - 1) * shape.stride + shape.k - shape.border, 1)
    return replace(
        shape,
        n=min(shape.n, n),
        m=min(shape.m, m),
        rows=min(shape.rows, rows),
        columns=min(shape.columns, rows),
    )


def _small(shape: Shape, bitstream: Bitstream) -> Shape:
    """Return a shape with maps of two groups, an idle last CU in the second group, and pooling."""
    crowd = 2 * designs_of(bitstream.network)[bitstream.design].n_cu - 1
    phase = NAMED[bitstream.phase.name]
    few = crowd if phase.combined else SMALL_MAPS  # a half has half of the CUs
    n, m = (crowd, SMALL_MAPS) if phase is DP else (few, crowd)
    pool = shape.pool
    sums = pool.window + pool.stride if pool else 2
    rows = max((sums - 1) * shape.stride + shape.k - shape.border, SMALL_ROWS[bitstream.phase.name])
    return replace(
        shape,
        n=min(shape.n, n),
        m=min(shape.m, m),
        rows=min(shape.rows, rows),
        columns=min(shape.columns, rows),
    )


EXPORTED = OfCnnMerp()
