"""Small chains drawn at random: layers, cuts, FIFOs and links, of which some stand still."""

import random
from fractions import Fraction
from itertools import pairwise

from merp.models.rows.layout import LayerRows, Layout, Links, Slice

NAMES = ("a", "b", "c")


def random_chain(seed: int) -> Layout:
    """Return the chain of a number; about one in four has a FIFO that is too short."""
    draw = random.Random(seed)
    layers = _layers(draw)
    slices = _slices(draw, layers)
    chain = Layout(
        layers=layers,
        slices=slices,
        links=Links(
            bits_per_cycle=draw.choice((None, Fraction(draw.randint(1, 400), draw.randint(1, 6)))),
            word_bits=draw.choice((16, 32)),
            latency=draw.choice((0, 1, 9)),
            carried={0: draw.randint(0, 40)},
            shared=draw.random() < 0.1,
        ),
        images=draw.randint(1, 4),
        depth=draw.randint(1, 4),
        loss=draw.choice((0, 5)),
    )
    return _with_sizes(draw, chain)


def _layers(draw: random.Random) -> tuple[LayerRows, ...]:
    rows, words = draw.randint(3, 8), draw.randint(1, 6)
    layers: list[LayerRows] = []
    for name in NAMES[: draw.randint(1, 3)]:
        if layers and draw.random() < 0.2:  # a full connection takes all rows at once
            rows = 1
        kernel = draw.randint(1, min(3, rows))
        top, stride = draw.randint(0, kernel - 1), draw.randint(1, 3)
        sums = (rows + top + draw.randint(0, kernel - 1) - kernel) // stride + 1
        window = draw.randint(1, min(3, sums))
        step = draw.randint(1, 3)
        above, below = draw.randint(0, window - 1), draw.randint(0, window - 1)
        pooled = (sums + above + below - window) // step + 1
        layers.append(
            LayerRows(
                name=name, by_outputs=not layers and draw.random() < 0.7, inputs=rows, sums=sums,
                pooled=pooled, outputs=pooled, kernel=kernel, stride=stride, top=top,
                window=window, step=step, above=above, input_words=rows * words * 12,
                sum_words=sums * 12, output_words=pooled * 12,
            )
        )  # fmt: skip
        rows = pooled
    for front, behind in pairwise(layers):
        place = layers.index(front)
        layers[place] = LayerRows(**{**vars(front), "outputs": behind.inputs})
    return tuple(layers)


def _slices(draw: random.Random, layers: tuple[LayerRows, ...]) -> tuple[Slice, ...]:
    slices: list[Slice] = []
    node = 0
    for index, layer in enumerate(layers):
        ends = sorted({Fraction(draw.randint(1, 11), 12) for _ in range(draw.randint(0, 2))})
        phases = ("fp", "ku") if layer.by_outputs else ("fp", "dp", "ku")
        begin = Fraction(0)
        for end in (*ends, Fraction(1)):
            slices.append(
                Slice(
                    node=node, layer=index, begin=begin, end=end,
                    cycles={phase: draw.randint(1, 60) for phase in phases},
                )
            )  # fmt: skip
            node += end < 1
            begin = end
        node += draw.random() < 0.5
    return tuple(slices)


def _with_sizes(draw: random.Random, chain: Layout) -> Layout:
    kinds = ("maps", "sums", "errors", "deltas", "own", "features")
    sends = ("send maps", "send sums", "send deltas")
    sizes = {
        (kind, place): max(1, chain.size(kind, place) + draw.randint(-3, 1))
        for kind in (*kinds, *sends)
        for place in range(len(chain.slices))
        if draw.random() < 0.25
    }
    return Layout(**{**vars(chain), "sizes": sizes})
