"""Lists for a command processor: one with every operation, and random ones."""

from random import Random

from merp.models.memory import commands as make
from merp.models.memory.commands import Command
from merp.models.memory.params.commands import ENGINE, ProcessorDesign
from merp.models.memory.walk import Dimension, Walk

WALKS = [Walk(7, 9, (Dimension(3, 20), Dimension(2, -5))), Walk(1 << 20, 1)]
LIST = [
    *make.write(8, [5, 6, 7]),
    make.walk(1, WALKS[0]),
    make.walk(4, WALKS[1]),
    make.start([1, 4]),
    *make.write(ENGINE + 9, [1]),
    make.wait([1, 4], [0, 1], 1000),
    *make.record(8, 4),
    make.expect(ENGINE + 9, 1),
    make.INTERRUPT,
    make.END,
]


def drawn(rng: Random, design: ProcessorDesign) -> list[Command]:
    """A list with few failures."""

    def command() -> list[Command]:
        kind = rng.randrange(8)
        register = rng.choice([8, 20, 50, ENGINE + 8, ENGINE + 30])
        streams = [each for each in range(design.streams) if rng.random() < 0.4]
        if kind == 0:
            return make.write(register, [rng.getrandbits(32) for _ in range(rng.randint(1, 9))])
        if kind == 1:
            return [make.walk(rng.randrange(design.streams), rng.choice(WALKS))]
        if kind == 2:
            return [make.start(streams)]
        if kind == 3:
            return [make.wait(streams, [rng.randrange(design.engines)], 500)]
        if kind == 4:
            return make.record(register, rng.randint(1, 9))
        if kind == 5:
            return [make.expect(register, rng.choice([3 * register, 3 * register, 1]))]
        if kind == 6:
            return [Command(rng.randrange(256), (), rng.getrandbits(16))] * (rng.random() < 0.1)
        return [make.INTERRUPT]

    return [each for _ in range(rng.randint(3, 15)) for each in command()] + [make.END]
