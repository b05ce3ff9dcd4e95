"""The keys of a network file, except those of its designs; docs/networks.md describes them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from merp.models.base.byte_image import ByteImage
from merp.models.base.fixed import (
    FIXED16,
    FIXED_TENSORS,
    IMAGE_FRACTION,
    MOST_FRACTION,
    ROUNDINGS,
    Fractions,
)
from merp.models.base.formats import FORMATS, OTHER_NAMES
from merp.models.base.keys import (
    FlagKey,
    Key,
    Ratio,
    Reference,
    References,
    Sides,
    Sources,
    WholeKey,
    WordKey,
)
from merp.models.base.renamed import in_json
from merp.models.base.shape import (
    LEAKY_RELU,
    NO_ACTIVATION,
    POOL_KINDS,
    RELU6,
    RELU_ONLY,
    TANH,
)
from merp.models.base.storage import BYTE, TENSORS

MAX_SIZE = 4096  # rows or columns; the hardware's own limit
MAX_MAPS = 1 << 16

POOLING = "pool"
KINDS = ("conv", "fc", POOLING)
"""Prefixes of layer names, which give the kind of a layer: a convolution, fully connected, or only
pooling.
"""

AUTO = "auto"
"""``design`` of a layer whose design a plan on a board chooses; otherwise the layer has none."""

FORMAT = WordKey(
    key="format",
    says="number format of the arithmetic, and of every element that storage does not name",
    allowed=(*FORMATS, FIXED16),
    default="binary32",
    other_names=OTHER_NAMES,
)

ROUNDING = WordKey(
    key="rounding",
    says="of new kernels in fixed point: to nearest even, or with random bits",
    allowed=ROUNDINGS,
    default=ROUNDINGS[0],
)

FRACTION_INPUT = WholeKey(
    key="input",
    says="fraction bits of the images",
    low=0,
    high=MOST_FRACTION,
    default=IMAGE_FRACTION,
)
FRACTIONS: tuple[WholeKey, ...] = tuple(
    WholeKey(
        key=tensor, says=f"fraction bits of {what}", low=0, high=MOST_FRACTION,
        default=getattr(Fractions, tensor),
    )
    for tensor, what in zip(
        FIXED_TENSORS,
        (
            "a layer's output", "kernels and biases", "deltas of a layer's sums and output",
            "gradients, summed over the batch", "velocities",
        ),
        strict=True,
    )
)  # fmt: skip
"""Keys of [fractions], in addition to that of the images; and of ``fractions`` in a layer."""

SEPARATE, COMBINED = "separate", "combined"
FORMER_BACKWARD = {"fused": COMBINED}
BACKWARD = WordKey(
    key="backward",
    says="delta propagation and kernel update of a layer: separate passes, or one (convolutions)",
    allowed=(SEPARATE, COMBINED),
    default=SEPARATE,
    aliases=FORMER_BACKWARD,
)


def json_backward(backward: str) -> str:
    """Return the value of the key ``backward`` in JSON answers, which never changed."""
    return in_json(backward, FORMER_BACKWARD)


LAYER_FUSION = References(
    key="layer_fusion",
    former="fuse",
    says="names of two consecutive layers that are one pass of forward propagation: the map "
    "between them stays on chip",
    count=2,
)

STORAGE: tuple[WordKey, ...] = tuple(
    WordKey(key=tensor, says=says, allowed=tuple(FORMATS), other_names=OTHER_NAMES)
    for tensor, says in zip(
        TENSORS,
        (
            "of maps in memory; default: format",
            "of deltas in memory; default: format",
            "of kernels and biases in memory; default: format",
            "of velocities in memory; default: format",
        ),
        strict=True,
    )
)
"""Keys of ``storage`` in [network], in addition to those of the image."""

IMAGE = WordKey(
    key="image",
    says=f"of the network's input in memory; {BYTE}: bytes; default: as maps",
    allowed=(*FORMATS, BYTE),
    other_names=OTHER_NAMES | {"u8": BYTE, "byte": BYTE},
)
IMAGE_SCALE = Ratio(
    key="image_scale",
    says="difference between the values of two consecutive bytes of the image; above 0",
    default=ByteImage().scale,
)
IMAGE_OFFSET = Ratio(
    key="image_offset", says="value of byte 0 of the image", default=ByteImage().offset
)
IMAGE_STORAGE: tuple[Key, ...] = (IMAGE, IMAGE_SCALE, IMAGE_OFFSET)
"""Further keys of ``storage``."""

ROWS = WholeKey(key="rows", says="of an image", low=1, high=MAX_SIZE, required=True)
COLUMNS = WholeKey(key="columns", says="of an image", low=1, high=MAX_SIZE, required=True)
CHANNELS = WholeKey(key="channels", says="of an image", low=1, high=MAX_MAPS, required=True)
INPUT: tuple[Key, ...] = (ROWS, COLUMNS, CHANNELS)
"""Keys of ``input`` in [network]."""

MAPS = WholeKey(key="maps", says="output maps, of all groups", low=1, high=MAX_MAPS, required=True)
ACTIVATION = WordKey(
    key="activation",
    says="after the sums: max(x, 0), min(max(x, 0), 6), x if x > 0 else slope * x, tanh(x), "
    "or nothing",
    allowed=(RELU_ONLY, RELU6, LEAKY_RELU, TANH, NO_ACTIVATION),
    default=RELU_ONLY,
)
SLOPE = Ratio(
    key="slope",
    says=f"of {LEAKY_RELU} below 0, rounded to format; above 0 and below 1",
    default=Fraction(1, 100),
)
RELU = FlagKey(
    key="relu",
    says="short form of activation: true is relu, false is none",
    default=True,
)

WHOLE_MAP = "map"
"""``window`` of a layer that only pools: the average of the whole map, also of an oblong one."""

MAX_OBLONG = 11
"""Most rows and columns of an oblong map in such an average; the hardware's largest kernel."""

ACTIVATION_FIRST = replace(ACTIVATION, says="before the pooling", default=NO_ACTIVATION)
RELU_FIRST = replace(RELU, default=False)
"""Keys of a layer that only pools."""

INPUT_OF = Sources(
    key="input",
    says="name of an earlier layer, whose output this one takes; or a list of names, whose maps "
    "follow each other; default: the one in front",
)
ADD = Reference(
    key="add",
    says="name of an earlier layer, whose output is added to the sums, before ReLU and pooling",
)
TRAINABLE = FlagKey(
    key="trainable",
    says="whether training updates the kernels and biases; false freezes the layer",
    default=True,
)
LAYER: tuple[Key, ...] = (MAPS, ACTIVATION, SLOPE, RELU, INPUT_OF, ADD, TRAINABLE)
"""Keys of any layer, in addition to ``name`` and ``design``."""

KERNEL = WholeKey(key="kernel", says="rows and columns", low=1, high=MAX_SIZE, required=True)
STRIDE = WholeKey(key="stride", says="of the convolution", low=1, high=MAX_SIZE, default=1)
PAD = Sides(
    key="pad",
    says="zeros on all four sides, or [top, left, bottom, right]; below kernel",
    low=0,
    high=MAX_SIZE - 1,
    default=0,
)
GROUPS = WholeKey(key="groups", says="divides input maps and maps", low=1, high=MAX_MAPS, default=1)
CONVOLUTION: tuple[Key, ...] = (KERNEL, STRIDE, PAD, GROUPS)
"""Keys of a convolution, in addition to ``pool``."""

POOL_KIND = WordKey(key="kind", says="how", allowed=POOL_KINDS, required=True)
POOL_WINDOW = WholeKey(key="window", says="rows and columns", low=1, high=MAX_SIZE, required=True)
POOL_STRIDE = WholeKey(key="stride", says="of windows; default: the window", low=1, high=MAX_SIZE)
POOL_PAD = Sides(
    key="pad",
    says="by how much windows may hang over, on all four sides or [top, left, bottom, right]; "
    "below the window",
    low=0,
    high=MAX_SIZE - 1,
    default=0,
)
POOL_CEIL = FlagKey(
    key="ceil", says="whether windows that are partial below or on the right count", default=False
)
POOL: tuple[Key, ...] = (POOL_KIND, POOL_WINDOW, POOL_STRIDE, POOL_PAD, POOL_CEIL)
"""Keys of ``pool`` in a convolution."""
