"""Words of the passes of a plan, by formula and one pass after the other."""

from dataclasses import replace
from random import Random

import pytest

from merp.models.machines.cnn_merp.plan.words import (
    closed_form,
    passes,
    summed,
    with_velocities,
)
from small_works import PHASES, work_of


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_words_of_all_passes_are_those_of_the_formula(phase: str, kind: str) -> None:
    random = Random(phase + kind)
    for _ in range(60):
        work = work_of(random, phase, kind=kind)
        size = random.randint(1, work.inputs), random.randint(1, work.outputs)
        assert summed(work, *size) == closed_form(work, *size), (work, size)


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_storage_changes_no_words_and_bytes_by_the_format_alone(phase: str, kind: str) -> None:
    """Maps, deltas, kernels and velocities by their own; state and partial sums are as they were.

    State that is the activation is a map.
    """
    ports = {
        "map_in": "maps", "map_out": "maps", "delta_in": "deltas", "delta_out": "deltas",
        "add_in": "maps" if phase == "fp" else "deltas",
    }  # fmt: skip
    random = Random(phase + kind)
    for _ in range(40):
        work = work_of(random, phase, kind=kind)
        plain = replace(work, engine=replace(work.engine, storage=None))
        size = random.randint(1, work.inputs), random.randint(1, work.outputs)
        before, after = closed_form(plain, *size), closed_form(work, *size)
        if phase == "ku":
            before, after = with_velocities(plain, before), with_velocities(work, after)
        assert list(after) == list(before)
        for port, count in after.items():
            tensor = ports.get(port, "gradients" if "velocity" in port else "kernels")
            if "state" in port:
                tensor = "maps" if work.state == "32" else ""
            if "partial" in port or not tensor:
                assert count == before[port]
            else:
                assert 4 * count == work.engine.stored(tensor).bytes * before[port], port


@pytest.mark.parametrize("phase", PHASES)
def test_passes_are_output_parts_outside_and_input_parts_inside(phase: str) -> None:
    work = work_of(Random(phase), phase)
    found = list(passes(work, 2, 3))
    assert found == sorted(found, key=lambda one: (one.out_start, one.in_start))
    covered = {
        (i, o)
        for one in found
        for i in range(one.in_start, one.in_end)
        for o in range(one.out_start, one.out_end)
    }
    assert len(covered) == work.inputs * work.outputs
    assert sum((p.in_end - p.in_start) * (p.out_end - p.out_start) for p in found) == len(covered)


def test_a_folded_part_has_each_element_once() -> None:
    random = Random(1)
    for _ in range(50):
        work = work_of(random, random.choice(PHASES), kind="fc")
        taps, maps = work.engine.taps, work.inputs
        size = random.randint(1, maps)
        for start in range(0, maps, size):
            end = min(maps, start + size)
            there = [e for e in range(work.elements_in) if start <= e // taps < end]
            assert work.elements(start, end) == len(there)
