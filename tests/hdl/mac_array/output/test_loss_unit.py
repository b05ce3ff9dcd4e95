"""Deltas of the loss: both losses against their definition, shifts, clipping, streams that wait."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.mac_array.output.loss_unit import loss_unit
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import any_word, clipped, nearest, number

DESIGN = small_design(loss=True, max_maps=20)
REGISTERS = ("loss", "hinge", "one_shift", "loss_shift")
Layer = dict[str, Any]


def golden(layer: Layer, y: int, hit: bool) -> int:
    """The delta, not clipped."""
    one = 1 << layer["one_shift"]
    if layer["hinge"]:
        t = 1 if hit else -1
        return nearest(-2 * t * max(0, one - t * y), layer["n"])
    return nearest(y - one * hit, layer["n"])


def layers(rng: Random) -> list[Layer]:
    """One class and many; shifts at both ends; a layer without a loss between them."""
    found = []
    for classes, n, one in ((1, 0, 0), (20, -15, 15), (10, 15, 15), (19, 0, 10), (7, 3, 12)):
        one_at = 1 << one
        for hinge in (0, 1):
            found.append({
                "loss": 1, "hinge": hinge, "one_shift": one, "n": n,
                "target": rng.randrange(classes),
                "outputs": [
                    clipped(rng.choice((one_at, -one_at)) + rng.randint(-1, 1))
                    if rng.random() < 0.5
                    else number(any_word(rng))
                    for _ in range(classes)
                ],
            })  # fmt: skip
        found.append(found[-1] | {"loss": 0})
    return found


def check(rate: float, seed: int) -> Recorded:
    rng = Random(seed)
    work = layers(rng)
    bench = BlockBench(
        loss_unit, "clk rst start", config=ArrayOutputConfig(DESIGN), target=Stream(5),
        sink=Stream(DESIGN.atom_bits), source=Stream(DESIGN.atom_bits), saturated=bits(16),
        design=DESIGN,
    )  # fmt: skip
    atoms = [
        [(word & 0xFFFF) | rng.getrandbits(48) << 16 for word in layer["outputs"]] for layer in work
    ]
    left: list[tuple[int, int]] = []
    wanted: list[tuple[int, int]] = []
    counts: list[int] = []
    for layer, of in zip(work, atoms, strict=True):
        exact = [golden(layer, y, f == layer["target"]) for f, y in enumerate(layer["outputs"])]
        wanted += [(atom, int(not layer["loss"] and f + 1 == len(of))) for f, atom in enumerate(of)]
        if layer["loss"]:
            wanted += [(clipped(d) & 0xFFFF, int(f + 1 == len(of))) for f, d in enumerate(exact)]
        counts.append(layer["loss"] * sum(d != clipped(d) for d in exact))
    state = {"layer": -1, "sent": 0, "pause": 2, "offered": 0, "targets": 0}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        values = {"rst": int(cycle == 0), "start": 0, "target_last": 0, "target_valid": 0,
                  "sink_valid": 0, "source_ready": int(rng.random() < rate)}  # fmt: skip
        if seen:
            if seen["source_valid"] and seen["source_ready"]:
                left.append((seen["source_data"], seen["source_last"]))
                if seen["source_last"]:
                    assert seen["target_ready"] == work[state["layer"]]["loss"]
                    assert not seen["target_valid"] or work[state["layer"]]["loss"]
                    state["pause"] = 8
            if seen["sink_valid"]:
                state["offered"] = int(not seen["sink_ready"])
                state["sent"] += seen["sink_ready"]
        if state["pause"]:
            state["pause"] -= 1
            if not state["pause"] and state["layer"] + 1 < len(work):
                state.update(layer=state["layer"] + 1, sent=0, targets=0)
                return values | {"start": 1} | {
                    "config_loss": work[state["layer"]]["loss"],
                    "config_hinge": work[state["layer"]]["hinge"],
                    "config_one_shift": work[state["layer"]]["one_shift"],
                    "config_loss_shift": work[state["layer"]]["n"] + 15,
                }  # fmt: skip
            return values
        layer, of = work[state["layer"]], atoms[state["layer"]]
        state["targets"] |= rng.random() < 0.3
        there = layer["loss"] & int(state["targets"])
        noise = rng.randrange(len(of))
        values |= {"target_valid": there, "target_data": layer["target"] if there else noise}
        if state["sent"] < len(of) and (state["offered"] or rng.random() < rate):
            values |= {"sink_valid": 1, "sink_data": of[state["sent"]],
                       "sink_last": int(state["sent"] + 1 == len(of))}  # fmt: skip
        return values

    cycles = int(sum(2 * len(of) / rate**2 + 40 for of in atoms))
    trace = bench.run(drive, cycles)
    assert left == wanted
    starts = [t for t, start in enumerate(trace.column("start")) if start][1:]
    found = [trace.column("saturated")[t] for t in starts] + [trace.column("saturated")[-1]]
    assert found == counts
    return trace


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_deltas_follow_the_outputs(rate: float) -> None:
    check(rate, 1)


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    replays(check(0.8, 2))
