"""Walks that tests draw, the inputs that configure walks and bursts, and ports of movers."""

from random import Random

from merp.hdl.base.signals import flag
from merp.hdl.memory.mover_ports import MoverCommands, MoverState
from merp.hdl.memory.requests import ErrorResponse
from merp.models.memory.bursts import Burst
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import DIMENSIONS, Mover
from merp.models.memory.walk import Dimension, Walk

NAMES = ("inner", "second", "third", "outer")


def config_inputs(walk: Walk, mover: Mover, name: str = "config") -> dict[str, int]:
    """The ports of a ``WalkConfig``."""
    dimensions = (*walk.dimensions, *(Dimension(),) * DIMENSIONS)[:DIMENSIONS]
    inputs = {f"{name}_base": walk.base, f"{name}_length": walk.words - 1}
    jumps = Walk(walk.base, walk.words, dimensions).jumps
    for label, dimension, jump in zip(NAMES, dimensions, jumps, strict=True):
        inputs[f"{name}_{label}_more"] = dimension.count - 1
        inputs[f"{name}_{label}_jump"] = jump % (1 << mover.address_bits)
    return inputs


def drawn_walk(rng: Random, mover: Mover, most_words: int = 20, far: int = 200) -> Walk:
    """A walk of at most 24 runs, with strides of either sign."""
    counts = rng.choice([(), (1,), (5,), (2, 3), (3, 1, 2), (2, 3, 2, 2), (1, 1, 4, 3)])
    dimensions = tuple(Dimension(count, rng.randint(-far, far)) for count in counts)
    walk = Walk(rng.randrange(1000, 2000), rng.randint(1, most_words), dimensions)
    low, high = walk.span
    assert high - low < 1 << mover.address_bits
    return Walk(walk.base + max(0, -low), walk.words, dimensions)


def burst_inputs(burst: Burst) -> dict[str, int]:
    """The ports of a valid ``Bursts``."""
    return {
        "bursts_valid": 1, "bursts_address": burst.address, "bursts_length": burst.beats - 1,
        "bursts_first": burst.first, "bursts_final": burst.final, "bursts_last": burst.last,
    }  # fmt: skip


def mover_commands() -> MoverCommands:
    """New signals that command a mover."""
    return MoverCommands(start=flag(), stop=flag())


def mover_state(port: MemoryPort) -> MoverState:
    """New signals for the state of a mover."""
    return MoverState(finished=flag(), idle=flag(), error=ErrorResponse(port))
