"""Fields of the state on their way to the bit packer: one by one, or all of a beat together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Sample, at_random
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.super_layer.state_joiner import state_joiner
from merp.hdl.cnn_merp.super_layer.state_serializer import state_serializer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import FieldSizes
from merp.hdl.streams.bit_string import BitString
from merp.hdl.streams.head import Head

Block = Callable[..., Any]
BLOCKS = pytest.mark.parametrize("block", [state_serializer, state_joiner])

Push = tuple[int, int, int]
"""Value, size and flush."""


@dataclass(frozen=True)
class Fields:
    """A beat: the fields that count, and whether they end the run."""

    fields: list[int]
    ends: int

    def word(self, together: int, width: int, lanes: int) -> int:
        """The beat as it waits, with zeros above what counts."""
        place = 1 if together else width
        total = sum(field << lane * place for lane, field in enumerate(self.fields))
        above = len(self.fields) | self.ends << lanes.bit_length()
        return total | above << lanes * width

    def pushes(self, block: Block, together: int, size: int) -> list[Push]:
        """What the packer gets of it."""
        place = 1 if together else size
        joined = sum(field << lane * place for lane, field in enumerate(self.fields))
        if together or block is state_joiner:
            return [(joined, len(self.fields) * place, self.ends)]
        last = len(self.fields) - 1
        return [(f, size, int(self.ends and lane == last)) for lane, f in enumerate(self.fields)]


def bench_for(block: Block, width: int, lanes: int) -> BlockBench:
    longest = lanes * width if block is state_joiner else max(lanes, width)
    return BlockBench(
        block, "clk rst", fields=FieldSizes(flag(), count(width)),
        beat=Head(lanes * width + lanes.bit_length() + 1), string=BitString(longest),
        width=width, lanes=lanes,
    )  # fmt: skip


def run(
    block: Block, width: int, lanes: int, together: int, size: int, beats: list[Fields],
    offer: float, room: float,
) -> Recorded:  # fmt: skip
    rng = np.random.default_rng(lanes)
    queue = list(beats)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if cycle == 0:
            return {"rst": 1, "fields_together": together, "fields_size": size, "beat_valid": 0}
        values = {"rst": 0, "string_room": int(rng.random() < room)}
        if seen["beat_valid"]:
            if not seen["beat_take"]:
                return values
            queue.pop(0)
        there = bool(queue) and rng.random() < offer
        word = queue[0].word(together, width, lanes) if there else seen["beat_word"]
        return values | {"beat_valid": int(there), "beat_word": word}

    return bench_for(block, width, lanes).run(drive, 3 + 6 * len(beats))


@pytest.mark.sample(6)
@BLOCKS
@pytest.mark.parametrize("together", [0, 1])
@pytest.mark.parametrize(("width", "lanes", "size"), [(5, 3, 4), (3, 2, 3), (4, 1, 1), (2, 4, 2)])
def test_fields_go_in_order_and_as_soon_as_there_is_room(
    block: Block, together: int, width: int, lanes: int, size: int
) -> None:
    rng = np.random.default_rng([width, lanes])
    beats = []
    for _ in range(60):
        counted = int(rng.integers(1, lanes + 1))
        fields = rng.integers(1 << (1 if together else size), size=counted).tolist()
        beats.append(Fields(fields, int(rng.random() < 0.4)))
    for offer, room in ((1.0, 1.0), (0.6, 1.0), (1.0, 0.5), (0.6, 0.6)):
        trace = run(block, width, lanes, together, size, beats, offer, room)
        string = ("push", "value", "size", "flush")
        names = ("beat_valid", "string_room", "beat_take", *(f"string_{name}" for name in string))
        rows = trace.columns(*names)
        waiting, held = iter(beats), list[Push]()
        taken = 0
        for cycle, (there, free, take, push, *sent) in list(enumerate(rows))[1:]:
            assert push == (bool(held) and free), cycle
            if push:
                assert tuple(sent) == held.pop(0), cycle
            assert take == (there and (not held)), cycle
            if take:
                held = next(waiting).pushes(block, together, size)
                taken += 1
        assert taken > 25


@BLOCKS
@pytest.mark.parametrize("together", [0, 1])
def test_after_a_reset_it_is_as_new(block: Block, together: int) -> None:
    """What a beat that was left behind would send is not sent."""

    def session(number: int) -> Drive:
        rates = {"beat_valid": 0.5, "string_room": 0.4}
        fixed = {"fields_together": together, "fields_size": 3}
        begin = at_random(rates, {"beat_word": 12}, fixed, pulses={"rst": 0})(number)

        def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
            values = begin(cycle, seen)
            word = values["beat_word"] | 1 << 12  # at least one of three counts
            return {**values, "beat_word": word}

        return drive

    payload = {"string_push": "string_value string_size string_flush"}
    bench_for(block, 4, 3).as_new_after_reset(session, range(3, 30, 3), 25, payload=payload)
