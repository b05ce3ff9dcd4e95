"""Un-pooling: every place of a window, parts of a row, columns behind the map, sinks that wait."""

from collections.abc import Mapping
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import count
from merp.hdl.mac_array.output.upsampler import upsampler
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ExpandedAtom, PooledAtom
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import any_word, joined


def expanded(words: list[int], places: list[int], columns: int, g: int) -> list[list[int]]:
    """Rows of g * pox columns: each delta at its maximum's place, zeros around it."""
    size = len(words)
    rows = [[0] * (g * size) for _ in range(g)]
    for c in range(columns):
        rows[places[c] // g][c * g + places[c] % g] = words[c]
    return rows


def check(d: ArrayDesign, rate: float, seed: int, atoms: int = 30) -> Recorded:
    """For each window: write indices, then expand atoms in an order of their own."""
    rng = Random(seed)
    bench = BlockBench(
        upsampler, "clk clear", pool=count(d.pool_window.bit_length() - 1),
        most=count(d.pool_window - 1), index=IndexWrite(d), sink=PooledAtom(d),
        source=ExpandedAtom(d), design=d,
    )  # fmt: skip
    steps: list[dict[str, int]] = []
    wanted: list[tuple[int, int, int, int, int]] = []
    offers: list[dict[str, int]] = []
    for log in range(1, d.pool_window.bit_length()):
        g = 1 << log
        indices = [[rng.randrange(g * g) for _ in range(d.pox)] for _ in range(atoms)]
        steps += [
            {"clear": int(a == 0), "pool": log, "most": g - 1, "index_enable": 1, "index_addr": a,
             "index_data": joined(places, d.index_bits)}
            for a, places in enumerate(indices)
        ]  # fmt: skip
        for a in rng.sample(range(atoms), atoms):
            words = [any_word(rng) for _ in range(d.pox)]
            columns = rng.choice((0, 1, d.pox, rng.randint(0, d.pox)))
            parts = rng.choice((1, g, rng.randint(1, g)))
            top, final = rng.randrange(g), rng.randrange(2)
            bottom = rng.randrange(top, g)
            if rng.random() < 0.5:
                top, bottom = 0, g - 1
            offers.append({"sink_data": joined(words), "sink_addr": a, "sink_columns": columns,
                           "sink_parts": parts, "sink_top": top, "sink_bottom": bottom,
                           "sink_final": final})  # fmt: skip
            rows = expanded(words, indices[a], columns, g)
            for r in range(top, bottom + 1):
                for q in range(parts):
                    last = int(r == bottom and q == parts - 1)
                    data = joined(rows[r][q * d.pox : (q + 1) * d.pox])
                    wanted.append((data, r, q, last, final))
        steps += [{}] * (int(atoms * g * g / rate**2) + 30)
    left: list[tuple[int, ...]] = []
    held: dict[str, int] = {}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal held
        if seen and seen["source_valid"] and seen["source_ready"]:
            names = ("data", "row", "part", "last", "final")
            left.append(tuple(seen[f"source_{name}"] for name in names))
        if seen and seen["sink_valid"] and seen["sink_ready"]:
            held = {}
        writing = bool(steps[cycle])
        values = {"clear": 0, "index_enable": 0, **steps[cycle]}
        first = sum(1 for each in steps[:cycle] if each.get("clear")) * atoms
        if not writing and not held and offers and rng.random() < rate:
            if len(wanted_offers) - len(offers) < first:
                held = offers.pop(0)
        noise = {"sink_data": rng.getrandbits(d.atom_bits), "sink_addr": rng.randrange(atoms)}
        return {
            **noise, **values, **held, "sink_valid": int(bool(held)),
            "source_ready": int(rng.random() < rate),
        }  # fmt: skip

    wanted_offers = list(offers)
    trace = bench.run(drive, len(steps))
    assert left == wanted
    return trace


@pytest.mark.parametrize("rate", [1.0, 0.6])
def test_deltas_go_where_maxima_were(rate: float) -> None:
    check(small_design(pool_window=4, index_words=32), rate, 1)


def test_wider_atoms_and_one_window() -> None:
    check(small_design(8, 8, pool_window=2, index_words=32), 0.9, 2)


def test_an_atom_leaves_each_cycle() -> None:
    trace = check(small_design(pool_window=2, index_words=32), 1.0, 3)
    valid = trace.column("source_valid")
    taken = trace.column("sink_valid").index(1)
    assert valid.index(1) == taken + 2
    busy = valid[taken + 2 :]
    assert all(busy[: sum(busy)])


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    replays(check(small_design(pool_window=4, index_words=32), 0.7, 4, atoms=12))
