"""Works of a plan on small layers, drawn at random, and boards that have room for them."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from merp.models.base.formats import FORMATS
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.base.storage import TENSORS, Storage
from merp.models.fpga.board import Board
from merp.models.fpga.parts import PARTS
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.plan.cost import cost_of
from merp.models.machines.cnn_merp.plan.engines import rings
from merp.models.machines.cnn_merp.plan.words import pass_bytes, passes
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.network import Layer

PHASES = ("fp", "dp", "ku")


def board_of(block_rams: int = 445, gbytes_s: float = 12.8) -> Board:
    """A board whose part has so much block RAM."""
    part = replace(PARTS["xc7k325t"], block_rams=block_rams)
    return Board(name="b", part=part, clock_mhz=100.0, gbytes_s=gbytes_s, efficiency=0.8)


def layer_of(random: Random, *, k: int = 3, kind: str = "conv") -> Layer:
    """A small layer."""
    n, m = random.randint(1, 12), random.randint(1, 14)
    if kind == "fc":
        shape = Shape(n=random.randint(1, 60), m=m, k=1, rows=1, columns=1)
        return Layer(name="fc1", kind="fc", shape=shape, design="d")
    size = random.randint(4, 9)
    pool = random.choice((None, Pool(kind="max", window=2, stride=2)))
    if random.random() < 0.3:
        pool = Pool(kind="max", window=3, stride=2)
    stride = random.choice((1, 1, 2))
    k = random.choice((k, k, 2, 1))
    top, left, bottom, right = (random.randrange(k) for _ in range(4))
    rows = size + 2 * stride
    shape = Shape(
        n=n, m=m, k=k, rows=rows, columns=rows, stride=stride,
        pad=(top, left, bottom, right), relu=random.random() < 0.8,
        pool=pool,
    )  # fmt: skip
    return Layer(name="conv2", kind="conv", groups=random.choice((1, 2)), shape=shape, design="d")


def in_front(random: Random, layer: Layer) -> Layer:
    """A layer whose pooled maps are the input of ``layer``."""
    shape, pool = layer.shape, random.choice((None, Pool(kind="max", window=2, stride=2)))
    size = shape.rows * 2 if pool else shape.rows
    maps = layer.groups * shape.n
    before = Shape(n=1, m=maps, k=1, rows=size, columns=size, pool=pool)
    return Layer(name="conv1", kind="conv", shape=before, design="d")


def starting(random: Random, layer: Layer, phase: str, state: str) -> dict[str, Any]:
    """What the sums of ``layer`` start at: biases, maps or deltas, or a delta that is expanded."""
    if phase == "ku" or random.random() < 0.5:
        return {}
    beside = None
    if phase == "dp" and state == "pooled" and random.random() < 0.7:
        shape = layer.shape
        pool = Pool(kind="max", window=2, stride=1) if shape.rows > 1 else None
        added = Shape(
            n=1, m=layer.groups * shape.n, k=1, rows=shape.rows, columns=shape.columns, pool=pool
        )
        beside = Layer(name="conv3", kind=layer.kind, shape=added, design="d", add="conv1")
    return {"begun": True, "beside": beside}


def design_of(random: Random, units: int | None = None) -> EngineDesign:
    """A design of units of 3 x 3."""
    fused = random.random() < 0.5
    kinds = {"cu_kind": "fused", "ku_kind": "row"} if fused else {}
    count = units or random.randint(1, 6)
    formats = {tensor: random.choice(list(FORMATS.values())) for tensor in TENSORS}
    storage = random.choice((None, Storage(**formats)))
    smallest = [Shape(n=1, m=1, k=3, rows=3, columns=3)]
    rings = random.choice((1, 2))
    return size_design(smallest, n_cu=count, r=1, d=rings, storage=storage, **kinds)


def work_of(
    random: Random, phase: str, *, kind: str = "conv", units: int | None = None
) -> PhaseWork:
    """A phase of a small layer, on an engine of its own."""
    layer = layer_of(random, kind=kind)
    state = random.choice(STATES)
    draft = PhaseWork(
        layer=layer, phase=phase, earlier=in_front(random, layer), images=random.randint(1, 5),
        state=state, engine=design_of(random, units), folded=kind == "fc",
        stored=layer, **starting(random, layer, phase, state),
    )  # fmt: skip
    return replace(draft, engine=rings(draft.engine, phase, [draft]))


def walked(work: PhaseWork, board: Board, tile: tuple[int, int]) -> tuple[float, float]:
    """Bytes and seconds of all passes, one after the other."""
    moved, seconds = 0, 0.0
    for one in passes(work, *tile):
        moved += sum(pass_bytes(work, one).values())
        first, last = np.array([one.in_start == 0]), np.array([one.in_end == work.inputs])
        maps = np.array([one.in_end - one.in_start]), np.array([one.out_end - one.out_start])
        cost = cost_of(work, board, *maps, first, last)
        seconds += float(cost.seconds[0])
    return work.layer.groups * moved, work.layer.groups * seconds
