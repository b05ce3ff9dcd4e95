"""Small networks drawn at random for F-CNN's modules: two layers each, of which one may be full."""

import random
from collections.abc import Sequence
from typing import Any

from network_text import layer, max_pool, network_text


def random_network(seed: int, most: int = 9) -> tuple[str, int]:
    """Return the network file of a number, and a batch that its designs run.

    Every second network ends with a full connection. Maps have at most ``most`` rows and columns.
    """
    draw = random.Random(seed)
    rows, columns, maps = draw.randint(4, most), draw.randint(4, most), draw.randint(1, 4)
    lanes = draw.choice((1, 2, 3, 4))
    images = lanes * draw.randint(1, 3)
    form = draw.choice(("binary32", "binary32", "binary16", "bfloat16"))
    activations = ("relu", "none", "tanh")[: 3 if form == "binary32" else 2]
    layers, designs = [], {}
    front = rows, columns, maps
    for name in ("conv1", "conv2"):
        if name == "conv2" and seed % 2:
            layers.append(layer("fc2", draw.randint(1, 7), activation=draw.choice(activations),
                                design="fc2"))  # fmt: skip
            designs["fc2"] = {"block": draw.randint(1, 5), "blocks": draw.randint(1, 3)}
            break
        size = front[:2]
        found, front = _convolution(draw, front, activations)
        layers.append(layer(name, front[2], **found, design=name))
        full = found["kernel"] == size[0] == size[1] == 1  # a convolution that is a product
        designs[name] = {} if full else {"maps_at_once": draw.randint(1, 4)}
    for keys in designs.values():
        keys.update(
            architecture="fcnn", lanes=draw.choice([n for n in (1, lanes) if images % n == 0]),
            mul_latency=draw.randint(1, 3), add_latency=draw.randint(1, 4),
        )  # fmt: skip
    size_in = rows, columns, maps
    return network_text(f"random{seed}", size_in, *layers, designs=designs, format=form), images


def _convolution(
    draw: random.Random, front: tuple[int, int, int], activations: Sequence[str]
) -> tuple[dict[str, Any], tuple[int, int, int]]:
    """Return the keys of a layer, and rows, columns and maps of its output."""
    rows, columns, given = front
    kernel = draw.randint(1, min(5, rows, columns))
    pads = [draw.randint(0, kernel - 1) for _ in range(4)]
    stride = draw.randint(1, 3)
    groups = draw.choice([each for each in (1, 1, 2, 3) if given % each == 0])
    maps = groups * draw.randint(1, 5 if groups == 1 else 3)
    keys: dict[str, Any] = {
        "kernel": kernel, "pad": pads, "stride": stride, "groups": groups,
        "activation": draw.choice(activations),
    }  # fmt: skip
    top, left, bottom, right = pads
    sums = tuple(
        (extent - kernel) // stride + 1 for extent in (rows + top + bottom, columns + left + right)
    )
    window = draw.randint(1, min(3, *sums))
    if window > 1:
        step = draw.randint(window, window + 1)
        keys["pool"] = max_pool(window, step)
        sums = tuple((extent - window) // step + 1 for extent in sums)
    return keys, (*sums, maps)
