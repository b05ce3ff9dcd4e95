"""The bus against its page, transfer by transfer: what is accessed, what is answered, and when."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.axi.axi_lite import OKAY, SLVERR, AxiLite, RegisterRead, RegisterWrite, axi_lite

WORDS, FIRST, LAST = 40, 4, 20
FIELDS = {"aw": ("awaddr",), "w": ("wdata", "wstrb"), "ar": ("araddr",)}
EDGES = (0, 1, FIRST - 1, FIRST, FIRST + 1, LAST - 1, LAST, LAST + 1, WORDS - 1, WORDS, WORDS + 1)


def traffic(cycles: int, offer: float, take: float) -> dict[str, list[int]]:
    """Random transfers on all channels, each offer held until it is taken."""
    rng = Random(f"{offer} {take}")
    held: dict[str, int] = {}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        for channel, fields in FIELDS.items():
            valid = f"s_axi_{channel}valid"
            if cycle < 1 or not held.get(valid) or seen[f"s_axi_{channel}ready"]:
                held[valid] = int(rng.random() < offer)
                for field in fields:
                    address = 4 * rng.choice(EDGES) + rng.randrange(4)
                    value = {"wdata": rng.getrandbits(32), "wstrb": rng.getrandbits(4)}
                    held[f"s_axi_{field}"] = value.get(field, address)
        ready = {f"s_axi_{channel}ready": int(rng.random() < take) for channel in "br"}
        return {**held, **ready, "rst": int(cycle < 2), "read_word": rng.getrandbits(32)}

    bench = BlockBench(
        axi_lite, "clk rst", s_axi=AxiLite(), write=RegisterWrite(), read=RegisterRead(),
        words=WORDS, first_writable=FIRST, last_writable=LAST,
    )  # fmt: skip
    trace = bench.run(drive, cycles)
    return {port.name.removeprefix("s_axi_"): trace.column(port.name) for port in trace.ports}


class Channel:
    """An address, or data, that is held until its access: of every cycle, what it holds."""

    def __init__(self, seen: dict[str, list[int]], name: str) -> None:
        self.seen, self.name = seen, name
        self.held: tuple[int, ...] | None = None

    def ready(self, cycle: int) -> bool:
        return self.held is None and not self.seen["rst"][cycle]

    def taken(self, cycle: int) -> tuple[int, ...] | None:
        """What is held from the next cycle on."""
        if self.ready(cycle) and self.seen[f"{self.name}valid"][cycle]:
            return tuple(self.seen[field][cycle] for field in FIELDS[self.name])
        return self.held


@pytest.mark.parametrize(("offer", "take"), [(0.6, 0.6), (1.0, 0.4), (0.3, 1.0), (1.0, 1.0)])
def test_every_access_is_made_once_and_answered(offer: float, take: float) -> None:
    seen = traffic(700, offer, take)
    address, data, read = (Channel(seen, name) for name in FIELDS)
    answers: dict[str, tuple[int, ...] | None] = {"b": None, "r": None}
    writes = reads = 0
    for cycle in range(2, 700):
        for channel in (address, data, read):
            assert seen[f"{channel.name}ready"][cycle] == channel.ready(cycle), cycle
        for name, fields in (("b", ("bresp",)), ("r", ("rdata", "rresp"))):
            answer = answers[name]
            assert seen[f"{name}valid"][cycle] == (answer is not None), cycle
            if answer is not None:
                assert tuple(seen[field][cycle] for field in fields) == answer, cycle
        after = address.taken(cycle), data.taken(cycle), read.taken(cycle)
        # An access is made as soon as the answer before it is gone.
        new = dict(answers)
        for name in answers:
            if seen[f"{name}ready"][cycle]:
                new[name] = None
        may = address.held is not None and data.held is not None and answers["b"] is None
        index = address.held[0] // 4 if address.held else 0
        assert seen["write_enable"][cycle] == (may and FIRST <= index <= LAST), cycle
        if may and data.held is not None:
            writes += 1
            new["b"] = (OKAY if FIRST <= index <= LAST else SLVERR,)
            after = (None, None, after[2])
            if seen["write_enable"][cycle]:
                access = (seen["write_data"][cycle], seen["write_strobe"][cycle])
                assert access == data.held, cycle
                assert seen["write_index"][cycle] == index, cycle
        if read.held is not None and answers["r"] is None:
            reads += 1
            index = read.held[0] // 4
            assert seen["read_index"][cycle] == index, cycle
            word = seen["read_word"][cycle]
            new["r"] = (word, OKAY) if index < WORDS else (0, SLVERR)
            after = (*after[:2], None)
        address.held, data.held, read.held = after
        answers = new
    assert min(writes, reads) > 80
