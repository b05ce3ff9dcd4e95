"""A network: super layers, each with its design.

Layers are described in the terms of CNN-MERP section IV: groups g, and per group n input maps, m
output maps, k x k kernels. A fully connected layer is a convolution on a 1 x 1 map. The layers form
a chain, except that a layer may take the output of any earlier layer, or add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

from merp.models.base.errors import BadInput, NoSuchKey
from merp.models.base.fixed import FIXED16, FixedFormat
from merp.models.base.formats import BINARY32, FORMATS, FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.storage import InMemory, Storage, Stores
from merp.models.base.summation import TREE, Summation
from merp.models.network.feeds import Feeds, feeds_of
from merp.models.network.machine import Design
from merp.models.network.network_keys import SEPARATE
from merp.models.network.registry import machine_of

if TYPE_CHECKING:  # NumPy imports slowly, and traffic does not need it
    from merp.models.base.bits import Bits

KINDS = ("conv", "fc")


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One super layer: convolution (or full connection), ReLU, pooling.

    Attributes:
        name: unique in its network.
        kind: ``conv`` or ``fc``.
        groups: g; the layer is g independent passes of ``shape``.
        shape: one group.
        design: name of the design that runs it, or None if only its traffic is modelled.
        input: name of the layer whose output it takes, or several names: the maps of their outputs
            follow each other. None for the layer in front of it, or, in the first layer, for the
            images.
        add: name of the layer whose output is added to its sums, before ReLU and pooling, or None.
        trainable: whether a training step updates its kernels and biases; otherwise it is frozen.
        only_pools: whether it only pools its input. It is then a frozen convolution of 1 x 1 with
            one map a group, whose kernels are 1 and whose biases are 0. The average of an oblong
            map has a kernel of the size of the map.
    """

    name: str
    kind: str
    groups: int = 1
    shape: Shape
    design: str | None = None
    input: str | tuple[str, ...] | None = None
    add: str | None = None
    trainable: bool = field(default=True, repr=False)  # saved trainings hash the other fields
    only_pools: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        """Check the kind and the number of groups."""
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.groups < 1:
            raise ValueError(f"groups must be at least 1, not {self.groups}")

    @property
    def inputs(self) -> int:
        """Elements of the input maps of one image, all groups (x)."""
        return self.groups * self.shape.n * self.shape.rows * self.shape.columns

    @property
    def sums(self) -> int:
        """Elements of the convolution's output of one image, all groups (y)."""
        return self.groups * self.shape.m * self.shape.out_rows * self.shape.out_columns

    @property
    def outputs(self) -> int:
        """Elements of the output maps, after pooling, of one image, all groups (yp)."""
        return self.groups * self.shape.m * self.shape.pooled_rows * self.shape.pooled_columns

    @property
    def kernels(self) -> int:
        """Kernel elements of all groups (w)."""
        return self.groups * self.shape.n * self.shape.m * self.shape.k**2

    @property
    def biases(self) -> int:
        """Biases of all groups."""
        return self.groups * self.shape.m

    def operations(self, images: int = 1) -> int:
        """Return the operations of one phase; a multiply-add is two, and all phases have equal
        numbers.
        """
        return 2 * self.groups * self.shape.macs(images)


@dataclass(frozen=True, kw_only=True)
class Network(Stores):
    """Layers that feed each other.

    Attributes:
        name: as printed.
        input: rows, columns and channels of the input map.
        numbers: format of the arithmetic; one per network, because layers feed each other.
        storage: formats of the tensors in memory, including the image; None: all are ``fmt``.
        layers: in the order of forward propagation.
        designs: the elaborations that the layers name.
        weights: kernels (groups*m, n, k, k) and biases (groups*m,) as words, of layers with given
            numbers. Those of other layers are made from a seed.
        backward: ``separate``, or ``combined``: both backward phases of a layer are one pass.
        layer_fusion: names of two consecutive layers that are one pass of forward propagation, or
            none.
    """

    name: str
    input: tuple[int, int, int]
    numbers: FloatFormat | FixedFormat = BINARY32
    layers: tuple[Layer, ...]
    designs: Mapping[str, Design] = field(default_factory=dict)
    weights: Mapping[str, tuple[Bits, Bits]] = field(default_factory=dict, compare=False)
    storage: Storage | None = None
    backward: str = SEPARATE
    layer_fusion: tuple[str, ...] = ()

    @property
    def fmt(self) -> FloatFormat:
        """The format of the arithmetic, for code that supports only floats.

        Raises:
            BadInput: the network's format is fixed-point.
        """
        if isinstance(self.numbers, FixedFormat):
            floats = ", ".join(FORMATS)
            raise BadInput(f"{self.name}: format = {FIXED16!r}: allowed here are {floats}")
        return self.numbers

    @property
    def fixed(self) -> FixedFormat:
        """The format of the arithmetic, for code that supports only fixed point.

        Raises:
            BadInput: the network's format is a float format.
        """
        if not isinstance(self.numbers, FixedFormat):
            raise BadInput(f"{self.name}: format: allowed here is {FIXED16!r}")
        return self.numbers

    def layer(self, name: str) -> Layer:
        """Return the layer called ``name``.

        Raises:
            NoSuchKey: there is none; the message lists the layers.
        """
        found = self._named.get(name)
        if found is None:
            names = list(self._named)
            hint = "".join(f"; did you mean {n}?" for n in get_close_matches(name, names, 1))
            raise NoSuchKey(f"{self.name}: no layer {name!r}: allowed are {', '.join(names)}{hint}")
        return found

    @cached_property
    def _named(self) -> dict[str, Layer]:
        return {layer.name: layer for layer in self.layers}

    @cached_property
    def feeds(self) -> Feeds:
        """The connections of the layers.

        Raises:
            BadInput: a layer takes the output of a layer that does not exist.
        """
        return feeds_of(self)

    def fusing(self, first: Layer, second: Layer, designs: Mapping[str, Design]) -> Network:
        """Return the same layers on ``designs``, with two of them fused.

        A plan tries pairs of thousands of layers. Therefore the connections are found only once.
        """
        found = replace(self, layer_fusion=(first.name, second.name), designs=designs)
        vars(found).update(feeds=self.feeds, _named=self._named)
        return found

    def design(self, layer: Layer) -> Design:
        """Return the design that runs ``layer``, of any machine.

        Raises:
            BadInput: the layer has none, so that only its traffic is known.
        """
        if layer.design is None:
            others = ", ".join(x.name for x in self.layers if x.design)
            made = "none: merp plan NETWORK --board BOARD -o NET.toml writes a file with designs"
            raise BadInput(
                f"{self.name}: layer {layer.name} has no design (traffic only): allowed are "
                f"{others or made}"
            )
        return self.designs[layer.design]

    def summation(self, layer: Layer) -> Summation:
        """Return the arithmetic of the sums of ``layer``; without a design, that of CNN-MERP's
        paper.
        """
        if layer.design is None:
            return TREE
        design = self.design(layer)
        return machine_of(design).summation(design)

    def at(self, layer: Layer) -> Stores:
        """Return the storage formats of a layer's tensors; the input of the first layer is the
        image.
        """
        if self.storage is None or layer.name == self.layers[0].name:
            return self
        return InMemory(self.fmt, self.storage.between_layers)
