"""Hostile input by the thousand, and the cases that once found something.

``make fuzz`` runs fifty times as many.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import sandbox
from kinds import KINDS, case, cases

SEEDS = json.loads(Path(__file__).with_name("seeds.json").read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_one_line_and_the_right_status(kind: str) -> None:
    chosen = [number for name, number in cases(SEEDS["cases"], SEEDS["seed"]) if name == kind]
    with sandbox():
        found = {number: case(kind, number) for number in [*SEEDS["found"].get(kind, ()), *chosen]}
    assert {number: faults for number, faults in found.items() if faults} == {}
