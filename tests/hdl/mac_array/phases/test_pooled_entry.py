"""Pooled deltas are expanded on their way, and all else goes by as it comes."""

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream, flag
from merp.hdl.mac_array.phases.pooled_entry import PooledEntryPorts, pooled_entry
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.models.machines.mac_array.orders import maps_in, pooling_out, update_deltas
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL
from merp.models.machines.mac_array.params.unpool_run import ArrayUnpoolRun
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import any_word, joined

DESIGN = small_design(pool_window=4, index_words=64)
SINKS, SOURCES = ("maps", "deltas"), ("whole_maps", "whole_deltas", "alone")
PAYLOAD = {f"{name}_valid": f"{name}_data {name}_last" for name in SOURCES}
AFTER = 6  # cycles behind the last word, in which nothing may come

layer = partial(ArrayPass, inputs=1, kernel=1)
PASSES = {
    "by its own": layer(phase="upsample", outputs=3, rows=7, columns=11, pool=2, index_base=5),
    "by its own, 4": layer(phase="upsample", outputs=2, rows=9, columns=21, pool=4),
    "dp, four bands": layer(
        phase="dp", outputs=3, rows=13, columns=5, kernel=3, pad=1, pool=2, index_base=46
    ),
    "dp, a single band": layer(phase="dp", outputs=1, rows=4, columns=18, pool=2),
    "dp, 4": layer(phase="dp", outputs=2, rows=8, columns=12, pool=4, index_base=9),
    "ku, three tiles": layer(phase="ku", outputs=9, rows=4, columns=10, pool=2, index_base=2),
    "ku, 4": layer(phase="ku", outputs=3, rows=9, columns=8, pool=4),
    "fp": layer(phase="fp", outputs=3, rows=4, columns=4, pool=2),
    "ku, whole": layer(phase="ku", outputs=3, rows=4, columns=4),
}  # fmt: skip
ORDERS = {"upsample": pooling_out, "dp": maps_in, "ku": update_deltas}

Words = list[tuple[int, int]]
"""Words of a stream, each with its last."""


def marked(words: list[int]) -> Words:
    return [(word, int(i == len(words) - 1)) for i, word in enumerate(words)]


class Pass:
    """What comes in a pass, and what must leave."""

    def __init__(self, work: ArrayPass, rng: Random, last: int = -1) -> None:
        """``last``: which pooled atom is marked as the last one."""
        self.places: dict[int, list[int]] = {}
        self.come: dict[str, Words] = {
            name: marked([rng.getrandbits(DESIGN.atom_bits) for _ in range(9)]) for name in SINKS
        }
        self.leave: dict[str, Words] = {f"whole_{name}": self.come[name] for name in SINKS}
        self.leave["alone"] = []
        self.update = int(work.phase == "ku")
        settings = UNPOOL.settings(DESIGN)
        values = {name: setting.least for name, setting in settings.items()}
        if work.expands:
            values |= UNPOOL.values(ArrayUnpoolRun(work, DESIGN))
            name = SINKS[self.update]
            way = "alone" if work.phase == "upsample" else f"whole_{name}"
            self._expand(work, rng, name, way)
            self.come[name] = [
                (data, int(i == last % len(self.come[name])))
                for i, (data, _) in enumerate(self.come[name])
            ]
        self.config = {
            name.replace("unpool_config", "config"): value for name, value in values.items()
        }

    def _expand(self, work: ArrayPass, rng: Random, name: str, way: str) -> None:
        """Each delta at the place of its maximum, 0 elsewhere."""
        g, pox = work.pool, DESIGN.pox
        blocks = DESIGN.column_blocks(work.pooled_columns)
        parts = DESIGN.column_blocks(
            work.out_columns if way == "alone" else g * work.pooled_columns
        )
        come: list[int] = []
        leave: list[int] = []

        def row_of(atom: tuple[int, int, int]) -> tuple[int, ...]:
            return atom if way == "alone" else atom[:2]

        for _, atoms in groupby(ORDERS[work.phase](work, DESIGN), row_of):
            rows: list[list[int]] = [[] for _ in range(g)]
            for each_map, row, block in atoms:
                number = (each_map * work.pooled_rows + row) * blocks + block
                places = [rng.randrange(g * g) for _ in range(pox)]
                self.places[work.index_base + number] = places
                words = [any_word(rng) for _ in range(pox)]
                come.append(joined(words))
                known = min(pox, work.pooled_columns - block * pox)
                for r in range(g):
                    wide = [0] * (g * pox)
                    for c in range(known):
                        if places[c] // g == r:
                            wide[c * g + places[c] % g] = words[c]
                    for q in range(min(g, parts - block * g)):
                        rows[r].append(joined(wide[q * pox : (q + 1) * pox]))
            leave += [atom for each in rows for atom in each]
        self.come[name], self.leave[way] = marked(come), marked(leave)
        other = {"alone": "whole_maps", "whole_maps": "", "whole_deltas": ""}[way]
        if other:
            self.leave[other] = []


class Player:
    """Writes the places of a pass, starts it, offers and takes its words, and goes to the next."""

    def __init__(self, passes: list[Pass], rate: float, seed: int) -> None:
        self._passes, self._rate, self._rng = passes, rate, Random(seed)
        self._to_write: list[tuple[int, list[int]]] = []
        self._left: dict[str, Words] = {}
        self._held = dict.fromkeys(SINKS, False)
        self._idle = AFTER
        self._at, self._started = -1, False
        self.seen: list[dict[str, Words]] = []
        self.errors: list[int] = []

    def _watch(self, seen: Sample) -> None:
        """What was transferred in the cycle before."""
        for name in SINKS:
            if seen[f"{name}_valid"] and seen[f"{name}_ready"]:
                self._left[name].pop(0)
                self._held[name] = False
        for name in SOURCES:
            if seen[f"{name}_valid"] and seen[f"{name}_ready"]:
                word = seen[f"{name}_data"], seen[f"{name}_last"]
                self.seen[-1][name].append(word)
        wanted = self._passes[self._at].leave
        over = all(len(self.seen[-1][name]) >= len(wanted[name]) for name in SOURCES)
        self._idle = self._idle + 1 if over and not any(self._left.values()) else 0
        if self._idle == AFTER:
            self.errors.append(seen["framing_error"])

    def __call__(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        """Inputs of a cycle; what is not offered is noise."""
        start = False
        if self._at >= 0 and self._started:
            self._watch(seen)
        if cycle and self._idle >= AFTER and self._at + 1 < len(self._passes):
            self._at, self._started, self._idle = self._at + 1, False, 0
            each = self._passes[self._at]
            self._to_write = list(each.places.items())
        elif cycle and self._at >= 0 and not self._started and not self._to_write:
            start = self._started = True
            self._left = {name: list(words) for name, words in self._passes[self._at].come.items()}
            self.seen.append({name: [] for name in SOURCES})
        each = self._passes[max(self._at, 0)]
        values = {"rst": int(cycle == 0), "start": int(start), "update": each.update}
        values |= each.config | {"index_enable": 0}
        if self._to_write:
            addr, places = self._to_write.pop()
            data = joined(places, DESIGN.index_bits)
            values |= {"index_enable": 1, "index_addr": addr, "index_data": data}
        for name in SINKS:
            words = self._left.get(name, [])
            # Streams may come with the start, but none of a pass is taken before.
            offers = self._started and not start and bool(words)
            self._held[name] = offers and (self._held[name] or self._rng.random() < self._rate)
            noise = self._rng.getrandbits(DESIGN.atom_bits), self._rng.getrandbits(1)
            data, last = words[0] if self._held[name] else noise
            valid = int(self._held[name])
            values |= {f"{name}_data": data, f"{name}_last": last, f"{name}_valid": valid}
        return values | {f"{name}_ready": int(self._rng.random() < self._rate) for name in SOURCES}


def bench_for() -> BlockBench:
    ports = PooledEntryPorts(
        **{name: Stream(DESIGN.atom_bits) for name in (*SINKS, *SOURCES)},
        config=ArrayUnpoolConfig(DESIGN),
        index=IndexWrite(DESIGN),
        update=flag(),
        framing_error=flag(),
    )
    return BlockBench(pooled_entry, "clk rst start", ports=ports, design=DESIGN)


def check(
    passes: list[Pass], rate: float, cycles: int, errors: list[int] | None = None
) -> Recorded:
    player = Player(passes, rate, seed=1)
    trace = bench_for().run(player, cycles)
    assert len(player.errors) == len(passes)
    for each, seen in zip(passes, player.seen, strict=True):
        assert seen == each.leave
    assert player.errors == (errors or [0] * len(passes))
    return trace


def passes(*names: str, seed: int = 0) -> list[Pass]:
    rng = Random(seed)
    return [Pass(PASSES[name], rng) for name in names]


@pytest.mark.parametrize("rate", [1.0, 0.6])
def test_deltas_leave_at_the_places_of_their_maxima_in_the_order_of_the_pass(rate: float) -> None:
    check(passes(*PASSES), rate, 2600)


def test_a_last_atom_that_is_none_is_told_of_its_pass_alone() -> None:
    rng = Random(2)
    names = ("dp, 4", "ku, 4", "fp", "by its own, 4", "fp")
    some = [Pass(PASSES[name], rng, last=-2 if name != "fp" else -1) for name in names]
    check(some, 1.0, 900, errors=[1, 1, 0, 1, 0])


def test_a_reset_leaves_nothing_behind() -> None:
    """A row that is read again offers its atoms up to the next start, where nothing takes them."""

    def session(number: int) -> Player:
        names = ("ku, 4", "dp, 4") if number else ("dp, a single band", "by its own")
        return Player(passes(*names, seed=number), 0.7, number)

    starts = 1 + len(passes("ku, 4")[0].places)
    on_entry = [f"{name}_valid" for name in SOURCES[:2]] + [f"{name}_ready" for name in SINKS]
    bench_for().as_new_after_reset(
        session, range(8, 80, 9), 110, payload=PAYLOAD, late=dict.fromkeys(on_entry, starts + 1)
    )


@pytest.mark.ghdl
def test_pooled_entry_vhdl(replays: Replays) -> None:
    replays(check(passes("dp, 4", "ku, 4", "by its own", "fp"), 0.7, 900))
