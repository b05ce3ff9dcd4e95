"""Small networks as pipelines, and batches to train them on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from trained import Trained, network_of, train_on

from merp.cosim.machines.cnn_merp.pipeline.step import PipelineStep
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.network.network import Network
from network_text import average_pool, layer, max_pool, network_text

SMALL = network_text(
    "small",
    (8, 4, 1),
    layer("conv1", 4, kernel=3, pad=1, pool=max_pool(2, 2), design="k3"),
    layer("fc2", 2, relu=False, design="full"),
    designs={"k3": {"k": 3, "n_cu": 2, "r": 1}, "full": {"k": 1, "n_cu": 1, "r": 1}},
)


def train(
    network: Network,
    images: int,
    depth: int,
    engine: str = "myhdl",
    *,
    steps: int = 1,
    momentum: float = 0.0,
    decay: float = 0.0,
    stalls: Mapping[str, Sequence[int]] | None = None,
    design: PipelineDesign | None = None,
) -> Trained:
    """Train on random images, each step from what the hardware made of the one before."""
    pipeline = PipelineStep(
        network, images, depth, engine, stalls=stalls, limit=3000, design=design
    )  # fmt: skip
    return train_on(pipeline, network, images, steps=steps, momentum=momentum, decay=decay)


def with_store(network: Network, place: int, **words: int) -> PipelineDesign:
    """The pipeline of a network, but for stores of a layer, counted from 0."""
    design = pipeline_design(network, 4)
    slices = list(design.slices)
    slices[place] = replace(slices[place], **words)
    return replace(design, slices=tuple(slices))


WAITING = network_text(
    "waiting",
    (3, 7, 1),
    layer("conv1", 2, kernel=2, stride=2, pad=1, pool=average_pool(2, 2), design="k2"),
    layer("fc2", 2, relu=False, design="full"),
    designs={"k2": {"k": 2, "n_cu": 3, "r": 1}, "full": {"k": 1, "n_cu": 2, "r": 1}},
)


TURNS = network_text(
    "turns",
    (3, 3, 1),
    layer("conv1", 2, kernel=1, relu=False, design="k1"),
    layer("conv2", 5, kernel=1, pool=max_pool(2, 2), design="k1"),
    layer("fc3", 2, relu=False, design="full"),
    designs={
        "k1": {"k": 1, "n_cu": 1, "r": 1},
        "full": {"k": 1, "n_cu": 4, "r": 1, "p": 2, "d": 2},
    },
)
"""Of the second layer the state of an image is no whole number of bytes, and positions of deltas
take turns."""


def waiting(folder: Path) -> Network:
    """Two layers, of the last of which the images take turns in pairs on the way back."""
    return network_of(folder, WAITING)


def small(folder: Path, units: int = 2) -> Network:
    """Two layers that train in a second, the first on so many units."""
    return network_of(folder, SMALL.replace("n_cu = 2", f"n_cu = {units}"))


def random_network(folder: Path, rng: Random) -> Network:
    """One to three layers of odd sizes, kinds of units, of pooling, and of the update."""
    rows, columns = rng.randint(3, 7), rng.randint(3, 7)
    size = f"rows = {rows}, columns = {columns}, channels = {rng.randint(1, 3)}"
    text = f'[network]\nname = "odd"\ninput = {{ {size} }}\n'
    designs = ""
    count = rng.randint(0, 2)
    for place in range(1, count + 1):
        kernel = rng.randint(1, min(3, rows, columns))
        layer: dict[str, Any] = {
            "name": f'"conv{place}"', "maps": rng.randint(1, 5), "kernel": kernel,
            "stride": rng.choice([1, 1, 2]), "pad": rng.randint(0, kernel // 2),
            "activation": rng.choice(['"relu"', '"relu6"', '"leaky-relu"', '"none"']),
            "design": f'"d{place}"',
        }  # fmt: skip
        rows, columns = (
            (each + 2 * layer["pad"] - kernel) // layer["stride"] + 1 for each in (rows, columns)
        )
        if min(rows, columns) >= 2 and rng.random() < 0.6:
            kind, stride = rng.choice(["max", "average"]), rng.choice([1, 2])
            layer["pool"] = f'{{ kind = "{kind}", window = 2, stride = {stride} }}'
            rows, columns = (rows - 2) // stride + 1, (columns - 2) // stride + 1
        text += "[[layer]]\n" + "".join(f"{key} = {value}\n" for key, value in layer.items())
        designs += f"[design.d{place}]\nk = {kernel}\n{_units(rng)}"
    last = f'name = "fc{count + 1}"\nmaps = {rng.randint(2, 4)}\nrelu = false\ndesign = "full"\n'
    return network_of(
        folder, f"{text}[[layer]]\n{last}{designs}[design.full]\nk = 1\n{_units(rng)}"
    )


def _units(rng: Random) -> str:
    kind = rng.choice(["", "", 'cu_kind = "fused"\nku_kind = "row"\n', "p = 2\nd = 2\n"])
    return f"n_cu = {rng.randint(1, 4)}\nr = 1\n{kind}"
